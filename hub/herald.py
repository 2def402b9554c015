"""What tables and everybody else are told and stays told: start order, plans, rulings, standings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from hub.plan_day import plan_day
from hub.planning import plans_for
from hub.projection import names_from
from hub.public_standings import public_standings
from hub.start_orders import told_order
from hub.store import Store
from hub.view import View
from shared.clock import HubClock
from shared.rulebook import Rulebook
from shared.topics import Topics

Send = Callable[[str, Mapping[str, Any]], object]
"""Publish a retained payload on a topic; without a connection it may go nowhere, the next one says all."""


class Herald:
    """Looks at the database, which other processes change too, and at the live view; says what is new."""

    def __init__(
        self, store: Store, view: View, rulebook: Rulebook, clock: HubClock, topics: Topics, send: Send
    ) -> None:
        self._store = store
        self._view = view
        self._rulebook = rulebook
        self._clock = clock
        self._topics = topics
        self._send = send
        self._said: dict[str, Mapping[str, Any]] = {}
        self._lock = threading.Lock()
        self._made_from: object = None
        """What the plans were made from."""
        self.seats: Mapping[int, str] = {}
        """The device of each table, as of the last look."""

    def said(self) -> dict[str, Mapping[str, Any]]:
        """Everything that stays said, by topic: a broker may have forgotten it."""
        with self._lock:
            return dict(self._said)

    def look(self) -> None:
        """Say what is new. Raises StoreTrouble."""
        order = told_order(self._store, self._clock)
        if order is not None:
            self._say(self._topics.start, order.as_json())
        for device, told in self._view.told_rulings().items():
            self._say(self._topics.down_rulings(device), told.as_json())
        self._tell_plans()
        for category, payload in public_standings(self._view.standings()).items():
            self._say(self._topics.standings(category), payload)

    def _tell_plans(self) -> None:
        store, view = self._store, self._view
        rows, seats, day = store.plan_rows(), store.seats(), plan_day(store)
        claims, resumes, voided = view.claims(), view.resumes(seats), view.voided()
        begun, logs = view.begun()
        made_from = (rows, seats, day, claims, resumes, voided, begun, logs)
        if made_from == self._made_from:
            return
        self._made_from, self.seats = made_from, seats
        view.plan(names_from((r.category, r.entrant, r.public_name, r.flags) for r in rows), seats)
        plans = plans_for(seats, rows, self._rulebook, day, claims, resumes, voided, begun, logs)
        for device, plan in plans.items():
            self._say(self._topics.down_plan(device), plan)

    def _say(self, topic: str, payload: Mapping[str, Any]) -> None:
        with self._lock:
            if self._said.get(topic) == payload:
                return
            self._said[topic] = payload
        self._send(topic, payload)
