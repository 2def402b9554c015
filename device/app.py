"""One table timer put together: buttons, journal, controller, display and delivery, and the loop that runs them.

Long because it is the one place where a table's parts are made, watched and ended.
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from device.alive import Alive
from device.board import Board
from device.buttons import PINS, Buttons, NoButtons
from device.commands import CommandPorts, Commands
from device.debounce import Button
from device.delivery_files import CURSORS, CursorFile
from device.draw import draw
from device.from_hub import CommandReceived, LinkBroken, LinkSettings, LogArchived
from device.health import NoiseWatch, health
from device.history import History
from device.identity import Identity
from device.journal import Journal, NotSaved
from device.link import Link
from device.outputs import OutputPins, Outputs
from device.panel import Panel
from device.plan_store import PlanStore
from device.quick_test import QuickBench, QuickTests
from device.rest import RestAfter
from device.screen import Screen
from device.signals import Signals
from device.start_up import Check
from device.starts import STEADY_S
from device.storage import volatile_kind
from device.table import Ports, Seat, Table
from device.versions import versions
from shared.clock import HandClock, RunClock, WallClock, monotonic, wall_ms
from shared.core.model import Problem
from shared.notify import Notify
from shared.wire import BadPayload

PLUG_SERIAL = Path("/sys/firmware/devicetree/base/serial-number")
AGAIN_S: Final = 600.0
"""After so long in safe mode, and without a run, a table tries the whole again."""
LOOK_AT_LEVELS_S: Final = 0.05
"""So often the pins are looked at, for an edge that was lost on its way."""


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
    patience_with_full_s: float = 60.0
    """So long a card may be full before logs that the hub has go, and between two of them."""
    allow_volatile: bool = False
    """The journal may lie on a file system that forgets with the power: demos, tests."""
    outputs: OutputPins = field(default_factory=OutputPins)
    rest: RestAfter = field(default_factory=RestAfter)
    safe: bool = False
    """Without hub and plan, until `AGAIN_S` have gone by without a run."""
    steady: Callable[[], None] = _ignore
    """Called once this process has run for `STEADY_S`."""
    notify: Notify = field(default_factory=Notify)
    passed: Callable[[Check], None] = _ignore
    """Told each check of the start once it has passed."""
    wrong_settings: Callable[[], str] | None = None
    """What is wrong with the settings as they are now; None where nobody would start this table again."""
    on_screen: Callable[[Screen], None] = _ignore
    """Told each picture after it was handed to the display."""
    on_seq: Callable[[int, float], None] = _ignore
    """Told each seq when it is durable, with its instant of hand time, for measurements."""


class _Stop:
    """Put into the inbox to end the loop."""


class App:
    """A table timer that runs until stopped."""

    def __init__(self, parts: Parts) -> None:
        """Raises JournalBusy, NotSaved, NoButtons, OSError: nothing has been started then."""
        self._parts = parts
        self._inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        try:
            parts.state_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NotSaved(f"the folder {parts.state_dir} cannot be made: {error.strerror}") from error
        kind = None if parts.allow_volatile else volatile_kind(parts.state_dir)
        if kind is not None:
            raise NotSaved(f"{parts.state_dir} is on {kind}: nothing there outlives a power cut")
        device = parts.link.device
        self._journal = Journal.open(parts.state_dir, device, lambda: f"{device}-{secrets.token_hex(6)}")
        parts.passed(Check.CARD)
        try:
            self._buttons = Buttons(parts.pin_factory, self._inbox, parts.pins)
        except NoButtons:
            self._journal.close()
            raise
        self._levels = self._buttons.levels()
        parts.passed(Check.BUTTONS)
        self._signals, self._outputs = Signals(), Outputs(parts.pin_factory, parts.outputs)
        self._noise, self._board = NoiseWatch(), Board(parts.state_dir)
        self._full_since_s: float | None = None
        self.copied = self._know_the_board()
        self._close_what_is_short()
        self._status: dict[str, object] = {
            "serial": parts.serial,
            "versions": versions(),
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
        parts.passed(Check.CLOCK)
        ports = Ports(
            levels=self._look_at_levels,
            show=self._show,
            publish_state=self._link.publish_state,
            link=lambda: (self._link.hub_online, self._link.unsent),
            copied=self.copied,
            supply_weak=lambda: self._board.state(parts.clock()).weak,
            safe=parts.safe,
            ask_time=self._link.ask_time,
            new_run=lambda: f"{device}-{secrets.token_hex(8)}",
        )
        self.table = Table(
            parts.seat,
            self._history,
            plans,
            ports,
            clock=parts.clock,
            run_clock=parts.run_clock,
            rest=parts.rest,
        )
        self._commands = self._take_commands()

    def _take_commands(self) -> Commands:
        parts = self._parts
        bench = QuickBench(
            display=self._display,
            levels=self._buttons.levels,
            stuck=lambda: frozenset(self.table.presses.stuck),
            outputs=lambda: None if parts.outputs == OutputPins() else self._outputs.problem,
            state_dir=parts.state_dir,
            allow_volatile=parts.allow_volatile,
            hub=(parts.link.host, parts.link.port),
            clock=parts.clock,
        )
        ports = CommandPorts(
            is_over=self.table.is_over,
            in_run=self.table.in_run,
            call=self.table.call,
            test=QuickTests(bench, self._link.reply).begin,
            reload=None if parts.wrong_settings is None else self._reload,
            reply=self._link.reply,
        )
        return Commands(ports)

    def _reload(self) -> str:
        """End, to be started again with the settings as they are now, unless something is wrong with them."""
        wrong = "" if self._parts.wrong_settings is None else self._parts.wrong_settings()
        if not wrong:
            self.stop()
        return wrong

    def _display(self) -> str:
        panel = self._parts.panel
        return "none" if panel is None else "ok" if panel.up else panel.last_error or "starting"

    def _know_the_board(self) -> bool:
        """Whether the card was copied; where another board wrote it, a new log begins."""
        identity = Identity(self._parts.state_dir)
        with suppress(NotSaved, OSError):  # the disk's trouble is shown; the next start tries again
            if identity.log_is_of_another(self._parts.serial):
                self._journal.begin_new_log()
            identity.woke_up(self._parts.serial)
        return identity.copied(self._parts.serial)

    def _close_what_is_short(self) -> None:
        """Where the hub has more of the log than it holds, it lost whole lines: their seqs are not given again."""
        cursor = CursorFile(self._parts.state_dir / CURSORS).load().get(self._journal.log)
        if cursor is not None and cursor.seq > self._journal.last_seq:
            self._journal.close_as_short()

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Run until `stop`; `ready` is called once buttons, journal and display work. Raises what broke.

        NoButtons: no edge can arrive any more. The run is in the journal, a new process goes on with it.
        """
        panel = self._parts.panel
        if panel is not None:
            panel.start()
        if not self.copied and not self._parts.safe:
            self._link.start()
        try:
            self._loop(ready)
        finally:
            self._link.stop()
            self._buttons.close()
            self._outputs.close()
            if panel is not None:
                panel.stop()
            self._journal.close()

    def stop(self) -> None:
        """End the loop; may be called from any thread and from a signal handler."""
        self._inbox.put(_Stop())

    def _loop(self, ready: Callable[[], None]) -> None:
        clock = self._parts.clock
        steady_s, again_s = clock() + STEADY_S, clock() + AGAIN_S
        due = self.table.step(clock(), ())
        self._parts.notify.ready(self._in_a_line(clock()))
        ready()
        while True:
            items = self._next_items(due)
            for item in items:
                match item:
                    case _Stop():
                        self._parts.notify.stopping()
                        return
                    case LinkBroken(error):
                        raise error
                    case LogArchived(log):
                        self._delete(log)
                    case CommandReceived(command):
                        self._obey(command)
            self._watch_parts(clock())
            due = self._signal(self.table.step(clock(), items))
            now = clock()
            if now >= steady_s:
                self._parts.steady()
                steady_s = float("inf")
            if self._parts.safe and now >= again_s and not self.table.in_run(now):
                self.stop()
            self._parts.notify.alive(now)
            self._parts.notify.status(self._in_a_line(clock()))

    def _obey(self, command: Mapping[str, Any]) -> None:
        try:
            self._commands.take(command, self._parts.clock())
        except BadPayload as error:
            self._link.refuses("command", error)

    def _in_a_line(self, now: float) -> str:
        """For `systemctl status`; the installer waits for "no run"."""
        safe = ", safe mode" if self._parts.safe else ""
        return (
            f"table {self._parts.seat.table}{safe}: {'a run is on' if self.table.in_run(now) else 'no run'}"
        )

    def _signal(self, due: float) -> float:
        """Switch buzzer and light, where there are any; gives when the loop has to run again."""
        if self._parts.outputs == OutputPins():
            return due
        now, panel = self._parts.clock(), self._parts.panel
        down = panel is not None and not panel.up
        self._outputs.switch(self._signals.step(now, self.table.facts(now), display_down=down))
        return min(due, self._signals.next_due(now))

    def _look_at_levels(self) -> dict[Button, bool]:
        self._levels = self._buttons.levels()
        return self._levels

    def _next_items(self, due: float) -> list[object]:
        """What comes in until `due`, or nothing as soon as a pin has another level than when last looked at."""
        longest_s = LOOK_AT_LEVELS_S if self._buttons.may_lose_edges else float("inf")
        items: list[object] = []
        while not items:
            wait_s = max(0.0, due - self._parts.clock())
            try:
                items.append(self._inbox.get(timeout=min(wait_s, longest_s)))
            except queue.Empty:
                if wait_s <= longest_s or self._buttons.levels() != self._levels:
                    return []
        while True:
            try:
                items.append(self._inbox.get_nowait())
            except queue.Empty:
                return items

    def _watch_parts(self, now: float) -> None:
        """Raises NoButtons once no edge can arrive; everything else that is wrong is told, and lived with."""
        if not self._buttons.alive:
            raise NoButtons("the thread that hears the buttons has ended")
        if self.table.deaf(now):
            raise NoButtons("the thread that hears the buttons hangs")
        storage, board = self._history.storage, self._board.state(now)
        self._make_room(now, full=storage == "full")
        told = health(
            display=self._display(),
            noise=self.table.noise,
            noisy=self._noise.see(now, self.table.noise),
            stuck=self.table.presses.stuck,
            restamped=self.table.restamped,
            storage=storage,
            findings=[*self._journal.findings, *self._outputs_findings(), *board.problems],
        ) | {"board": board.as_json()}
        before = self._status["health"]
        self._status["health"] = told
        if isinstance(before, dict) and any(told[k] != before.get(k) for k in ("display", "problems")):
            self._link.status_changed()  # counters alone go along with the next one

    def _outputs_findings(self) -> list[Problem]:
        why = self._outputs.problem
        return [Problem("signals_failed", detail={"why": why})] if why else []

    def _make_room(self, now: float, *, full: bool) -> None:
        """Where a card stays full, the oldest log goes that the hub has whole, and people are told.

        Not at once and one by one: what fills a card for a moment must not cost what a hub may ask for again.
        """
        if not full:
            self._full_since_s = None
            return
        if self._full_since_s is None:
            self._full_since_s = now
        if now < self._full_since_s + self._parts.patience_with_full_s:
            return
        self._full_since_s = now
        for log in self._link.delivered_logs:
            if self._delete(log):
                self._journal.findings.append(Problem("log_deleted", log=log))
                return

    def _delete(self, log: str) -> bool:
        """Delete a log if the hub has all of it and nothing here needs it."""
        if log not in self._link.delivered_logs or not self._history.delete_log(log):
            return False
        self._link.deleted(log)
        return True

    def _written(self) -> None:
        self._status["log"] = self._journal.log
        self._parts.on_seq(self._journal.last_seq, self._parts.clock())
        self._link.journaled()

    def _show(self, screen: Screen) -> None:
        if self._parts.panel is not None:
            self._parts.panel.show(draw(screen), screen.glow)
        self._parts.on_screen(screen)


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
