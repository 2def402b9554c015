"""From a folded run and the rulings on it to a result: status and numbers. Whole seconds from here on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from shared.core.events import Event, EventType
from shared.core.model import Level, Mark, Problem, State, Status
from shared.core.rules import CountKind, EscapeRules
from shared.core.run import Run
from shared.core.state import Frame, HandOver, RunState, counted_ms


@dataclass(frozen=True, slots=True)
class Result:
    """One run judged."""

    run: str
    category: str
    entrant: str | None
    table: int
    status: Status
    official_s: int | None = None
    raw_s: int | None = None
    assist_s: int = 0
    penalty_s: int = 0
    stage_s: int | None = None
    pieces: int | None = None
    marks: tuple[Mark, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Draft:
    """A result while rulings are laid over it, before its official time is worked out."""

    result: Result
    frame: Frame
    finish_s: int | None = None
    """Time of the finish in effect, the escape stage at its official time."""
    set_s: int | None = None
    marks: tuple[Mark, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    def mark(self, mark: Mark) -> _Draft:
        return self if mark in self.marks else replace(self, marks=(*self.marks, mark))

    def unmark(self, mark: Mark) -> _Draft:
        return replace(self, marks=tuple(m for m in self.marks if m is not mark))

    def with_result(self, **changes: object) -> _Draft:
        return replace(self, result=replace(self.result, **changes))  # type: ignore[arg-type]

    def report(self, code: str, ruling: Event, **detail: object) -> _Draft:
        problem = Problem(code, Level.WARNING, ruling.log, ruling.seq, self.result.run, detail)
        return replace(self, problems=(*self.problems, problem))


def judge(run: Run, rulings: Iterable[Event], t_ms: int) -> Result | None:
    """The result of a run as it stands `t_ms` after its start; None for a run whose start was undone."""
    if not run.started:
        return None
    draft = _drafted(run, run.at(t_ms))
    for ruling in rulings:
        lay = _RULINGS.get(ruling.type)
        if lay is not None:
            draft = lay(draft, ruling)
    return _settled(draft)


def _drafted(run: Run, now: RunState) -> _Draft:
    result = Result(run.id, run.category, run.entrant, run.table, Status.RUNNING, assist_s=_assist_s(now))
    draft = _Draft(result, run.frame, problems=tuple(run.problems))
    if run.inexact:
        draft = draft.mark(Mark.INTERRUPTED)
    if run.practice:
        draft = draft.mark(Mark.PRACTICE)
    if now.finish_ms is not None:
        raw_s = counted_ms(now, run.frame, now.finish_ms) // 1000
        stage_s = _escape_official_s(now.handed_over, run.frame.rules.escape)
        draft = draft.with_result(status=Status.FINISHED, raw_s=raw_s, stage_s=stage_s)
        escape_s = now.handed_over.counted_ms // 1000 if now.handed_over is not None else 0
        draft = replace(draft, finish_s=(stage_s or 0) + raw_s - escape_s)
        return draft.mark(Mark.UNACCEPTED) if now.state is State.CLAIMED else draft
    if now.state in (State.TIME_UP, State.SEALED):
        draft = draft.with_result(status=Status.UNFINISHED, pieces=now.pieces)
        return draft.mark(Mark.AWAITING_COUNT) if now.pieces is None else draft
    return draft


def _assist_s(now: RunState) -> int:
    return sum(length_ms // 1000 for length_ms in now.assist_lengths_ms)


def _escape_official_s(over: HandOver | None, rules: EscapeRules | None) -> int | None:
    """The escape stage's official time: bought tickets added, redeemed ones taken off, floor 0."""
    if over is None or rules is None:
        return None
    escape = over.escape
    most = rules.redeem_solved if over.solved else rules.redeem_stuck[escape.solved_steps]
    redeemed = min(escape.tickets, most)
    bought_s = escape.bought * rules.bought_ticket_s
    return max(0, over.counted_ms // 1000 + bought_s - redeemed * rules.redeemed_ticket_s)


def _settled(draft: _Draft) -> Result:
    result, rules = draft.result, draft.frame.rules
    added = result.penalty_s
    if rules.assists is not None and rules.assists.added:
        added += result.assist_s
    official: int | None = None
    if draft.set_s is not None:
        official = draft.set_s
    elif draft.finish_s is not None:
        official = draft.finish_s + added
    elif result.pieces is not None and rules.count.kind is CountKind.LOOSE:
        official = rules.limit_ms // 1000 + rules.count.seconds_per_piece * result.pieces + added
    return replace(
        result,
        official_s=None if official is None else max(0, official),
        marks=draft.marks,
        problems=draft.problems,
    )


# Rulings, in the order given ----------------------------------------------------------------------


def _penalty(draft: _Draft, ruling: Event) -> _Draft:
    """Added to the official time, whatever the status; moves nothing where pieces rank."""
    pieces_rank = (
        draft.result.status is Status.UNFINISHED and draft.frame.rules.count.kind is CountKind.JOINED
    )
    if pieces_rank:
        draft = draft.report("penalty_moves_nothing", ruling)
    return draft.with_result(penalty_s=draft.result.penalty_s + ruling.data["seconds"])


def _pieces(draft: _Draft, ruling: Event) -> _Draft:
    """The count corrected, or an uncounted run counted on the judge's phone."""
    pieces, most = ruling.data["pieces"], draft.frame.puzzle_pieces
    if draft.result.status is not Status.UNFINISHED:
        return draft.report("pieces_not_due", ruling)
    if pieces > most:
        return draft.report("too_many_pieces", ruling, pieces=pieces, most=most)
    if draft.result.pieces is not None:
        draft = draft.mark(Mark.CORRECTED)
    return draft.with_result(pieces=pieces).unmark(Mark.AWAITING_COUNT)


def _time_set(draft: _Draft, ruling: Event) -> _Draft:
    """The official time as it is: nothing is added, earlier or later."""
    draft = draft.with_result(status=Status.FINISHED, pieces=None)
    draft = draft.unmark(Mark.AWAITING_COUNT).unmark(Mark.UNACCEPTED).mark(Mark.MANUAL)
    return replace(draft, set_s=ruling.data["seconds"])


def _reopened(draft: _Draft, ruling: Event) -> _Draft:
    """Takes back the accept or the count; settled at the hub only."""
    result = draft.result
    if draft.set_s is None and result.status is Status.FINISHED and Mark.UNACCEPTED not in draft.marks:
        return draft.mark(Mark.UNACCEPTED)
    if result.status is Status.UNFINISHED and result.pieces is not None:
        return draft.with_result(pieces=None).unmark(Mark.CORRECTED).mark(Mark.AWAITING_COUNT)
    return draft.report("nothing_to_reopen", ruling)


def _reassigned(draft: _Draft, ruling: Event) -> _Draft:
    """The run was somebody else's, or at another table."""
    changes = {k: ruling.data[k] for k in ("entrant", "table") if ruling.data.get(k) is not None}
    return draft.with_result(**changes)


_RULINGS: Final[Mapping[str, Callable[[_Draft, Event], _Draft]]] = {
    EventType.PENALTY_GIVEN: _penalty,
    EventType.PIECES_CORRECTED: _pieces,
    EventType.TIME_SET: _time_set,
    EventType.RUN_REOPENED: _reopened,
    EventType.RUN_REASSIGNED: _reassigned,
}

STATUS_RULINGS: Final[Mapping[str, Status]] = {
    EventType.DISQUALIFIED: Status.DSQ,
    EventType.DID_NOT_FINISH: Status.DNF,
    EventType.RUN_VOIDED: Status.VOID,
    EventType.DID_NOT_START: Status.DNS,
}


def status_ruled(result: Result, rulings: Iterable[Event]) -> Result:
    """The result under the last status ruling in force; its numbers stay visible."""
    ruled = [STATUS_RULINGS[r.type] for r in rulings if r.type in STATUS_RULINGS]
    return replace(result, status=ruled[-1]) if ruled else result
