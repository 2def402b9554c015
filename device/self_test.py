"""Walks a person through the parts of one table on its display, and reports what works."""

from __future__ import annotations

import ctypes
import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from device.board import Board
from device.buttons import Buttons, NoButtons
from device.debounce import Button, RawEdge
from device.draw import draw
from device.panel import Panel
from device.screen import Screen
from device.storage import volatile_kind
from shared.clock import HandClock, monotonic
from shared.texts import translator

PRESS_S: Final = 15.0
"""So long a person may take to find a button."""
NETWORK_S: Final = 5.0
SLOW_DISK_MS: Final = 500
WRITES: Final = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out for one part."""

    part: str
    ok: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'FAULT'} {self.part}: {self.text}"


@dataclass(frozen=True)
class Bench:
    """What is to be tested."""

    panel: Panel | None
    pin_factory: Callable[[], Any]
    """Raises NoButtons."""
    pins: Mapping[Button, int]
    state_dir: Path
    hub: tuple[str, int]
    language: str
    allow_volatile: bool = False
    press_s: float = PRESS_S
    clock: HandClock = monotonic
    show: Callable[[Screen], None] = lambda _: None
    """Told each picture, display or not."""


class SelfTest:
    """One walk: display, buttons, clock, disk, board, network."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._pgettext = translator(bench.language).pgettext

    def run(self) -> Generator[Finding, None, None]:
        """The findings, as they come; the display is dark again afterwards."""
        panel = self._bench.panel
        try:
            yield self._display()
            yield from self._buttons()
            yield self._time_of_day()
            yield self._disk()
            yield from self._board()
            yield self._network()
        finally:
            if panel is not None:
                panel.stop()

    def _show(self, middle: str, bottom: str = "") -> None:
        screen = Screen(self._pgettext("oled", "SELF-TEST"), top_inverse=True, lines=(middle,), bottom=bottom)
        self._bench.show(screen)
        if self._bench.panel is not None:
            self._bench.panel.show(draw(screen))

    def _display(self) -> Finding:
        panel = self._bench.panel
        if panel is None:
            return Finding("display", True, "none in the settings")
        picture = draw(Screen(self._pgettext("oled", "SELF-TEST"), top_inverse=True))
        panel.show(picture)
        panel.start()
        if panel.wait_sent(picture, NETWORK_S):
            return Finding("display", True, "answers")
        return Finding("display", False, panel.last_error or "does not answer")

    def _buttons(self) -> Iterator[Finding]:
        edges: SimpleQueue[object] = SimpleQueue()
        try:
            buttons = Buttons(self._bench.pin_factory(), edges, self._bench.pins)
        except NoButtons as error:
            busy = " (is the table timer running? sudo systemctl stop table-timer)"
            yield Finding("buttons", False, f"{error}{busy}")
            return
        try:
            held = [button for button, down in buttons.levels().items() if down]
            for button in self._bench.pins:
                if button in held:
                    yield Finding(
                        f"button {button.name}", False, "reads pressed: stuck, or its wire lies on ground"
                    )
                    continue
                yield self._button(button, edges)
        finally:
            buttons.close()

    def _button(self, button: Button, edges: SimpleQueue[object]) -> Finding:
        part = f"button {button.name}"
        self._show(button.name, self._pgettext("oled", "press this button"))
        end_s, others = self._bench.clock() + self._bench.press_s, set[str]()
        while (left_s := end_s - self._bench.clock()) > 0:
            try:
                edge = edges.get(timeout=left_s)
            except Empty:
                break
            if isinstance(edge, RawEdge) and edge.pressed:
                if edge.button is button:
                    return Finding(part, True, "works")
                others.add(edge.button.name)
        crossed = f", but {', '.join(sorted(others))} was: look for crossed wires" if others else ""
        return Finding(part, False, f"was not pressed within {self._bench.press_s:.0f} s{crossed}")

    def _time_of_day(self) -> Finding:
        now = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        set_by_network = clock_is_synchronised()
        text = "set by the network" if set_by_network else "not set by the network (runs do not need it)"
        return Finding("clock", True, f"{now} UTC, {text}")

    def _disk(self) -> Finding:
        folder = self._bench.state_dir
        self._show(self._pgettext("oled", "card"))
        probe = folder / "self-test"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            kind = None if self._bench.allow_volatile else volatile_kind(folder)
            slowest_ms = _slowest_write_ms(probe)
        except OSError as error:
            return Finding("disk", False, f"{folder}: {error.strerror}")
        if kind is not None:
            return Finding("disk", False, f"{folder} is on {kind}: nothing there outlives a power cut")
        return Finding(
            "disk", slowest_ms <= SLOW_DISK_MS, f"{folder}: slowest of {WRITES} writes {slowest_ms} ms"
        )

    def _board(self) -> Iterator[Finding]:
        state = Board(self._bench.state_dir).state(0.0)
        told = {name: value for name, value in state.as_json().items() if value is not None}
        problems = ", ".join(str(problem.code) for problem in state.problems)
        text = ", ".join(f"{name} {value}" for name, value in told.items())
        yield Finding("board", not problems, "; ".join(filter(None, (problems, text))))

    def _network(self) -> Finding:
        host, port = self._bench.hub
        self._show(self._pgettext("oled", "network"))
        try:
            before = self._bench.clock()
            socket.create_connection((host, port), NETWORK_S).close()
        except OSError as error:
            return Finding("network", False, f"no broker at {host}:{port}: {error.strerror or error}")
        took_ms = round((self._bench.clock() - before) * 1000)
        return Finding("network", True, f"the broker at {host}:{port} answers in {took_ms} ms")


def _slowest_write_ms(probe: Path) -> int:
    """Of small writes that are on the card before they count. Raises OSError."""
    slowest_ns = 0
    fd = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        for _ in range(WRITES):
            before_ns = time.monotonic_ns()
            os.write(fd, bytes(200))
            os.fdatasync(fd)
            slowest_ns = max(slowest_ns, time.monotonic_ns() - before_ns)
    finally:
        os.close(fd)
        probe.unlink()
    return slowest_ns // 1_000_000


def clock_is_synchronised() -> bool:
    """Whether the kernel was told by any service of its choice that the time of day is right."""
    time_error, buffer = 5, ctypes.create_string_buffer(256)  # larger than struct timex, zero: only ask
    return ctypes.CDLL(None).adjtimex(buffer) not in (time_error, -1)
