"""What happened, read back from the hub's database: events newest first, and deeds of people that are no events."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Exists, Select, exists, func, insert, or_, select

from hub.effects import Effect, effect_from_json
from hub.store_people import Transaction
from hub.store_schema import deeds, effects, events
from shared.core.events import Event, event_from_json


@dataclass(frozen=True, slots=True)
class Stored:
    """An event with its place in the order of commits and the wall time at which it came."""

    n: int
    received_ms: int
    event: Event
    effects: tuple[Effect, ...] = ()
    """What a ruling changed, as far as that was kept."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Somebody did something to the hub itself."""

    id: int
    at_ms: int
    by: str
    deed: str
    about: str
    was: str = ""
    became: str = ""


class AuditStore:
    """Reached through `Store.audit`. Every method raises StoreTrouble."""

    def __init__(self, writing: Transaction, reading: Transaction) -> None:
        self._writing = writing
        self._reading = reading

    def note(self, by: str, deed: str, about: str, at_ms: int, *, was: str = "", became: str = "") -> None:
        """Keep a deed, with what was before and after it."""
        values = {"by": by, "deed": deed, "about": about, "at_ms": at_ms, "was": was, "became": became}
        with self._writing() as connection:
            connection.execute(insert(deeds).values(values))

    def deeds(self, before: int | None, limit: int, *, after: int | None = None) -> list[Deed]:
        """The newest deeds, or those before one; the oldest first of those `after` one."""
        query = select(deeds).order_by(deeds.c.id.desc() if after is None else deeds.c.id).limit(limit)
        if before is not None:
            query = query.where(deeds.c.id < before)
        if after is not None:
            query = query.where(deeds.c.id > after)
        with self._reading() as connection:
            return [Deed(*row) for row in connection.execute(query)]

    def events(
        self,
        before: int | None,
        limit: int,
        runs: Collection[str] | None = None,
        devices: Collection[str] = (),
        entrants: Collection[str] = (),
        *,
        after: int | None = None,
    ) -> list[Stored]:
        """The newest events, or those before one; the oldest first of those `after` one.

        With `runs` only those of these runs, from these devices, and rulings that changed a line of these
        runs or entrants.
        """
        n = events.c.n
        beside = (effects.c.log == events.c.log) & (effects.c.seq == events.c.seq)
        query = select(n, events.c.received_ms, events.c.payload, effects.c.effects)
        query = query.select_from(events.outerjoin(effects, beside))
        query = query.order_by(n.desc() if after is None else n).limit(limit)
        if before is not None:
            query = query.where(n < before)
        if after is not None:
            query = query.where(n > after)
        if runs is not None:
            of_run = events.c.run.in_(_listed(runs))
            query = query.where(
                or_(of_run, events.c.device.in_(list(devices)), _changed_a_line(runs, entrants))
            )
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return [
            Stored(n, received_ms, event_from_json(json.loads(text)), _effects(told))
            for n, received_ms, text, told in rows
        ]


def _listed(values: Collection[str]) -> Select[tuple[str]]:
    """A list of any length, inside a query."""
    return select(func.json_each(json.dumps(list(values))).table_valued("value").c.value)


def _changed_a_line(runs: Collection[str], entrants: Collection[str]) -> Exists:
    line = func.json_each(effects.c.effects).table_valued("value")

    def within(path: str, values: Collection[str]) -> ColumnElement[bool]:
        return func.json_extract(line.c.value, path).in_(_listed(values))

    theirs = (within(path, entrants) for path in ("$.was.entrant", "$.became.entrant"))
    return exists(select(line.c.value).where(or_(within("$.run", runs), *theirs)))


def _effects(told: str | None) -> tuple[Effect, ...]:
    return () if told is None else tuple(effect_from_json(effect) for effect in json.loads(told))
