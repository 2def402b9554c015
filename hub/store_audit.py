"""What happened, read back from the hub's database: events newest first, and deeds of people that are no events."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, insert, or_, select

from hub.store_people import Transaction
from hub.store_schema import deeds, events
from shared.core.events import Event, event_from_json


@dataclass(frozen=True, slots=True)
class Stored:
    """An event with its place in the order of commits and the wall time at which it came."""

    n: int
    received_ms: int
    event: Event


@dataclass(frozen=True, slots=True)
class Deed:
    """Somebody did something to the hub itself."""

    id: int
    at_ms: int
    by: str
    deed: str
    about: str


class AuditStore:
    """Reached through `Store.audit`. Every method raises StoreTrouble."""

    def __init__(self, writing: Transaction, reading: Transaction) -> None:
        self._writing = writing
        self._reading = reading

    def note(self, by: str, deed: str, about: str, at_ms: int) -> None:
        """Keep a deed."""
        with self._writing() as connection:
            connection.execute(insert(deeds).values(by=by, deed=deed, about=about, at_ms=at_ms))

    def deeds(self, before: int | None, limit: int) -> list[Deed]:
        """The newest deeds, or those before one."""
        query = select(deeds).order_by(deeds.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(deeds.c.id < before)
        with self._reading() as connection:
            return [Deed(*row) for row in connection.execute(query)]

    def events(
        self,
        before: int | None,
        limit: int,
        runs: Collection[str] | None = None,
        devices: Collection[str] = (),
    ) -> list[Stored]:
        """The newest events, or those before one; with `runs`, only of these runs or from these devices."""
        query = select(events.c.n, events.c.received_ms, events.c.payload)
        query = query.order_by(events.c.n.desc()).limit(limit)
        if before is not None:
            query = query.where(events.c.n < before)
        if runs is not None:
            named = func.json_each(json.dumps(list(runs))).table_valued("value")  # a list of any length
            query = query.where(
                or_(events.c.run.in_(select(named.c.value)), events.c.device.in_(list(devices)))
            )
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return [Stored(n, received_ms, event_from_json(json.loads(text))) for n, received_ms, text in rows]
