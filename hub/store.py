"""The hub's database: every event once and in order, what was kept aside, seats and plan.

One writer at a time, any number of readers; methods may be called from any thread. Those that touch
the disk raise StoreTrouble when it is locked, full or failing: nothing has changed then, try again.
Long because every transaction on events, cursors and plan is here, behind one lock.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError, ProgrammingError

from hub.arrivals import HUB_LOG, Cursor, Incoming, acks, judge, logs_of
from hub.effects import Effect
from hub.gaps import is_mark, marks_left
from hub.store_aside import keep_aside, shares_of
from hub.store_audit import AuditStore
from hub.store_people import PeopleStore
from hub.store_schema import WRITES, cursors, effects, events, meta, open_engine, plan, quarantine, seats
from shared.clock import WallClock
from shared.core.events import HUB_DEVICE, BadEvent, Event, EventType, event_from_json
from shared.wire import Ack

_PAGE: Final = 1_000
_EPOCH: Final = "epoch"
_NOTE: Final = "note-"
NOBODY: Final = "N. N."
"""The public name of an entrant who is to be forgotten."""


class StoreTrouble(Exception):
    """The database cannot be used at the moment (locked, full, disk error); says which."""

    @property
    def code(self) -> str:
        """`locked`, `full`, `damaged` or `failing`."""
        text = str(self)
        return next((code for code in ("locked", "full") if code in text), "failing")


class StoreDamaged(StoreTrouble):
    """What is in the database was put there by a failing disk: a backup has to take its place."""

    @property
    def code(self) -> str:
        """`damaged`."""
        return "damaged"


@dataclass(frozen=True, slots=True)
class Committed:
    """What a batch came to, once it is safe on disk."""

    accepted: list[Event]
    """New events, in commit order."""
    acks: list[tuple[str, Ack]]
    """What to tell which device; those with `gap` are not retained."""
    duplicates: int
    gaps: int
    quarantined: int


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One run to come: who plays what, where, in which heat, as which run of that table."""

    heat: str
    order_no: int
    table_no: int
    entrant: str | None
    category: str
    public_name: str
    flags: str = ""
    """Words that further rankings and guests go by, with spaces between."""


class Store:
    """An open database; `epoch` tells this database from any copy that was restored."""

    def __init__(self, engine: Engine, now_ms: WallClock) -> None:
        """Use `Store.open`."""
        self._engine = engine
        self._now_ms = now_ms
        self._writing = threading.Lock()
        self.people = PeopleStore(self._write, self._read)
        self.audit = AuditStore(self._write, self._read)
        with self._write() as connection:
            row = connection.execute(select(meta.c.value).where(meta.c.key == _EPOCH)).scalar()
            self._epoch = row if row is not None else _new_epoch(connection)
            self._shares = shares_of(connection)

    @classmethod
    def open(cls, path: Path, now_ms: WallClock, busy_ms: int = 5_000) -> Store:
        """Open or make the database, and bring it to the newest shape.

        `now_ms` stamps what is received; `busy_ms` is how long another program's lock is waited for.
        Raises StoreUnusable.
        """
        return cls(open_engine(path, busy_ms), now_ms)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @property
    def epoch(self) -> str:
        """Random id of this database, in every ack."""
        return self._epoch

    @property
    def hub_log(self) -> str:
        """The log of the hub's own events in this epoch."""
        return HUB_LOG + self._epoch

    def renew_epoch(self) -> str:
        """A new epoch, for a database restored from a copy: devices then send again what it lacks."""
        with self._write() as connection:
            epoch = _new_epoch(connection)
        self._epoch = epoch
        return epoch

    def append_batch(self, messages: Sequence[Incoming]) -> Committed:
        """Commit what is new in many messages in one durable transaction. Raises StoreTrouble."""
        with self._write() as connection:
            known = _cursors_of(connection, logs_of(messages))
            judgement = judge(messages, known)
            received_ms = self._now_ms()
            if judgement.accepted:
                connection.execute(insert(events), [_row(e, received_ms) for e in judgement.accepted])
            _move_cursors(connection, judgement.cursors.values())
            shares = keep_aside(connection, judgement.asides, received_ms, self._shares)
        self._shares.update(shares)
        return Committed(
            accepted=judgement.accepted,
            acks=acks(judgement, known, self._epoch),
            duplicates=judgement.duplicates,
            gaps=judgement.gaps,
            quarantined=len(judgement.asides),
        )

    def fill_gaps(self, device: str, log: str, found: Iterable[Event]) -> tuple[int, int]:
        """Commit events of a device's log that it has gone past without them; how many, and how many were there.

        What marks them as missing makes room. For events from elsewhere than the wire, where a log goes on only.
        """
        with self._write() as connection:
            known = _cursors_of(connection, {log}).get(log)
            if known is None or known.device != device:
                return 0, 0
            rows = connection.execute(select(events.c.n, events.c.payload).where(events.c.log == log))
            here = [_event(*row) for row in rows]
            there = {event.seq for event in here if not is_mark(event)}
            past = [event for event in found if event.seq <= known.last_seq and not is_mark(event)]
            late = [event for event in past if event.seq not in there and event.device == device]
            if late:
                marks = [event for event in here if is_mark(event)]
                left = marks_left(marks, there | {event.seq for event in late})
                moved = [mark for mark in marks if left.get(mark.seq) != mark]
                for mark in moved:
                    place = (events.c.log == log) & (events.c.seq == mark.seq)
                    connection.execute(delete(events).where(place))
                late += [mark for mark in left.values() if mark not in marks]
                late.sort(key=lambda event: event.seq)
                received_ms = self._now_ms()
                connection.execute(insert(events), [_row(event, received_ms) for event in late])
        return sum(1 for event in late if not is_mark(event)), sum(1 for event in past if event.seq in there)

    def bring_hub_log(self, log: str, found: Sequence[Event]) -> bool:
        """Commit the whole log of an earlier hub; False, and nothing done, where this one has any of it."""
        with self._write() as connection:
            if log == self.hub_log or _cursors_of(connection, {log}):
                return False
            received_ms = self._now_ms()
            connection.execute(insert(events), [_row(event, received_ms) for event in found])
            _move_cursors(connection, [Cursor(HUB_DEVICE, log, max(event.seq for event in found))])
        return True

    def record(
        self,
        kind: EventType,
        data: Mapping[str, Any],
        *,
        wall_ms: int,
        run: str | None = None,
        changes: Sequence[Effect] = (),
    ) -> Event:
        """Commit an event of the hub's own log, with what it changes.

        Raises BadEvent for fields that are none of its kind's.
        """
        with self._write() as connection:
            known = _cursors_of(connection, {self.hub_log}).get(self.hub_log)
            seq = 1 if known is None else known.last_seq + 1
            raw = Event(HUB_DEVICE, self.hub_log, seq, kind, wall_ms=wall_ms, run=run, data=data)
            event = event_from_json(raw.as_json())
            connection.execute(insert(events), [_row(event, self._now_ms())])
            _move_cursors(connection, [Cursor(HUB_DEVICE, self.hub_log, seq)])
            if changes:
                told = json.dumps([effect.as_json() for effect in changes], separators=(",", ":"))
                connection.execute(insert(effects).values(log=event.log, seq=event.seq, effects=told))
        return event

    def events_in_order(self) -> Iterator[Event]:
        """All events in commit order, for a replay at start; what is committed meanwhile comes too."""
        last_n = 0
        while True:
            query = select(events.c.n, events.c.payload).where(events.c.n > last_n)
            with self._read() as connection:
                rows = connection.execute(query.order_by(events.c.n).limit(_PAGE)).all()
            if not rows:
                return
            for last_n, payload in rows:
                yield _event(last_n, payload)

    def cursors(self) -> list[Cursor]:
        """How far each log is committed; of one device's logs the one that was last written comes last."""
        newest = select(func.max(events.c.n)).where(events.c.log == cursors.c.log).scalar_subquery()
        query = select(cursors.c.device, cursors.c.log, cursors.c.last_seq).order_by(newest, cursors.c.log)
        with self._read() as connection:
            return [Cursor(*row) for row in connection.execute(query)]

    def cursor_of(self, log: str) -> Cursor | None:
        """How far one log is committed; None where nothing of it came."""
        with self._read() as connection:
            return _cursors_of(connection, {log}).get(log)

    def quarantine_count(self) -> int:
        """How many different things are kept aside."""
        with self._read() as connection:
            return connection.execute(select(func.count()).select_from(quarantine)).scalar_one()

    def sends_junk(self) -> dict[str, int]:
        """By device how much was left out since the start because its share of what is kept aside is full."""
        return {device: share.left_out for device, share in self._shares.copy().items() if share.full}

    def replace_plan(self, rows: Iterable[PlanRow]) -> None:
        """Put a new plan in the place of the whole old one."""
        with self._write() as connection:
            connection.execute(delete(plan))
            if values := [asdict(row) for row in rows]:
                connection.execute(insert(plan), values)

    def plan_rows(self) -> list[PlanRow]:
        """The plan, by order, then table."""
        query = select(
            plan.c.heat,
            plan.c.order_no,
            plan.c.table_no,
            plan.c.entrant,
            plan.c.category,
            plan.c.public_name,
            plan.c.flags,
        )
        with self._read() as connection:
            rows = connection.execute(query.order_by(plan.c.order_no, plan.c.table_no, plan.c.id))
            return [PlanRow(*row) for row in rows]

    def forget_entrant(self, entrant: str) -> int:
        """Take the name of an entrant out of the plan; in how many runs it stood."""
        with self._write() as connection:
            named = update(plan).where(plan.c.entrant == entrant).values(public_name=NOBODY)
            return connection.execute(named).rowcount

    def empty_log(self) -> bool:
        """Move the write-ahead log into the database and empty it; False while others read too long."""
        with _told_apart(), contextlib.closing(self._engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy = cursor.fetchall()[0][0]
            cursor.close()
        return not busy

    def note(self, key: str) -> str | None:
        """A text that was kept under this name."""
        with self._read() as connection:
            return connection.execute(select(meta.c.value).where(meta.c.key == _NOTE + key)).scalar()

    def notes(self, prefix: str) -> dict[str, str]:
        """All texts whose names begin so, by the rest of their names."""
        begin = _NOTE + prefix
        query = select(meta.c.key, meta.c.value).where(meta.c.key.startswith(begin, autoescape=True))
        with self._read() as connection:
            return {key.removeprefix(begin): value for key, value in connection.execute(query)}

    def keep_note(self, key: str, value: str) -> None:
        """Keep a text under a name, in the place of an older one."""
        statement = sqlite_insert(meta).values(key=_NOTE + key, value=value)
        with self._write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))

    def seat_of(self, device: str) -> int | None:
        """The table number of a device."""
        with self._read() as connection:
            return connection.execute(select(seats.c.table_no).where(seats.c.device == device)).scalar()

    def set_seat(self, table_no: int, device: str | None) -> None:
        """Put a device on a table, instead of another one there and away from its old table; None clears."""
        with self._write() as connection:
            connection.execute(
                delete(seats).where((seats.c.table_no == table_no) | (seats.c.device == device))
            )
            if device is not None:
                connection.execute(insert(seats).values(table_no=table_no, device=device))

    def seats(self) -> dict[int, str]:
        """Device by table number."""
        with self._read() as connection:
            rows = connection.execute(select(seats.c.table_no, seats.c.device).order_by(seats.c.table_no))
            return {table_no: device for table_no, device in rows}  # noqa: C416 - rows are no tuples to mypy

    @contextlib.contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._writing, _told_apart(), self._engine.connect() as connection:
            writer = connection.execution_options(**{WRITES: True})
            with writer.begin():
                yield writer

    @contextlib.contextmanager
    def _read(self) -> Iterator[Connection]:
        with _told_apart(), self._engine.connect() as connection:
            yield connection


@contextlib.contextmanager
def _told_apart() -> Iterator[None]:
    """Trouble with the disk as StoreTrouble; an error in our SQL stays what it is."""
    try:
        yield
    except (IntegrityError, ProgrammingError):
        raise
    except OperationalError as error:
        raise StoreTrouble(str(error.orig)) from error
    except DatabaseError as error:
        raise StoreDamaged(str(error.orig)) from error


def _new_epoch(connection: Connection) -> str:
    epoch = secrets.token_hex(4)
    statement = sqlite_insert(meta).values(key=_EPOCH, value=epoch)
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": epoch}))
    return epoch


def _event(n: int, payload: str) -> Event:
    """An event as it was committed; whatever else stands there was put there by a failing disk."""
    try:
        return event_from_json(json.loads(payload))
    except (BadEvent, ValueError, TypeError) as error:
        raise StoreDamaged(f"event {n} is damaged ({error})") from error


def _row(event: Event, received_ms: int) -> dict[str, Any]:
    return {
        "log": event.log,
        "seq": event.seq,
        "device": event.device,
        "type": str(event.type),
        "run": event.run,
        "received_ms": received_ms,
        "payload": json.dumps(event.as_json(), separators=(",", ":"), allow_nan=False),
    }


def _cursors_of(connection: Connection, logs: set[str]) -> dict[str, Cursor]:
    if not logs:
        return {}
    query = select(cursors.c.device, cursors.c.log, cursors.c.last_seq).where(cursors.c.log.in_(logs))
    found = [Cursor(*row) for row in connection.execute(query)]
    return {cursor.log: cursor for cursor in found}


def _move_cursors(connection: Connection, moved: Iterable[Cursor]) -> None:
    if rows := [asdict(cursor) for cursor in moved]:
        statement = sqlite_insert(cursors)
        moves = {"last_seq": statement.excluded.last_seq}
        connection.execute(statement.on_conflict_do_update(index_elements=["log"], set_=moves), rows)
