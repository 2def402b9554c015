"""One run as its log tells it: the start, the acts since, and the state they fold to."""

from __future__ import annotations

from typing import Final

from shared.core import machine
from shared.core.chronicle import Told
from shared.core.events import Event, EventType
from shared.core.layout import Layout, lay_out
from shared.core.model import Level, Problem, State
from shared.core.rules import CategoryRules
from shared.core.state import ActRef, Frame, RunState
from shared.core.timeline import Span, Stamp, Timeline
from shared.core.ways import Ways, end_of, ways

END_OF_TIME_MS: Final = 2**60
"""Everything that ends by itself has ended."""
_GOES_BACK_MS: Final = 10_000
"""Acts are stamped at their first press: a second press of a step comes 5 s later at most."""


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
        """Acts and take-overs since the start, in folding order."""
        self.split = False
        """Two logs speak of it and nothing says which goes on."""
        self.superseded = False
        """Something was pressed at a table that had been replaced."""
        self._told: list[Problem] = []
        self._timeline = timeline
        self._fold_start()

    def _fold_start(self) -> None:
        self.problems = list(self._told)
        self.inexact = False
        """An act is placed between bounds only: the table was off in between."""
        self.goes_back = False
        """An act is stamped well before an earlier one of the same boot: a clock or a log is broken."""
        self._latest_ms = {self.start_stamp.boot: self.start_stamp.mono_ms}
        self._resumed: dict[str, tuple[int, int]] = {}
        self.state = RunState()
        self._ways: tuple[Layout, Ways] | None = None
        if self.start.data.get("rules") not in (None, self.frame.rules.digest()):
            self._report("rules_differ", self.start, Level.WARNING, category=self.category)
        self._take(self.start, 0)

    def apply(self, event: Event) -> None:
        """Fold the next act of this run's log."""
        self.acts.append(event)
        self._fold(event)

    def retell(self, told: Told) -> None:
        """Fold the acts as its logs tell them now: one that came later may have changed their order."""
        self.acts, self._told = list(told.acts), told.problems
        self.split, self.superseded = told.split, told.superseded
        self.refold()

    def refold(self, frame: Frame | None = None) -> None:
        """Fold all acts again: a ruling changed the frame, or a late anchor the time between boots."""
        if frame is not None:
            self.frame = frame
        self._fold_start()
        for event in self.acts:
            self._fold(event)

    def _fold(self, event: Event) -> None:
        stamp = stamp_of(event)
        if stamp.boot == self.start_stamp.boot:
            t_ms = stamp.mono_ms - self.start_stamp.mono_ms
        else:
            t_ms, high_ms = self.span(stamp)
            self.inexact = self.inexact or t_ms != high_ms
        latest_ms = self._latest_ms.get(stamp.boot, stamp.mono_ms)
        if stamp.mono_ms < latest_ms - _GOES_BACK_MS:
            self.goes_back = True
            self._report("clock_went_back", event, Level.WARNING, by_ms=latest_ms - stamp.mono_ms)
        self._latest_ms[stamp.boot] = max(latest_ms, stamp.mono_ms)
        if event.type == EventType.RUN_TAKEN_OVER:
            self._resumed[stamp.boot] = (stamp.mono_ms, max(t_ms, self.state.act_ms))
        elif self.state.state is State.READY:
            # The start was undone: the id is used up, whatever comes.
            self._report("act_after_undone_start", event)
        else:
            self._take(event, t_ms)

    def _take(self, event: Event, t_ms: int) -> None:
        act = ActRef(event.log, event.seq, event.type)
        self.state, refusal = machine.take(self.state, self.frame, act, t_ms, event.data)
        if refusal is not None:
            self._report("act_refused", event, act=str(event.type), reason=str(refusal))

    def _report(self, code: str, event: Event, level: Level = Level.INFO, **detail: object) -> None:
        self.problems.append(Problem(code, level, event.log, event.seq, self.id, detail))

    # Time since the start -----------------------------------------------------------------------------

    def span(self, stamp: Stamp) -> Span:
        """How long it was from the start to a stamp.

        A spare table without a clock in common knows at least that it took over after the last act.
        """
        span = self._timeline.between(self.start_stamp, stamp)
        if span.exact or stamp.boot not in self._resumed:
            return span
        mono_ms, t_ms = self._resumed[stamp.boot]
        low_ms = max(span.low_ms, t_ms + stamp.mono_ms - mono_ms)
        return Span(low_ms, None if span.high_ms is None else max(low_ms, span.high_ms))

    def elapsed_ms(self, stamp: Stamp) -> int:
        """Milliseconds since the start at a stamp; a lower bound where the table was off in between."""
        return self.span(stamp).low_ms

    def exactly_known(self, stamp: Stamp) -> bool:
        """Whether the time from the start to a stamp is exact."""
        return self.span(stamp).exact

    def at(self, t_ms: int) -> RunState:
        """The run at an instant since its start."""
        return machine.at(self.state, self.frame, max(t_ms, self.state.act_ms))

    def possible(self) -> Ways:
        """How an inexact run may have gone, with what is known of the time between boots by now."""
        stamps = [stamp_of(event) for event in self.acts]
        spans = [self.span(stamp) for stamp in stamps]
        layout = lay_out(stamps, spans, self._timeline, end_of(self.frame))
        if self._ways is None or self._ways[0] != layout:
            self._ways = layout, ways(self.start, self.frame, self.acts, layout)
        return self._ways[1]

    # What it tells ------------------------------------------------------------------------------------

    @property
    def started(self) -> bool:
        """False once the start was undone: such a run has no result and stays in the audit only."""
        return self.state.state is not State.READY

    @property
    def device(self) -> str:
        """The table that times it now: after a take-over, the spare."""
        return (self.acts[-1] if self.acts else self.start).device
