"""One table timer put together: buttons, journal, controller, display and delivery, and the loop that runs them."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from device.alive import Alive
from device.buttons import PINS, Buttons
from device.debounce import Button
from device.draw import draw
from device.from_hub import LinkBroken, LinkSettings
from device.history import History
from device.journal import Journal
from device.link import Link
from device.panel import Panel
from device.plan_store import PlanStore
from device.screen import Screen
from device.table import Ports, Seat, Table
from shared.clock import HandClock, RunClock, WallClock, monotonic, wall_ms

PLUG_SERIAL = Path("/sys/firmware/devicetree/base/serial-number")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def _ignore(*_: object) -> None:
    """Nobody wants to be told."""


@dataclass(frozen=True)
class Parts:
    """What one table timer is made of; the virtual table brings other pins, bus and clock, nothing else."""

    seat: Seat
    link: LinkSettings
    state_dir: Path
    boot: str
    pin_factory: Any
    panel: Panel | None
    pins: Mapping[Button, int] = field(default_factory=lambda: PINS)
    clock: HandClock = monotonic
    run_clock: RunClock = field(default_factory=RunClock)
    wall: WallClock = wall_ms
    serial: str | None = None
    on_screen: Callable[[Screen], None] = _ignore
    """Told each picture after it was handed to the display."""
    on_seq: Callable[[int, float], None] = _ignore
    """Told each seq when it is durable, with its instant of hand time, for measurements."""


class _Stop:
    """Put into the inbox to end the loop."""


class App:
    """A table timer that runs until stopped."""

    def __init__(self, parts: Parts) -> None:
        """Raises JournalBusy, NoButtons, OSError: nothing has been started then."""
        self._parts = parts
        self._inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        parts.state_dir.mkdir(parents=True, exist_ok=True)
        device = parts.link.device
        self._journal = Journal.open(parts.state_dir, device, lambda: f"{device}-{secrets.token_hex(6)}")
        self._buttons = Buttons(parts.pin_factory, self._inbox, parts.pins)
        self._status: dict[str, object] = {
            "serial": parts.serial,
            "versions": {"table-timer": version("puzzle-table-timer")},
            "log": self._journal.log,
            "boot": parts.boot,
            "table": parts.seat.table,
            "health": {},
        }
        self._link = Link(parts.link, self._journal, parts.state_dir, self._inbox, self._status, parts.clock)
        plans = PlanStore(parts.state_dir)
        self._history = History(
            self._journal,
            plans,
            Alive(parts.state_dir / "alive"),
            boot=parts.boot,
            run_clock=parts.run_clock,
            wall=parts.wall,
            clock=parts.clock,
            written=self._written,
        )
        ports = Ports(
            levels=self._buttons.levels,
            show=self._show,
            publish_state=self._link.publish_state,
            link=lambda: (self._link.hub_online, self._link.unsent),
            new_run=lambda: f"{device}-{secrets.token_hex(8)}",
        )
        self.table = Table(
            parts.seat, self._history, plans, ports, clock=parts.clock, run_clock=parts.run_clock
        )

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Run until `stop`; `ready` is called once buttons, journal and display work. Raises what broke."""
        panel = self._parts.panel
        if panel is not None:
            panel.start()
        self._link.start()
        try:
            self._loop(ready)
        finally:
            self._link.stop()
            self._buttons.close()
            if panel is not None:
                panel.stop()
            self._journal.close()

    def stop(self) -> None:
        """End the loop; may be called from any thread and from a signal handler."""
        self._inbox.put(_Stop())

    def _loop(self, ready: Callable[[], None]) -> None:
        clock = self._parts.clock
        due = self.table.step(clock(), ())
        ready()
        while True:
            items = self._next_items(max(0.0, due - clock()))
            for item in items:
                if isinstance(item, _Stop):
                    return
                if isinstance(item, LinkBroken):
                    raise item.error
            self._watch_display()
            due = self.table.step(clock(), items)

    def _next_items(self, timeout_s: float) -> list[object]:
        try:
            items = [self._inbox.get(timeout=timeout_s)]
        except queue.Empty:
            return []
        while True:
            try:
                items.append(self._inbox.get_nowait())
            except queue.Empty:
                return items

    def _watch_display(self) -> None:
        panel = self._parts.panel
        if panel is not None:
            self._status["health"] = {"display": "ok" if panel.up else panel.last_error or "starting"}

    def _written(self) -> None:
        self._parts.on_seq(self._journal.last_seq, self._parts.clock())
        self._link.journaled()

    def _show(self, screen: Screen) -> None:
        if self._parts.panel is not None:
            self._parts.panel.show(draw(screen))
        self._parts.on_screen(screen)


def kernel_boot_id() -> str:
    """The id of this boot of the machine. Raises OSError."""
    return BOOT_ID.read_text(encoding="ascii").strip()


def hardware_serial() -> str | None:
    """The serial number of the board; None on a machine without one."""
    try:
        return PLUG_SERIAL.read_text(encoding="ascii", errors="replace").strip("\0\n ") or None
    except OSError:
        return None


def on_thread_death(stop: Callable[[], None]) -> None:
    """Nothing is logged and passed over: a thread that dies of our bug ends the process, loudly."""
    shout = threading.excepthook

    def died(args: threading.ExceptHookArgs) -> None:
        shout(args)
        stop()

    threading.excepthook = died
