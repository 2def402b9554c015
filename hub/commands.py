"""What judges and organisers do: rulings, written to the hub's log with what they change, and shown at once."""

from __future__ import annotations

import threading
from typing import Final

from hub.effects import Effect
from hub.organiser_sheet import OrganiserSheet, organiser_sheet
from hub.people import Person
from hub.projection import Names
from hub.ruling_check import CannotRule, Ruling, consider, is_said_again, may_give
from hub.run_sheets import RunLine, RunSheet, Steps, ids_of, latest_runs, run_sheet, runs_at, steps_of
from hub.store import Store
from hub.store_audit import Stored
from hub.view import View
from shared.clock import WallClock
from shared.core.events import Event

_MOST_EVENTS: Final = 2_000


class Commands:
    """The desk of judges and organisers; any thread may call, and may have to wait for the disk.

    What touches the disk raises StoreTrouble, and then nothing was ruled.
    """

    def __init__(self, store: Store, view: View, wall: WallClock) -> None:
        self._store = store
        self._view = view
        self._wall = wall
        self._ruling = threading.Lock()

    # Looking -----------------------------------------------------------------------------------

    def latest(self) -> dict[int, RunLine]:
        """By table the run that the hub heard of last."""
        return self._view.read(latest_runs)

    def runs_at(self, table: int) -> list[RunLine]:
        """The runs at a table, newest first."""
        return self._view.read(lambda projection: runs_at(projection, table))

    def devices_at(self, table: int | None) -> list[str]:
        """The device on the seat of a table."""
        device = self._view.read(lambda projection: projection.seats.get(table or 0))
        return [] if device is None else [device]

    def ids_of(self, table: int | None, entrant: str | None) -> list[str]:
        """The runs at a table, of an entrant, or of one at the other."""
        return self._view.read(lambda projection: ids_of(projection, table, entrant))

    def names(self) -> Names:
        """The public names of entrants."""
        return self._view.read(lambda projection: projection.names)

    def run(self, run: str) -> RunSheet | None:
        """One run as it stands."""
        return self._view.read(lambda projection: run_sheet(projection, run))

    def steps(self, runs: set[str]) -> Steps:
        """From which state to which each act of these runs led."""
        return self._view.read(lambda projection: steps_of(projection, runs))

    def organiser_sheet(self) -> OrganiserSheet:
        """What concerns more than one run, and what waits for a decision."""
        return self._view.read(organiser_sheet)

    def events(self, run: str) -> list[Stored]:
        """What was pressed and ruled on a run, in the order in which the hub heard of it."""
        return self._store.audit.events(None, _MOST_EVENTS, runs=[run])[::-1]

    def revocable(self, sheet: RunSheet, event: Event, by: Person) -> bool:
        """Whether somebody can take an event back on the page of its run: a ruling on it in force."""
        return event.run == sheet.line.run and event.key in sheet.in_force and may_give(by, event)

    def is_said_again(self, ruling: Ruling) -> bool:
        """Whether it notes an incident that the same person has noted a moment ago: better asked than twice there."""
        now_ms = self._wall()
        return self._view.read(lambda projection: is_said_again(projection, ruling, now_ms))

    # Ruling ------------------------------------------------------------------------------------

    def preview(self, ruling: Ruling) -> tuple[Effect, ...]:
        """What a ruling would change. Raises CannotRule, ChangedMeanwhile, as giving it would."""
        return self._considered(ruling)[1]

    def rule(self, ruling: Ruling) -> Event:
        """Give a ruling. Raises CannotRule, ChangedMeanwhile."""
        with self._ruling:  # of two judges who look at the same run, the second one is told
            if any(row.id == ruling.by.id and row.secret is None for row in self._store.people.all()):
                raise CannotRule("dismissed")  # while the ruling waited here, or for the disk
            meant, changes = self._considered(ruling)
            event = self._store.record(
                ruling.kind, meant.data, wall_ms=meant.wall_ms or 0, run=meant.run, changes=changes
            )
            self._view.apply([event])
        return event

    def _considered(self, ruling: Ruling) -> tuple[Event, tuple[Effect, ...]]:
        log, now_ms = self._store.hub_log, self._wall()
        return self._view.read(lambda projection: consider(projection, ruling, log, now_ms))
