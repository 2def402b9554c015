"""What judges and organisers do at the hub: rulings on a run, written to the hub's log and shown at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hub.run_sheets import RunLine, RunSheet, ids_of, latest_runs, run_sheet, runs_at
from hub.store import Store
from hub.store_audit import Stored
from hub.view import View
from shared.clock import WallClock
from shared.core.events import Event, EventType

LONGEST_REASON: Final = 500
LONGEST_TIME_S: Final = 7 * 86_400
MOST_PIECES: Final = 100_000
_MOST_EVENTS: Final = 2_000


class CannotRule(ValueError):
    """A ruling that is not given; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ChangedMeanwhile(Exception):
    """Something was pressed or ruled since the judge looked: look again, then decide."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a judge decides about a run."""

    kind: EventType
    run: str
    reason: str
    by: str
    seen: str
    """Version of the run that the judge looked at."""
    data: Mapping[str, Any] = field(default_factory=dict)


def _number(
    name: str, least: int, most: int, *, not_null: bool = False
) -> Callable[[Mapping[str, Any]], bool]:
    def fits(data: Mapping[str, Any]) -> bool:
        value = data.get(name)
        return type(value) is int and least <= value <= most and not (not_null and value == 0)

    return fits


#: What may be ruled, and whether the numbers given with it can be.
KINDS: Final[Mapping[EventType, Callable[[Mapping[str, Any]], bool]]] = {
    EventType.PENALTY_GIVEN: _number("seconds", -LONGEST_TIME_S, LONGEST_TIME_S, not_null=True),
    EventType.PIECES_CORRECTED: _number("pieces", 0, MOST_PIECES),
    EventType.TIME_SET: _number("seconds", 0, LONGEST_TIME_S),
    EventType.DISQUALIFIED: lambda _: True,
    EventType.DID_NOT_FINISH: lambda _: True,
    EventType.RUN_VOIDED: lambda _: True,
    EventType.INCIDENT_NOTED: lambda _: True,
    EventType.RULING_REVOKED: _number("ruling", 1, 2**53 - 1),
}


class Commands:
    """The desk of judges and organisers; any thread may call, and may have to wait for the disk.

    What touches the disk raises StoreTrouble, and then nothing was ruled.
    """

    def __init__(self, store: Store, view: View, wall: WallClock) -> None:
        self._store = store
        self._view = view
        self._wall = wall
        self._ruling = threading.Lock()

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

    def run(self, run: str) -> RunSheet | None:
        """One run as it stands."""
        return self._view.read(lambda projection: run_sheet(projection, run))

    def events(self, run: str) -> list[Stored]:
        """What was pressed and ruled on a run, in the order in which the hub heard of it."""
        return self._store.audit.events(None, _MOST_EVENTS, runs=[run])[::-1]

    def revocable(self, sheet: RunSheet, event: Event) -> bool:
        """Whether an event is a ruling in force that can be taken back: one of this database's own log."""
        return event.key in sheet.in_force and event.log == self._store.hub_log

    def rule(self, ruling: Ruling) -> Event:
        """Give a ruling. Raises CannotRule, ChangedMeanwhile."""
        reason = " ".join(ruling.reason.split())
        fits = KINDS.get(ruling.kind)
        if not reason:
            raise CannotRule("no_reason")
        if len(reason) > LONGEST_REASON:
            raise CannotRule("long_reason")
        if fits is None or not fits(ruling.data):
            raise CannotRule("bad_number")
        with self._ruling:  # of two judges who look at the same run, the second one is told
            sheet = self.run(ruling.run)
            if sheet is None:
                raise CannotRule("no_run")
            if sheet.version != ruling.seen:
                raise ChangedMeanwhile
            data = dict(ruling.data) | {"reason": reason, "by": ruling.by}
            if ruling.kind is EventType.RULING_REVOKED:
                if (self._store.hub_log, data["ruling"]) not in sheet.in_force:
                    raise CannotRule("nothing_to_revoke")
            elif ruling.kind is EventType.INCIDENT_NOTED:
                data |= {"text": reason, "state": "open"}
            elif ruling.kind is EventType.PIECES_CORRECTED and data["pieces"] > sheet.most_pieces:
                raise CannotRule("too_many_pieces")
            event = self._store.record(ruling.kind, data, wall_ms=self._wall(), run=ruling.run)
            self._view.apply([event])
        return event
