"""The hub put together: store, ingest, live view and pages, from start to a clean end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from hub.archived import archived_up_to
from hub.backup_keeper import BackupKeeper
from hub.herald import Herald
from hub.hub_boots import NOTE_EVERY_S, SURE_MS, HubBoots
from hub.hub_lock import HubLock
from hub.ingest import Ingest, IngestSettings
from hub.office import open_office
from hub.start_orders import cancel_start, close_start, order_start
from hub.store import Store, StoreTrouble
from hub.table_answer import answer_from
from hub.view import View
from hub.web.app import create_app
from hub.web.server import Server
from hub.web.settings import WebSettings
from shared.clock import HandClock, HubClock, WallClock, machine_clock, monotonic, wall_error_ms, wall_ms
from shared.core.events import Event, EventType
from shared.rulebook import Rulebook
from shared.wire import StartOrder

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
    clock: HubClock = field(default_factory=machine_clock)
    """What tables compare their own clocks with; real time, also in a demo."""
    wall_error: Callable[[], int | None] = wall_error_ms
    """How far off the wall clock may be; None while nobody vouches for it."""


class Hub:
    """A hub that runs until stopped."""

    def __init__(self, parts: HubParts, broken: Callable[[BaseException | None], None]) -> None:
        """`broken` hears of a thread that ended by an error of ours. Raises StoreUnusable, PortTaken …"""
        self._parts = parts
        self._lock = HubLock(parts.database)
        try:
            self._store = Store.open(parts.database, parts.wall)
            past = list(self._store.events_in_order())
        except BaseException:
            self._lock.release()  # for who mends the database
            raise
        self._backups = BackupKeeper(parts.database, broken, hand=parts.hand, wall=parts.wall)
        self._backups.knows(past)
        self._view = View(
            parts.rulebook,
            hand=parts.hand,
            wall=parts.wall,
            speed=parts.speed,
            timer_pages=parts.timer_pages,
            health=self.health,
            connected=lambda: self._ingest.counters.connected,
        )
        self._view.apply(past)
        self._boots, self._vouch_at_s = HubBoots(parts.clock.base), float("-inf")
        for event in past:
            self._boots.apply(event)
        self._trouble = ""
        self._was_well = (False, "ok", "ok")
        """What of the hub itself the pages told last: connected, database, backups."""
        self._ingest = Ingest(
            parts.broker,
            self._store,
            parts.clock,
            on_committed=self._committed,
            on_snapshot=self._hear,
            on_broken=broken,
            standing=lambda: self._herald.said(),
            earlier=self._boots.earlier,
            hand=parts.hand,
            wall=parts.wall,
        )
        self._herald = Herald(
            self._store, self._view, parts.rulebook, parts.clock, self._ingest.topics, self._say
        )
        office = open_office(self._store, self._view, wall=parts.wall, hand=parts.hand, clock=parts.clock)
        self._asking = office.asking
        self._asked: dict[str, str] = {}
        """By device the id of the command that it was told last."""
        app = create_app(self._view, office, settings=WebSettings(zone=parts.rulebook.zone, hand=parts.hand))
        self._server = Server(app, host=parts.web_host, port=parts.web_port, died=lambda: broken(None))
        self._stopping = threading.Event()
        self._look_now = threading.Event()
        self._looking = threading.Thread(target=self._look, name="plan", daemon=True)

    @property
    def port(self) -> int:
        """Where the pages are served."""
        return self._server.port

    @property
    def connected(self) -> bool:
        """Whether the broker is reached."""
        return self._ingest.counters.connected

    @property
    def alive(self) -> bool:
        """Whether everything that has to run does; a broker or a database that is away does not count."""
        return self._ingest.alive() and self._looking.is_alive()

    def in_a_line(self) -> str:
        """For `systemctl status`; the installer waits for "no run"."""
        runs = self._view.runs_on()
        return {0: "no run", 1: "1 run is on"}.get(runs, f"{runs} runs are on")

    def start(self) -> None:
        """Begin to serve and to read. Raises CannotListen before anything is started."""
        self._look_once()
        self._server.start()
        self._ingest.start()
        self._backups.start()
        self._looking.start()

    def stop(self) -> None:
        """End in order: no more pages, what has arrived is committed, the database is closed."""
        self._stopping.set()
        self._look_now.set()
        self._server.stop()
        self._ingest.stop()
        self._backups.stop()
        if self._looking.ident is not None:
            self._looking.join(LOOK_EVERY_S + 1)
        self._store.close()
        self._lock.release()

    def health(self) -> dict[str, Any]:
        """Whether the hub works, with its counters."""
        counters = asdict(self._ingest.counters)
        try:
            counters["kept_aside"] = self._store.quarantine_count()
            junk = self._store.sends_junk()
            counters["send_junk"], counters["left_out"] = len(junk), sum(junk.values())
        except StoreTrouble as error:
            counters["trouble"], counters["database"] = f"database: {error}", error.code
        trouble = counters.pop("trouble") or self._trouble or self._backups.trouble
        ok = self._ingest.alive() and counters["connected"] and not trouble.startswith("database")
        counters["backups"], counters["backup"] = self._backups.made, self._backups.code
        return {"ok": ok, "trouble": trouble, **counters, "start": self._view.start_spread()}

    def _committed(self, events: list[Event]) -> None:
        self._view.apply([*events, *self._heard(events)])
        self._backups.saw(events)

    def _heard(self, events: list[Event]) -> list[Event]:
        """When the hub heard of a table's new boot, noted in its own log: a run that was on began no later."""
        clock, speed, noted = self._parts.clock, self._parts.speed, []
        for event in events:
            if event.type != EventType.BOOT_STARTED:
                continue
            read = {
                "hub_ms": round(clock.now_ms() * speed),
                "base": clock.base if speed == 1 else f"{clock.base}-x{speed:g}",
                "error_ms": 0,
                "heard": event.boot,
                "heard_ms": event.mono_ms,
            }
            with suppress(StoreTrouble):  # a bound less; the table's own anchor follows
                noted.append(self._store.record(EventType.CLOCK_ANCHORED, read, wall_ms=self._parts.wall()))
        return noted

    # Common starts -----------------------------------------------------------------------------

    def order_start(self, heat: str, in_s: float) -> StartOrder:
        """Let the tables of a heat start in so many seconds. Raises CannotOrder, StoreTrouble."""
        return self._ordered(order_start(self._store, self._parts.clock, heat, in_s))

    def cancel_start(self) -> StartOrder:
        """Take the order back before its start has come. Raises CannotOrder, StoreTrouble."""
        return self._ordered(cancel_start(self._store, self._parts.clock))

    def close_start(self) -> StartOrder:
        """Let no late table start by itself any more. Raises CannotOrder, StoreTrouble."""
        return self._ordered(close_start(self._store, self._parts.clock))

    def _ordered(self, order: StartOrder) -> StartOrder:
        self._look_now.set()
        return order

    def _say(self, topic: str, payload: Mapping[str, Any]) -> bool:
        return self._ingest.send(topic, payload, retain=True)

    # What tables tell --------------------------------------------------------------------------

    def _hear(self, device: str, kind: str, payload: dict[str, Any], hand_s: float | None) -> None:
        self._view.hear(device, kind, payload, hand_s)
        if kind == "reply":
            self._keep_answer(device, payload)
        if kind == "status":
            if payload.get("online") is True:
                self._seat(device, payload.get("table"))
            self._look_now.set()  # it may stand where another one does

    def _keep_answer(self, device: str, payload: dict[str, Any]) -> None:
        answer = answer_from(payload)
        if answer is not None:
            try:
                self._asking.answered(device, answer)
            except StoreTrouble as error:  # whoever asked asks again
                self._trouble = f"database: {error}"

    def _seat(self, device: str, table: object) -> None:
        """A device that was never seated takes the free table that its settings name."""
        seats = self._herald.seats
        free = type(table) is int and table > 0 and table not in seats and device not in seats.values()
        if not free or type(table) is not int:
            return
        try:
            self._store.set_seat(table, device)
        except StoreTrouble as error:  # its next status asks again
            self._trouble = f"database: {error}"

    def _look(self) -> None:
        while not self._stopping.is_set():
            self._look_now.wait(LOOK_EVERY_S)
            self._look_now.clear()
            self._watch_broker()
            try:
                self._look_once()
            except StoreTrouble as error:
                self._trouble = f"database: {error}"
            else:
                self._trouble = ""

    def _watch_broker(self) -> None:
        """The pages tell at once when no table can be heard, nothing is kept, or no backup is made."""
        counters = self._ingest.counters
        well = (counters.connected, counters.database, self._backups.code)
        if well != self._was_well:
            self._was_well = well
            self._view.changed()

    def _look_once(self) -> None:
        """What other processes have put in the database, and who stands where: tell everybody what is new."""
        self._ingest.archived_are(archived_up_to(self._store))
        self._view.junk(frozenset(self._store.sends_junk()))
        self._note_boot()
        self._herald.look()
        self._ask_tables()

    def _note_boot(self) -> None:
        """Now and then what the hub's clock read at a wall time that the kernel vouches for: it outlives a reboot."""
        now, parts = self._parts.hand(), self._parts
        error_ms = parts.wall_error()
        due = now >= self._vouch_at_s or not self._boots.noted
        if not due or error_ms is None or error_ms > SURE_MS:
            return
        hub_ms, wall, later_ms = parts.clock.now_ms(), parts.wall(), parts.clock.now_ms()
        read = {"hub_ms": hub_ms, "base": parts.clock.base, "error_ms": error_ms + later_ms - hub_ms}
        noted = self._store.record(EventType.CLOCK_ANCHORED, read, wall_ms=wall)
        self._boots.apply(noted)
        self._view.apply([noted])
        self._vouch_at_s = now + NOTE_EVERY_S

    def _ask_tables(self) -> None:
        """Say what people ask of tables, each thing once; without a connection again at the next look."""
        for device, command in self._asking.asked().items():
            if self._asked.get(device) == command.id:
                continue
            topic = self._ingest.topics.down_command(device)
            if self._ingest.send(topic, command.as_json(), retain=False):
                self._asked[device] = command.id
