"""The hub put together: store, ingest, live view and pages, from start to a clean end."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from hub.ingest import HubClock, Ingest, IngestSettings
from hub.planning import plans_for
from hub.projection import names_from
from hub.store import PlanRow, Store, StoreTrouble
from hub.view import View
from hub.web.app import create_app
from hub.web.server import Server
from hub.web.settings import WebSettings
from shared.clock import HandClock, WallClock, monotonic, wall_ms
from shared.rulebook import Rulebook

LOOK_EVERY_S: Final = 1.0
"""How often a plan loaded by another process is looked for."""


@dataclass(frozen=True)
class HubParts:
    """What a hub is made of."""

    rulebook: Rulebook
    database: Path
    broker: IngestSettings
    web_host: str = "127.0.0.1"
    web_port: int = 8000
    speed: float = 1.0
    timer_pages: str | None = None
    hand: HandClock = monotonic
    wall: WallClock = wall_ms


class Hub:
    """A hub that runs until stopped."""

    def __init__(self, parts: HubParts, broken: Callable[[BaseException | None], None]) -> None:
        """`broken` hears of a thread that ended by an error of ours. Raises StoreUnusable, PortTaken …"""
        self._parts = parts
        self._store = Store.open(parts.database, parts.wall)
        self._view = View(
            parts.rulebook,
            hand=parts.hand,
            wall=parts.wall,
            speed=parts.speed,
            timer_pages=parts.timer_pages,
            health=self.health,
        )
        self._view.apply(self._store.events_in_order())
        self._plan: tuple[list[PlanRow], dict[int, str]] = ([], {})
        self._trouble = ""
        self._ingest = Ingest(
            parts.broker,
            self._store,
            HubClock(lambda: int(parts.hand() * 1_000_000), f"hub-{uuid.uuid4().hex[:12]}"),
            on_committed=self._view.apply,
            on_snapshot=self._hear,
            on_broken=broken,
            plans=lambda: plans_for(self._plan[1], self._plan[0], parts.rulebook),
            hand=parts.hand,
            wall=parts.wall,
        )
        app = create_app(self._view, settings=WebSettings(zone=parts.rulebook.zone, hand=parts.hand))
        self._server = Server(app, host=parts.web_host, port=parts.web_port, died=lambda: broken(None))
        self._stopping = threading.Event()
        self._look_now = threading.Event()
        self._looking = threading.Thread(target=self._look, name="plan", daemon=True)

    @property
    def port(self) -> int:
        """Where the pages are served."""
        return self._server.port

    def start(self) -> None:
        """Begin to serve and to read. Raises CannotListen before anything is started."""
        self._take_plan()
        self._server.start()
        self._ingest.start()
        self._looking.start()

    def stop(self) -> None:
        """End in order: no more pages, what has arrived is committed, the database is closed."""
        self._stopping.set()
        self._look_now.set()
        self._server.stop()
        self._ingest.stop()
        if self._looking.ident is not None:
            self._looking.join(LOOK_EVERY_S + 1)
        self._store.close()

    def health(self) -> dict[str, Any]:
        """Whether the hub works, with its counters."""
        counters = asdict(self._ingest.counters)
        try:
            counters["kept_aside"] = self._store.quarantine_count()
        except StoreTrouble as error:
            counters["trouble"] = f"database: {error}"
        trouble = counters.pop("trouble") or self._trouble
        ok = self._ingest.alive() and not trouble.startswith("database")
        return {"ok": ok, "trouble": trouble, **counters}

    def _hear(self, device: str, kind: str, payload: dict[str, Any], hand_s: float | None) -> None:
        if kind == "status" and payload.get("online") is True:
            self._seat(device, payload.get("table"))
        self._view.hear(device, kind, payload, hand_s)

    def _seat(self, device: str, table: object) -> None:
        """A device that was never seated takes the free table that its settings name."""
        seats = self._plan[1]
        free = type(table) is int and table > 0 and table not in seats and device not in seats.values()
        if not free or type(table) is not int:
            return
        try:
            self._store.set_seat(table, device)
        except StoreTrouble as error:  # its next status asks again
            self._trouble = f"database: {error}"
        else:
            self._look_now.set()

    def _look(self) -> None:
        while not self._stopping.is_set():
            self._look_now.wait(LOOK_EVERY_S)
            self._look_now.clear()
            try:
                self._take_plan()
            except StoreTrouble as error:
                self._trouble = f"database: {error}"
            else:
                self._trouble = ""

    def _take_plan(self) -> None:
        """Use the plan and seats as the database has them, and tell the tables what is new."""
        rows, seats = self._store.plan_rows(), self._store.seats()
        if (rows, seats) == self._plan:
            return
        before = plans_for(self._plan[1], self._plan[0], self._parts.rulebook)
        self._plan = rows, seats
        self._view.plan(names_from((r.category, r.entrant, r.public_name, r.flags) for r in rows), seats)
        for device, plan in plans_for(seats, rows, self._parts.rulebook).items():
            if before.get(device) != plan:
                self._ingest.publish_plan(device, plan)
