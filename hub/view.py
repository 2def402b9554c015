"""The live view that pages ask: the projection behind a lock, with a revision and listeners."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from hub.planning import Begun
from hub.projection import Names, Projection
from shared.clock import HandClock, WallClock
from shared.core.events import Event
from shared.core.model import State
from shared.plan import Resume
from shared.rulebook import Rulebook
from shared.wire import RunRulings

T = TypeVar("T")


class View:
    """What the hub knows, for any number of threads. Each answer is one consistent snapshot."""

    def __init__(
        self,
        rulebook: Rulebook,
        *,
        hand: HandClock,
        wall: WallClock,
        speed: float = 1.0,
        timer_pages: str | None = None,
        health: Callable[[], dict[str, Any]] = dict,
        connected: Callable[[], bool] = lambda: True,
    ) -> None:
        self._projection = Projection(rulebook)
        self._hand = hand
        self._wall = wall
        self._speed = speed
        self._timer_pages = timer_pages
        self._health = health
        self._connected = connected
        self._lock = threading.Lock()
        self._revision = 0
        self._standings: tuple[int, dict[str, Any]] | None = None
        self._listeners: list[Callable[[], None]] = []

    # What pages ask ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Grows with every change that any page could show."""
        return self._revision

    @property
    def speed(self) -> float:
        """Run clock seconds in one second of real time."""
        return self._speed

    @property
    def tournament(self) -> str:
        """The tournament's name."""
        return self._projection.rulebook.name

    @property
    def timer_pages(self) -> str | None:
        """Base address of the virtual tables' pages, where there are any."""
        return self._timer_pages

    def standings(self) -> dict[str, Any]:
        """The answer of `/api/v1/standings`."""
        with self._lock:
            if self._standings is None or self._standings[0] != self._revision:
                self._standings = self._revision, self._projection.standings()
            return self._standings[1]

    def tables(self) -> list[dict[str, Any]]:
        """The tables of `/api/v1/tables`."""
        with self._lock:
            tables = self._projection.tables(self._hand())
        if not self._connected():  # no table is heard without the broker
            tables = [table | {"online": False} for table in tables]
        return tables

    def runs_on(self) -> int:
        """How many tables said last, and not long ago, that a run is in play there."""
        over = (None, State.READY, State.TIME_UP, State.SEALED)
        return sum(table["online"] and table["state"] not in over for table in self.tables())

    def start_spread(self) -> dict[str, float]:
        """How many tables obeyed the newest start order, and how far apart in real milliseconds they started."""
        with self._lock:
            tables, apart_ms = self._projection.start_spread_ms()
        return {"tables": tables, "spread_ms": round(apart_ms / self._speed, 1)}

    def resumes(self, seats: Mapping[int, str]) -> dict[int, Resume]:
        """By table the run in play that another device than the one of its seat began."""
        with self._lock:
            return self._projection.resumes(seats)

    def voided(self) -> dict[int, tuple[str, ...]]:
        """By table the runs that were voided."""
        with self._lock:
            return self._projection.voided()

    def begun(self) -> tuple[Begun, dict[str, str]]:
        """Runs that have begun, by whom they are of, with their logs; and the log that each device writes."""
        with self._lock:
            return self._projection.begun(), self._projection.logs()

    def told_rulings(self) -> dict[str, RunRulings]:
        """By device the rulings in force on the run that it shows."""
        with self._lock:
            return self._projection.told_rulings()

    def claims(self) -> dict[str, int]:
        """The table that each device that is online says it stands on."""
        with self._lock:
            return self._projection.claims()

    def read(self, ask: Callable[[Projection], T]) -> T:
        """The answer to a question about runs; it may keep nothing that changes."""
        with self._lock:
            return ask(self._projection)

    def health(self) -> dict[str, Any]:
        """The answer of `/healthz`."""
        return self._health()

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on every change, from any thread; the answer ends that."""
        with self._lock:
            self._listeners.append(wake)

        def end() -> None:
            with self._lock, suppress(ValueError):
                self._listeners.remove(wake)

        return end

    # What the hub tells it ---------------------------------------------------------------------

    def apply(self, events: Iterable[Event]) -> None:
        """Committed events, in commit order."""
        with self._lock:
            for event in events:
                self._projection.apply(event)
        self.changed()

    def hear(self, device: str, kind: str, payload: Mapping[str, Any], hand_s: float | None) -> None:
        """A table tells of itself."""
        with self._lock:
            self._projection.hear(device, kind, payload, hand_s, self._wall())
        self.changed()

    def plan(self, names: Names, seats: Mapping[int, str]) -> None:
        """Public names and seats, as the plan has them now."""
        with self._lock:
            self._projection.names, self._projection.seats = names, dict(seats)
            self._projection.tournament.flags = names.flags
        self.changed()

    def junk(self, devices: frozenset[str]) -> None:
        """Devices that have sent more that nobody can read than is kept of one."""
        with self._lock:
            news = devices != self._projection.junk
            self._projection.junk = devices
        if news:
            self.changed()

    def changed(self) -> None:
        """Something that a page could show is different: tell all listeners."""
        with self._lock:
            self._revision += 1
            listeners = list(self._listeners)
        for wake in listeners:
            wake()
