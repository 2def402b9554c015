"""From a folded run and the rulings on it to a result: status and numbers. Whole seconds from here on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shared.core import machine
from shared.core.events import Event
from shared.core.model import Level, Mark, Problem, State, Status
from shared.core.overlay import Draft, lay_over
from shared.core.readings import escape_official_s
from shared.core.result import Result
from shared.core.rules import CategoryRules, CountKind
from shared.core.run import Run
from shared.core.state import RunState, counted_ms

__all__ = ["Result", "judge"]


def judge(run: Run, rulings: Iterable[Event], t_ms: int) -> Result | None:
    """The result of a run as it stands `t_ms` after its start; None for a run whose start was undone.

    `rulings` are those in force on the run, in order; its status rulings are laid over it elsewhere, where
    the rulings on its entrant are known too.
    """
    if not run.started:
        return None
    rulings = list(rulings)
    result = _judged(run, run.state, rulings, t_ms)
    if not run.inexact or Mark.MANUAL in result.marks:
        return result
    if result.status is Status.RUNNING:
        return _interrupted(result)
    ways = run.possible()
    judged = [_judged(run, state, rulings, t_ms) for state in ways.states]
    if ways.complete and len({_worth(possible) for possible in judged}) == 1:
        return judged[0]
    return _bounded(run, result, [possible.official_s for possible in judged] if ways.complete else [0, None])


def _judged(run: Run, state: RunState, rulings: Sequence[Event], t_ms: int) -> Result:
    draft = _drafted(run, machine.at(state, run.frame, max(t_ms, state.act_ms)))
    for ruling in rulings:
        lay_over(draft, ruling)
    return _settled(run, draft)


def _drafted(run: Run, now: RunState) -> Draft:
    draft = Draft(run.frame, run.id, run.entrant, run.table, problems=list(run.problems))
    draft.missing_s = _missing_s(run, now)
    draft.assist_s = sum(length_ms // 1000 for length_ms in now.assist_lengths_ms)
    draft.mark(Mark.INTERRUPTED, when=run.goes_back or run.split)
    draft.mark(Mark.SUPERSEDED, when=run.superseded)
    draft.mark(Mark.PRACTICE, when=run.practice)
    if now.finish_ms is not None and not run.frame.is_last(now.puzzle):
        draft.mark(Mark.UNACCEPTED)  # of a puzzle on the way: the run goes on
    elif now.finish_ms is not None:
        draft.status = Status.FINISHED
        draft.raw_s = counted_ms(now, run.frame, now.finish_ms) // 1000
        draft.stage_s = escape_official_s(now.handed_over, run.frame.rules.escape)
        escape_s = now.handed_over.counted_ms // 1000 if now.handed_over is not None else 0
        draft.finish_s = (draft.stage_s or 0) + draft.raw_s - escape_s + draft.missing_s
        draft.mark(Mark.UNACCEPTED, when=now.state is State.CLAIMED)
    elif now.state in (State.TIME_UP, State.SEALED):
        draft.status, draft.pieces = Status.UNFINISHED, now.pieces
        draft.counted_once = now.pieces is not None
        draft.puzzle = now.puzzle
        nothing_due = run.frame.rules.count.kind is CountKind.NOTHING
        draft.mark(Mark.AWAITING_COUNT, when=now.pieces is None and not nothing_due)
    return draft


def _missing_s(run: Run, now: RunState) -> int:
    rules = run.frame.rules.missing
    return 0 if rules is None else now.missing * rules.seconds_per_piece


def _settled(run: Run, draft: Draft) -> Result:
    rules = run.frame.rules
    pieces = _all_pieces(draft, rules)
    added_s = draft.penalty_s
    if rules.assists is not None and rules.assists.added:
        added_s += draft.assist_s
    official_s: int | None = None
    if draft.set_s is not None:
        official_s = draft.set_s
    elif draft.finish_s is not None:
        official_s = draft.finish_s + added_s
    elif draft.status is Status.UNFINISHED and rules.count.kind is not CountKind.LOOSE:
        for penalty in draft.penalties:
            draft.report("penalty_moves_nothing", penalty)
    elif pieces is not None:
        registered_s = rules.limit_ms // 1000 + rules.count.seconds_per_piece * pieces
        official_s = registered_s + draft.missing_s + added_s
    return Result(
        run=run.id,
        category=run.category,
        entrant=draft.entrant,
        table=draft.table,
        status=draft.status,
        official_s=None if official_s is None else max(0, official_s),
        raw_s=draft.raw_s,
        assist_s=draft.assist_s,
        penalty_s=draft.penalty_s,
        stage_s=draft.stage_s,
        pieces=pieces,
        marks=tuple(draft.marks),
        problems=tuple(draft.problems),
    )


def _all_pieces(draft: Draft, rules: CategoryRules) -> int | None:
    """Of several puzzles: the ones completed count whole as joined, the ones not begun whole as loose."""
    if draft.pieces is None:
        return None
    puzzles = rules.puzzles
    others = puzzles[: draft.puzzle] if rules.pieces_rank else puzzles[draft.puzzle + 1 :]
    return draft.pieces + sum(others)


def _bounded(run: Run, result: Result, times_s: Sequence[int | None]) -> Result:
    """A result that another length of an unknown gap would change: never a confident wrong number."""
    known_s = [time_s for time_s in times_s if time_s is not None]
    low_s = min(known_s, default=None)
    high_s = max(known_s) if known_s and len(known_s) == len(times_s) else None
    detail = {"low_s": low_s, "high_s": high_s}
    problem = Problem("time_between_bounds", Level.WARNING, run.start.log, run.start.seq, run.id, detail)
    return _interrupted(replace(result, low_s=low_s, high_s=high_s, problems=(*result.problems, problem)))


def _interrupted(result: Result) -> Result:
    if Mark.INTERRUPTED in result.marks:
        return result
    return replace(result, marks=(*result.marks, Mark.INTERRUPTED))


def _worth(result: Result) -> tuple[object, ...]:
    """All that the standings show of a result."""
    return (
        result.status,
        result.official_s,
        result.raw_s,
        result.assist_s,
        result.stage_s,
        result.pieces,
    )
