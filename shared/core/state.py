"""The state of one run after its last act in effect, and the readings taken from it at an instant.

All times are milliseconds since the start of the run (`t`). A state is never advanced in place: what
happens by itself is derived from it at an instant (`machine.at`), so nothing derived is ever stored.
"""

from __future__ import annotations

from typing import NamedTuple

from shared.core.model import Notice, State
from shared.core.rules import CategoryRules


class ActRef(NamedTuple):
    """The last act still in effect: what an undo must name."""

    log: str
    seq: int
    type: str


class Escape(NamedTuple):
    """How far a pair is in the escape stage, and what its help has cost."""

    solved_steps: int = 0
    tickets: int = 0
    bought: int = 0
    """Tickets bought with time because none were left."""
    last_help_ms: int | None = None
    hint_step: int = 0
    """The last step (1, 2, …) whose hint was given."""
    solution_step: int = 0


class HandOver(NamedTuple):
    """The end of the escape stage: the counted time of the instant, and whether all steps were solved."""

    counted_ms: int
    t_ms: int
    solved: bool
    escape: Escape


class Raised(NamedTuple):
    """A notice and the instant at which it was raised."""

    notice: Notice
    t_ms: int


class RunState(NamedTuple):
    """What a run is after its last act; the display, the standings and the hub all read from it."""

    state: State = State.READY
    act_ms: int = 0
    """Instant of the last act in effect; no later act is taken before it."""
    paused_ms: int = 0
    pauses: int = 0
    pause_ms: int | None = None
    """Start of the open pause."""
    assist_lengths_ms: tuple[int, ...] = ()
    assists: int = 0
    assist_ms: int | None = None
    """Start of the open assist."""
    escape: Escape | None = None
    """Set while the escape stage runs."""
    handed_over: HandOver | None = None
    puzzle: int = 0
    """Which puzzle is on the table: 0 for the first."""
    finish_ms: int | None = None
    """Instant of the claim in effect."""
    pieces: int | None = None
    missing: int = 0
    """Pieces missing at the accepted claims that are charged."""
    raised: Raised | None = None
    dismissed_ms: int = -1
    last_act: ActRef | None = None
    before: RunState | None = None
    """The state before the last act in effect, to which an undo returns."""

    @property
    def notice_seen_ms(self) -> int:
        """When a notice was dismissed by hand since the last act, else -1."""
        return self.dismissed_ms if self.dismissed_ms > self.act_ms else -1

    @property
    def notice(self) -> Notice | None:
        """What ended by itself and has not been dismissed since."""
        if self.raised is None or self.raised.t_ms <= self.dismissed_ms:
            return None
        return self.raised.notice


class Frame(NamedTuple):
    """The rules a run is folded with: its category's, and the time a ruling granted it."""

    rules: CategoryRules
    granted_ms: int = 0
    pieces: int | None = None
    """The puzzle's pieces where a ruling corrected them."""

    def pieces_of(self, puzzle: int) -> int:
        """How many pieces a puzzle of the run has; a ruling speaks of a run's only puzzle."""
        corrected = self.pieces is not None and not self.rules.more_puzzles
        return self.pieces if corrected and self.pieces is not None else self.rules.puzzles[puzzle]

    def is_last(self, puzzle: int) -> bool:
        """Whether no puzzle follows."""
        return puzzle == len(self.rules.more_puzzles)


def paused_until(run: RunState, frame: Frame, t_ms: int) -> int:
    """Pauses so far at `t_ms`, the open one cut at its maximum."""
    pauses = frame.rules.pauses
    if run.pause_ms is None or pauses is None:
        return run.paused_ms
    return run.paused_ms + max(0, min(t_ms - run.pause_ms, pauses.each_ms))


def counted_ms(run: RunState, frame: Frame, t_ms: int) -> int:
    """Counted time: since the start, without preview, pauses and granted time; never below 0."""
    return max(0, t_ms - frame.rules.preview_ms - frame.granted_ms - paused_until(run, frame, t_ms))


def assisted_ms(run: RunState, frame: Frame, t_ms: int) -> int:
    """Assistance used so far in all, the open one included, never above the budget."""
    closed = sum(run.assist_lengths_ms)
    if run.assist_ms is None or frame.rules.assists is None:
        return closed
    return min(closed + max(0, t_ms - run.assist_ms), frame.rules.assists.total_ms)
