"""The hub's events from the tables' own journals, for when neither network nor backup brings them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from hub.archive_file import is_archive
from hub.arrivals import HUB_LOG, Incoming
from hub.hub_lock import HubLock
from hub.logs import UnreadableLog, read_logs
from hub.store import Store
from shared.clock import WallClock
from shared.core.events import HUB_DEVICE, RULINGS, Event, EventType
from shared.core.model import Problem
from shared.topics import Topics

_BATCH: Final = 500
_MOST_NAMED: Final = 5


@dataclass(slots=True)
class RefilledLog:
    """What became of one log."""

    device: str
    log: str
    new: int = 0
    late: int = 0
    """Of the new ones, those that the hub had gone past without them."""
    known: int = 0
    stopped_at: int | None = None
    """The first seq that is not in the files; what follows it was not taken."""
    aside: int = 0


@dataclass(frozen=True, slots=True)
class HubLog:
    """What became of the log of an earlier hub, with its rulings."""

    log: str
    rulings: int
    brought: bool
    why_not: str = ""


@dataclass(slots=True)
class Refilled:
    """What the files brought, and what the hub has that no journal can bring."""

    logs: list[RefilledLog] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rulings: int = 0
    foreign: list[Path] = field(default_factory=list)
    """Files in which nothing is an event."""
    hub_logs: list[HubLog] = field(default_factory=list)
    ruled_here: int = 0
    """Rulings that were in the database before."""
    planned: int = 0
    seats: int = 0

    def lines(self) -> Iterator[str]:
        """For people, with what only a backup can bring back."""
        for log in self.logs:
            text = f"{log.device} {log.log}: {log.new} new, {log.known} were there"
            if log.late:
                text += f"; {log.late} of the new ones had been given up as lost"
            if log.aside:
                text += f", {log.aside} kept aside"
            if log.stopped_at is not None:
                text += f"; seq {log.stopped_at} is not in these files, and nothing behind it was taken"
            yield text
        for hub_log in self.hub_logs:
            if hub_log.brought:
                yield f"hub {hub_log.log}: {hub_log.rulings} rulings brought in"
            elif not hub_log.rulings:
                yield f"hub {hub_log.log}: no ruling in it that is not here"
            else:
                yield f"hub {hub_log.log}: its {hub_log.rulings} rulings were not brought in: {hub_log.why_not}"
        if self.ruled_here and any(hub_log.brought and hub_log.rulings for hub_log in self.hub_logs):
            yield "  there were rulings here already: look in /audit for what was now ruled twice, and take one back"
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
    if not events:
        names = ", ".join(str(path) for path in paths)
        raise UnreadableLog(f"there is no event in {names}; give tables' journals, exported logs or archives")
    foreign = [path for path in paths if not read_logs([path])[0] and path.stat().st_size]
    events, problems = read_logs(path for path in paths if path not in foreign)
    archived = {e.key for e in read_logs(path for path in paths if is_archive(path))[0]}
    database.parent.mkdir(parents=True, exist_ok=True)
    lock = HubLock(database)
    try:
        store = Store.open(database, now_ms)
        try:
            told = [p for p in problems if p.code != "seqs_missing"]
            refilled = Refilled(
                problems=told, foreign=foreign, ruled_here=_rulings_in(store.events_in_order())
            )
            for log, of_log in groupby(events, key=lambda event: event.log):
                found = list(of_log)
                if found[0].device != HUB_DEVICE:
                    refilled.logs.append(_fill(store, log, found, over_gaps=over_gaps))
                else:
                    refilled.hub_logs.append(_bring(store, log, found, archived))
            new = sum(log.new for log in refilled.logs) + sum(
                h.rulings for h in refilled.hub_logs if h.brought
            )
            store.audit.note("timer-hub refill", "refilled", _names_of(paths), now_ms(), became=str(new))
            refilled.rulings = _rulings_in(store.events_in_order())
            refilled.planned, refilled.seats = len(store.plan_rows()), len(store.seats())
        finally:
            store.close()
    finally:
        lock.release()
    return refilled


def _fill(store: Store, log: str, events: list[Event], *, over_gaps: bool) -> RefilledLog:
    device = events[0].device
    filled = RefilledLog(device, log)
    known = 0
    cursor = store.cursor_of(log)
    if cursor is not None and cursor.device == device:
        known = cursor.last_seq
        filled.late, filled.known = store.fill_gaps(device, log, events)
        filled.new, events = filled.late, list(_behind(events, known))
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


def _behind(events: Iterable[Event], known: int) -> Iterator[Event]:
    """What tells of seqs after the last one the hub has gone past."""
    for event in events:
        if event.seq > known:
            yield event
        elif _covered(event) > known:
            yield replace(event, seq=known + 1)


def _bring(store: Store, log: str, found: list[Event], archived: set[tuple[str, int]]) -> HubLog:
    """Only from an archive, which a hub wrote: on a table's card anybody may have written a ruling."""
    rulings = _rulings_in(found)
    if not log.startswith(HUB_LOG):
        return HubLog(log, rulings, brought=False, why_not="it is not called as a hub's log is")
    if not all(event.key in archived for event in found):
        return HubLog(log, rulings, brought=False, why_not="rulings come from archives and backups only")
    if store.bring_hub_log(log, found):
        return HubLog(log, rulings, brought=True)
    here = {event.key for event in store.events_in_order()}
    lacking = _rulings_in(event for event in found if event.key not in here)
    return HubLog(log, lacking, brought=False, why_not="this database has another version of this log")


def _rulings_in(events: Iterable[Event]) -> int:
    return sum(1 for event in events if event.type in RULINGS)


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


def _names_of(paths: Sequence[Path]) -> str:
    """Of files, as the audit tells them."""
    more = len(paths) - _MOST_NAMED
    return ", ".join(path.name for path in paths[:_MOST_NAMED]) + (f" (+{more})" if more > 0 else "")


def _or_how(count: int, what: str, how: str) -> str:
    return f"{count} {what} here" if count else f"none here; {how}"
