"""The hub's events from the tables' own journals, for when neither network nor backup brings them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

from hub.arrivals import Incoming
from hub.hub_lock import HubLock
from hub.logs import read_logs
from hub.store import Store
from shared.clock import WallClock
from shared.core.events import HUB_DEVICE, RULINGS, Event, EventType
from shared.core.model import Problem
from shared.topics import Topics

_BATCH: Final = 500


@dataclass(slots=True)
class RefilledLog:
    """What became of one log."""

    device: str
    log: str
    new: int = 0
    known: int = 0
    stopped_at: int | None = None
    """The first seq that is not in the files; what follows it was not taken."""
    aside: int = 0


@dataclass(slots=True)
class Refilled:
    """What the files brought, and what the hub has that no journal can bring."""

    logs: list[RefilledLog] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rulings: int = 0
    planned: int = 0
    seats: int = 0

    def lines(self) -> Iterator[str]:
        """For people, with what only a backup can bring back."""
        for log in self.logs:
            text = f"{log.device} {log.log}: {log.new} new, {log.known} were there"
            if log.aside:
                text += f", {log.aside} kept aside"
            if log.stopped_at is not None:
                text += f"; seq {log.stopped_at} is not in these files, and nothing behind it was taken"
            yield text
        for problem in self.problems:
            yield f"problem: {problem.code} {problem.log or ''} {problem.detail or ''}".rstrip()
        yield "Runs, results and clocks are rebuilt from the journals. Only a backup can bring back the rest:"
        yield f"  rulings of judges and organisers: {self.rulings} here"
        yield f"  the plan: {_or_how(self.planned, 'runs', 'load the CSV file again: timer-hub load')}"
        yield f"  the seats: {_or_how(self.seats, 'tables', 'each table takes the one its settings name')}"
        yield "  logins, and names of judges"


def refill(paths: Sequence[Path], database: Path, now_ms: WallClock, *, over_gaps: bool = False) -> Refilled:
    """Take what the database lacks from journals and exported logs, as if the tables had sent it.

    `over_gaps`: events that the files lack will never come any more (the card is broken), so what follows
    them is taken too and a mark is left in their place. Raises UnreadableLog, StoreUnusable (also while a hub
    runs), StoreTrouble.
    """
    events, problems = read_logs(paths)
    database.parent.mkdir(parents=True, exist_ok=True)
    lock = HubLock(database)
    try:
        store = Store.open(database, now_ms)
        try:
            refilled = Refilled(problems=[p for p in problems if p.code != "seqs_missing"])
            for log, of_log in groupby(events, key=lambda event: event.log):
                found = list(of_log)
                if found[0].device != HUB_DEVICE:
                    refilled.logs.append(_fill(store, log, found, over_gaps=over_gaps))
            refilled.rulings = sum(1 for event in store.events_in_order() if event.type in RULINGS)
            refilled.planned, refilled.seats = len(store.plan_rows()), len(store.seats())
        finally:
            store.close()
    finally:
        lock.release()
    return refilled


def _fill(store: Store, log: str, events: list[Event], *, over_gaps: bool) -> RefilledLog:
    device = events[0].device
    filled = RefilledLog(device, log)
    known = {cursor.log: cursor.last_seq for cursor in store.cursors()}.get(log, 0)
    whole = list(_without_gaps(events, known) if over_gaps else _up_to_a_gap(events, known))
    for first in range(0, len(whole), _BATCH):
        batch = whole[first : first + _BATCH]
        committed = store.append_batch([Incoming(Topics().up_event(device), device, batch)])
        filled.new += len(committed.accepted)
        filled.known += committed.duplicates
        filled.aside += committed.quarantined
    if len(whole) < len(events):
        filled.stopped_at = max(known, _covered(whole[-1]) if whole else 0) + 1
    return filled


def _covered(event: Event) -> int:
    return int(event.data["to"]) if event.type == EventType.RECORDS_MISSING else event.seq


def _up_to_a_gap(events: list[Event], known: int) -> Iterator[Event]:
    """What follows on what the hub has, without a seq left out."""
    for event in events:
        if event.seq > known + 1:
            return
        yield event
        known = max(known, _covered(event))


def _without_gaps(events: list[Event], known: int) -> Iterator[Event]:
    """All, with a mark in the place of each stretch that is in neither the hub nor the files."""
    for event in events:
        if event.seq > known + 1:
            yield Event(
                event.device,
                event.log,
                known + 1,
                EventType.RECORDS_MISSING,
                boot=event.boot,
                mono_ms=event.mono_ms,
                data={"to": event.seq - 1},
            )
        yield event
        known = max(known, _covered(event))


def _or_how(count: int, what: str, how: str) -> str:
    return f"{count} {what} here" if count else f"none here; {how}"
