"""Who may do what at the hub: organisers with a password, judges with a printed PIN, and their sessions."""

from __future__ import annotations

import hashlib
import secrets
import threading
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hub.passwords import LEAST_LETTERS, MOST_LETTERS, fits, hashed, new_pin
from hub.store import Store
from hub.store_people import PersonRow
from hub.throttle import Throttle
from shared.clock import HandClock, WallClock

SESSION_S: Final = 24 * 3600
"""A login lasts a day of competition, also over restarts of the hub."""
LONGEST_NAME: Final = 80
MAY: Final = "may_log_in"
MAY_NOT: Final = "may_not_log_in"
"""What somebody could and can, in the audit."""


class Role(StrEnum):
    """What somebody is at the tournament."""

    ORGANISER = "organiser"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may log in, or could before."""

    id: int
    name: str
    role: Role
    since_ms: int
    dismissed: bool = False

    @property
    def organises(self) -> bool:
        """Whether everything is allowed."""
        return self.role is Role.ORGANISER


class NotLetIn(Exception):
    """No such name with such a password or PIN."""


class TooManyTries(Exception):
    """Too many wrong ones with this name or from this address, or too many at once; `wait_s`: how long to wait."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"wait {wait_s:.0f} s")
        self.wait_s = wait_s


class BadPerson(ValueError):
    """A name or password that cannot be taken; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class People:
    """Logins of one hub. Methods may wait for disk and argon2, and may be called from any thread.

    Every method raises StoreTrouble.
    """

    def __init__(self, store: Store, *, wall: WallClock, hand: HandClock) -> None:
        self._store = store
        self._people = store.people
        self._wall = wall
        self._hand = hand
        self._throttle = Throttle()
        self._trying = threading.Lock()

    # Logins ------------------------------------------------------------------------------------

    def has_organiser(self) -> bool:
        """Whether anybody was ever set up: there is no default password, so nobody can log in before."""
        return any(row.role == Role.ORGANISER for row in self._people.all())

    def set_up(self, name: str, password: str) -> Person:
        """The first organiser. Raises BadPerson."""
        with self._trying:
            if self.has_organiser():
                raise BadPerson("set_up_before")
            return self._add(name, Role.ORGANISER, _password(password), by=name)

    def log_in(self, name: str, secret: str, address: str) -> str:
        """The token of a new session. Raises NotLetIn, TooManyTries."""
        with self._trying:  # or many tries at once would all be the first one
            tried = _folded(name)[:LONGEST_NAME] or "?"
            wait_s = self._throttle.wait_s(address, tried, self._hand())
            if wait_s > 0:
                raise TooManyTries(wait_s)
            row = self._named(name)
            if not fits(None if row is None else row.secret, secret[:MOST_LETTERS]) or row is None:
                if self._throttle.wrong(address, tried, self._hand()):
                    # What nobody is called may be a password in the wrong field.
                    self._note("?", "slowed_down", address if row is None else f"{address} · {row.name}")
                raise NotLetIn
            self._throttle.right(address, tried)
        token, now_ms = secrets.token_urlsafe(32), self._wall()
        self._people.open_session(_digest(token), row.id, now_ms + SESSION_S * 1000, now_ms)
        self._note(row.name, "logged_in", address)
        return token

    def called(self, name: str) -> str | None:
        """The name of whoever is called so, as it was given; None if nobody is."""
        row = self._named(name)
        return None if row is None else row.name

    def who(self, token: str) -> Person | None:
        """Whose session this is; None for one that has ended, or never was."""
        row = self._people.person_of(_digest(token), self._wall())
        return None if row is None or row.secret is None else _person(row)

    def log_out(self, token: str) -> None:
        """End a session."""
        self._people.end_session(_digest(token))

    def change_password(self, person: Person, old: str, new: str, address: str) -> None:
        """Another password; it ends the sessions on all devices. Raises NotLetIn, TooManyTries, BadPerson."""
        new = _password(new)
        self.log_out(self.log_in(person.name, old, address))
        self._people.set_secret(person.id, hashed(new))
        self._note(person.name, "password_changed", person.name)

    def force_password(self, name: str, password: str) -> Person:
        """An organiser's password, whoever had which before: for the command line. Raises BadPerson."""
        password, row = _password(password), self._named(name)
        if row is None:
            return self._add(name, Role.ORGANISER, password, by="timer-hub password")
        if row.role != Role.ORGANISER:
            raise BadPerson("name_taken")
        self._people.set_secret(row.id, hashed(password))
        self._note("timer-hub password", "password_changed", row.name)
        return _person(row)

    # Judges ------------------------------------------------------------------------------------

    def judges(self) -> list[Person]:
        """All judges, dismissed ones too."""
        return [_person(row) for row in self._people.all() if row.role == Role.JUDGE]

    def let_in(self, name: str, by: str) -> tuple[Person, str]:
        """A new judge and the PIN, which is never shown again. Raises BadPerson."""
        pin = new_pin()
        return self._add(name, Role.JUDGE, pin, by=by), pin

    def renew_pin(self, judge: int, by: str) -> tuple[Person, str]:
        """Another PIN for a judge, also one dismissed before. Raises BadPerson for nobody."""
        person, pin = self._judge(judge), new_pin()
        self._people.set_secret(judge, hashed(pin))
        self._note(by, "pin_renewed", person.name, was=_may(person), became=MAY)
        return person, pin

    def dismiss(self, judge: int, by: str) -> Person:
        """The judge may not log in any more, and is logged out everywhere. Raises BadPerson for nobody."""
        person = self._judge(judge)
        self._people.set_secret(judge, None)
        self._note(by, "judge_dismissed", person.name, was=_may(person), became=MAY_NOT)
        return person

    # -------------------------------------------------------------------------------------------

    def _add(self, name: str, role: Role, secret: str, by: str) -> Person:
        name, now_ms = _name(name), self._wall()
        if self._named(name) is not None:
            raise BadPerson("name_taken")
        key = self._people.add(name, role, hashed(secret), now_ms)
        self._note(by, "set_up" if role is Role.ORGANISER else "judge_let_in", name, became=MAY)
        return Person(key, name, role, now_ms)

    def _judge(self, key: int) -> Person:
        for judge in self.judges():
            if judge.id == key:
                return judge
        raise BadPerson("nobody")

    def _named(self, name: str) -> PersonRow | None:
        wanted = _folded(name)
        return next((row for row in self._people.all() if _folded(row.name) == wanted), None)

    def _note(self, by: str, deed: str, about: str, *, was: str = "", became: str = "") -> None:
        self._store.audit.note(by, deed, about, self._wall(), was=was, became=became)


def _person(row: PersonRow) -> Person:
    return Person(row.id, row.name, Role(row.role), row.since_ms, row.secret is None)


def _may(person: Person) -> str:
    return MAY_NOT if person.dismissed else MAY


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _folded(name: str) -> str:
    """A phone writes the first letter large, and accents in its own way."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def _name(name: str) -> str:
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if not name:
        raise BadPerson("name_empty")
    if len(name) > LONGEST_NAME or any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        raise BadPerson("name_bad")
    return name


def _password(password: str) -> str:
    if not LEAST_LETTERS <= len(password) <= MOST_LETTERS:
        raise BadPerson("password_short" if len(password) < LEAST_LETTERS else "password_long")
    return password
