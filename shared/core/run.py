"""One run as its log tells it: the start, the acts since, and the state they fold to."""

from __future__ import annotations

from shared.core import machine
from shared.core.events import Event, EventType
from shared.core.model import Level, Problem, State
from shared.core.rules import CategoryRules
from shared.core.state import ActRef, Frame, RunState
from shared.core.timeline import Stamp, Timeline

END_OF_TIME_MS = 2**60
"""Everything that ends by itself has ended."""


def stamp_of(event: Event) -> Stamp:
    """Where a table's event stands on its boot's clock."""
    assert event.boot is not None, "events of tables carry boot and mono_ms"
    assert event.mono_ms is not None, "events of tables carry boot and mono_ms"
    return Stamp(event.boot, event.mono_ms)


class Run:
    """A run being folded, act by act, in the order of its log."""

    def __init__(self, start: Event, rules: CategoryRules, timeline: Timeline) -> None:
        assert start.run is not None, "run_started carries a run id"
        self.id: str = start.run
        self.start = start
        self.start_stamp = stamp_of(start)
        self.category: str = start.data["category"]
        self.entrant: str | None = start.data["entrant"]
        self.table: int = start.data["table"]
        self.heat: str | None = start.data.get("heat")
        self.practice: bool = bool(start.data.get("practice"))
        self.frame = Frame(rules)
        self.acts: list[Event] = []
        self.problems: list[Problem] = []
        self._timeline = timeline
        self._fold_start()

    def _fold_start(self) -> None:
        self.problems = []
        self.inexact = False
        """An act is placed by a lower bound only: the table was off in between."""
        self.state = RunState()
        self._take(self.start, 0)

    def apply(self, event: Event) -> None:
        """Fold the next act of this run's log."""
        self.acts.append(event)
        self._fold(event)

    def refold(self, frame: Frame | None = None) -> None:
        """Fold all acts again: a ruling changed the frame, or a late anchor the time between boots."""
        if frame is not None:
            self.frame = frame
        self._fold_start()
        for event in self.acts:
            self._fold(event)

    def _fold(self, event: Event) -> None:
        stamp = stamp_of(event)
        t_ms = self.elapsed_ms(stamp)
        self.inexact = self.inexact or not self.exactly_known(stamp)
        if self.state.state is State.READY:
            # The start was undone: the id is used up, whatever comes.
            self._report("act_after_undone_start", event)
            return
        self._take(event, t_ms)

    def _take(self, event: Event, t_ms: int) -> None:
        act = ActRef(event.log, event.seq, event.type)
        self.state, refusal = machine.take(self.state, self.frame, act, t_ms, event.data)
        if refusal is not None:
            self._report("act_refused", event, act=str(event.type), reason=str(refusal))

    def _report(self, code: str, event: Event, **detail: object) -> None:
        self.problems.append(Problem(code, Level.INFO, event.log, event.seq, self.id, detail))

    def elapsed_ms(self, stamp: Stamp) -> int:
        """Milliseconds since the start at a stamp; a lower bound where the table was off in between."""
        if stamp.boot == self.start_stamp.boot:
            return stamp.mono_ms - self.start_stamp.mono_ms
        return self._timeline.between(self.start_stamp, stamp).low_ms

    def exactly_known(self, stamp: Stamp) -> bool:
        """Whether the time from the start to a stamp is exact."""
        same_boot = stamp.boot == self.start_stamp.boot
        return same_boot or self._timeline.between(self.start_stamp, stamp).exact

    def at(self, t_ms: int) -> RunState:
        """The run at an instant since its start."""
        return machine.at(self.state, self.frame, max(t_ms, self.state.act_ms))

    @property
    def started(self) -> bool:
        """False once the start was undone: such a run has no result and stays in the audit only."""
        return self.state.state is not State.READY

    def last_act_type(self) -> str | None:
        """What an undo would take back."""
        return None if self.state.last_act is None else self.state.last_act.type

    def undo_seq(self) -> int | None:
        """The seq an undo must name."""
        return None if self.state.last_act is None else self.state.last_act.seq


def is_start(event: Event) -> bool:
    """Whether an event begins a run."""
    return event.type == EventType.RUN_STARTED
