"""Rulings laid over a drafted result, one clause each, in the order in which they were given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from shared.core.events import Event, EventType
from shared.core.model import Level, Mark, Problem, Status
from shared.core.result import Result
from shared.core.rules import CountKind
from shared.core.state import Frame


@dataclass(slots=True)
class Draft:
    """A result while rulings are laid over it, before its official time is worked out."""

    frame: Frame
    run: str
    entrant: str | None
    table: int
    status: Status = Status.RUNNING
    raw_s: int | None = None
    assist_s: int = 0
    penalty_s: int = 0
    stage_s: int | None = None
    pieces: int | None = None
    """Counted on the table; of several puzzles, of the one that lay there."""
    puzzle: int = 0
    missing_s: int = 0
    """What the pieces missing at accepted claims cost."""
    finish_s: int | None = None
    """Time of the finish in effect, the escape stage at its official time."""
    set_s: int | None = None
    counted_once: bool = False
    """A count was in effect, even if it was taken back since."""
    most_pieces: int | None = None
    """The puzzle's pieces as far as they were ruled on."""
    penalties: list[Event] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def mark(self, mark: Mark, *, when: bool = True) -> None:
        """Put a mark, once."""
        if when and mark not in self.marks:
            self.marks.append(mark)

    def unmark(self, *marks: Mark) -> None:
        """Take marks off."""
        self.marks = [mark for mark in self.marks if mark not in marks]

    def report(self, code: str, ruling: Event, **detail: object) -> None:
        """A ruling does not fit the run."""
        self.problems.append(Problem(code, Level.WARNING, ruling.log, ruling.seq, self.run, detail))


def lay_over(draft: Draft, ruling: Event) -> None:
    """Lay one ruling over the draft; those on the fold and on the status say nothing here."""
    lay = _RULINGS.get(ruling.type)
    if lay is not None:
        lay(draft, ruling)


def _penalty(draft: Draft, ruling: Event) -> None:
    """Added to the official time, whatever the status."""
    draft.penalties.append(ruling)
    draft.penalty_s += ruling.data["seconds"]


def _puzzle_pieces(draft: Draft, ruling: Event) -> None:
    """The puzzle came short from the factory: counts that follow fit it; one before stays, and is shown.

    It speaks of a run's only puzzle; of several nobody could say which.
    """
    if draft.frame.rules.more_puzzles:
        draft.report("which_puzzle", ruling)
        return
    draft.most_pieces = ruling.data["pieces"]
    if draft.pieces is not None and draft.pieces > ruling.data["pieces"]:
        draft.report("too_many_pieces", ruling, pieces=draft.pieces, most=ruling.data["pieces"])


def _pieces(draft: Draft, ruling: Event) -> None:
    """The count corrected, or an uncounted run counted on the judge's phone."""
    pieces = ruling.data["pieces"]
    most = draft.frame.rules.puzzles[draft.puzzle] if draft.most_pieces is None else draft.most_pieces
    if draft.status is not Status.UNFINISHED or draft.frame.rules.count.kind is CountKind.NOTHING:
        draft.report("pieces_not_due", ruling)
    elif pieces > most:
        draft.report("too_many_pieces", ruling, pieces=pieces, most=most)
    else:
        draft.mark(Mark.CORRECTED, when=draft.counted_once)
        draft.unmark(Mark.AWAITING_COUNT)
        draft.pieces, draft.counted_once = pieces, True


def _time_set(draft: Draft, ruling: Event) -> None:
    """The official time as it is: nothing is added, earlier or later, and nothing about it is uncertain."""
    draft.status, draft.pieces, draft.set_s = Status.FINISHED, None, ruling.data["seconds"]
    draft.unmark(Mark.AWAITING_COUNT, Mark.UNACCEPTED, Mark.CORRECTED, Mark.INTERRUPTED)
    draft.mark(Mark.MANUAL)


def _reopened(draft: Draft, ruling: Event) -> None:
    """Takes back the accept or the count; settled at the hub only."""
    accepted = draft.status is Status.FINISHED and Mark.UNACCEPTED not in draft.marks
    if draft.set_s is None and accepted:
        draft.mark(Mark.UNACCEPTED)
    elif draft.pieces is not None:
        draft.pieces = None
        draft.unmark(Mark.CORRECTED)
        draft.mark(Mark.AWAITING_COUNT)
    else:
        draft.report("nothing_to_reopen", ruling)


def _reassigned(draft: Draft, ruling: Event) -> None:
    """The run was somebody else's, or at another table."""
    entrant, table = ruling.data.get("entrant"), ruling.data.get("table")
    draft.entrant = draft.entrant if entrant is None else entrant
    draft.table = draft.table if table is None else table


_RULINGS: Final[Mapping[str, Callable[[Draft, Event], None]]] = {
    EventType.PENALTY_GIVEN: _penalty,
    EventType.PUZZLE_PIECES_SET: _puzzle_pieces,
    EventType.PIECES_CORRECTED: _pieces,
    EventType.TIME_SET: _time_set,
    EventType.RUN_REOPENED: _reopened,
    EventType.RUN_REASSIGNED: _reassigned,
}

_STATUS: Final[Mapping[str, Status]] = {
    EventType.DISQUALIFIED: Status.DSQ,
    EventType.DID_NOT_FINISH: Status.DNF,
    EventType.RUN_VOIDED: Status.VOID,
    EventType.DID_NOT_START: Status.DNS,
}

STATUS_RULINGS: Final = frozenset(_STATUS)
RULED: Final = frozenset(_STATUS.values())
"""What only a ruling can make of a run."""


def status_ruled(result: Result, rulings: Iterable[Event]) -> Result:
    """The result under the last status ruling in force; its numbers stay visible."""
    ruled = [_STATUS[r.type] for r in rulings if r.type in _STATUS]
    return replace(result, status=ruled[-1]) if ruled else result
