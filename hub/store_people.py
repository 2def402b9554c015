"""People who may log in and their sessions, in the hub's database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from hub.store_schema import people, sessions

Transaction = Callable[[], AbstractContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One who may log in; without `secret`, one who may not any more."""

    id: int
    name: str
    role: str
    secret: str | None
    since_ms: int


class PeopleStore:
    """Reached through `Store.people`. Every method raises StoreTrouble."""

    def __init__(self, writing: Transaction, reading: Transaction) -> None:
        self._writing = writing
        self._reading = reading

    def all(self) -> list[PersonRow]:
        """Everybody, in the order in which they came."""
        with self._reading() as connection:
            return [PersonRow(*row) for row in connection.execute(select(people).order_by(people.c.id))]

    def add(self, name: str, role: str, secret: str, since_ms: int) -> int:
        """A new person; the answer is the id."""
        values = {"name": name, "role": role, "secret": secret, "since_ms": since_ms}
        with self._writing() as connection:
            (key,) = connection.execute(insert(people).values(values)).inserted_primary_key or (0,)
            return int(key)

    def set_secret(self, person: int, secret: str | None) -> None:
        """Another secret, or none any more; whoever is logged in as this person is no longer."""
        with self._writing() as connection:
            connection.execute(update(people).where(people.c.id == person).values(secret=secret))
            connection.execute(delete(sessions).where(sessions.c.person == person))

    def open_session(self, digest: str, person: int, ends_ms: int, now_ms: int) -> None:
        """Keep a session, and throw away those that have ended."""
        with self._writing() as connection:
            connection.execute(delete(sessions).where(sessions.c.ends_ms <= now_ms))
            connection.execute(insert(sessions).values(digest=digest, person=person, ends_ms=ends_ms))

    def end_session(self, digest: str) -> None:
        """Throw a session away."""
        with self._writing() as connection:
            connection.execute(delete(sessions).where(sessions.c.digest == digest))

    def person_of(self, digest: str, now_ms: int) -> PersonRow | None:
        """Whose session this is, as long as it lasts."""
        here = (sessions.c.digest == digest) & (sessions.c.ends_ms > now_ms)
        query = select(people).join(sessions, sessions.c.person == people.c.id).where(here)
        with self._reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else PersonRow(*row)
