"""Runs that go on at another device: what a spare on the seat of a broken timer needs of them (pure)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final

from shared.core.events import Event, EventType
from shared.core.model import State
from shared.core.run import Run
from shared.plan import Resume

MOST_EVENTS: Final = 150
"""What fits a message beside a plan; a run of more presses is settled by hand."""

NameOf = Callable[[str | None, str | None], str | None]


class ClockFacts:
    """What the logs say of each boot's clock: all that relates the boots of a run to the hub and each other."""

    def __init__(self) -> None:
        self._booted: dict[str, Event] = {}
        self._anchors: dict[str, dict[str, Event]] = {}

    def apply(self, event: Event) -> None:
        """Note one event; of the anchors of a boot the best to each clock of the hub is kept."""
        if event.boot is None:
            return
        if event.type == EventType.BOOT_STARTED:
            self._booted[event.boot] = event
        elif event.type == EventType.CLOCK_ANCHORED:
            anchors = self._anchors.setdefault(event.boot, {})
            best = anchors.get(event.data["base"])
            if best is None or event.data["error_ms"] < best.data["error_ms"]:
                anchors[event.data["base"]] = event

    def of(self, boots: Iterable[str]) -> list[Event]:
        """What is known of these boots."""
        found: list[Event] = []
        for boot in boots:
            found += [self._booted[boot]] if boot in self._booted else []
            found += self._anchors.get(boot, {}).values()
        return found


def resumes(
    runs: Iterable[Run],
    seats: Mapping[int, str],
    online: Container[str],
    clocks: ClockFacts,
    name_of: NameOf,
    settled: Callable[[Run], bool] = lambda _: False,
) -> dict[int, Resume]:
    """By table the run in play whose device is gone, where another has the seat now: the latest, if several."""
    found: dict[int, Resume] = {}
    for run in runs:
        holder = seats.get(run.table)
        over = run.state.state in (State.READY, State.SEALED)
        if holder is None or run.device == holder or run.device in online or over or settled(run):
            continue
        events = [run.start, *run.acts]
        boots = dict.fromkeys(event.boot for event in events if event.boot is not None)
        told = [*clocks.of(boots), *events]
        if len(told) <= MOST_EVENTS and not run.practice:
            found[run.table] = Resume(
                run=run.id,
                heat=run.heat,
                entrant=run.entrant,
                public_name=name_of(run.category, run.entrant) or "",
                category=run.category,
                events=tuple(event.as_json() for event in told),
            )
    return found
