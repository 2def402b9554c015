"""What the display costs and how fast it wakes: the real app and driver on a bus as slow as 400 kHz."""

from __future__ import annotations

import errno
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from device.app import App, Parts
from device.buttons import MockPins, open_factory
from device.debounce import Button
from device.draw import draw
from device.fakes.bus import RecordedBus
from device.from_hub import LinkSettings
from device.panel import SIZE, Panel
from device.rest import RestAfter
from device.screen import Screen
from device.table import Seat
from shared.clock import RunClock
from shared.rulebook import shipped_rulebook
from tests.bench.figures import Figure, figure
from tests.device.fakechip.chip import missing
from tests.device.glass import a_run, shows_running_time
from tests.device.glass import a_table as the_program
from tests.waiting import wait_until

BUS_HZ: Final = 400_000
DARK: Final = bytes(SIZE[0] * SIZE[1] // 8)
RUNS_S: Final = 20.0
PAGE_KB: Final = os.sysconf("SC_PAGE_SIZE") / 1024
_RULES = replace(shipped_rulebook("torneo-puzzles-2026").categories["adulto"], preview_ms=0)


class TimedBus(RecordedBus):
    """A bus that takes as long for a byte as the wire does."""

    def __init__(self) -> None:
        super().__init__()
        self._wire = threading.Event()

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        """As the other, after the time its bits take: nine a byte, address and register with them."""
        self._wire.wait(9 * (len(data) + 2) / BUS_HZ)
        super().write_i2c_block_data(i2c_addr, register, data)


@dataclass(frozen=True, slots=True)
class Running:
    """A table that runs, and the instants at which pictures other than a dark one had arrived."""

    bus: TimedBus
    pins: MockPins
    panel: Panel
    dark: threading.Event
    frames: queue.SimpleQueue[float]


@contextmanager
def a_table(folder: Path, rest: RestAfter) -> Iterator[Running]:
    """A running table without a hub."""
    bus, factory = TimedBus(), open_factory("mock")
    frames, dark, ready = queue.SimpleQueue[float](), threading.Event(), threading.Event()

    def sent(frame: bytes, hand_s: float) -> None:
        if frame == DARK:
            dark.set()
        else:
            frames.put(hand_s)

    panel = Panel("ssd1306", lambda: bus, on_sent=sent)
    app = App(
        Parts(
            seat=Seat(1, (_RULES,)),
            link=LinkSettings("127.0.0.1", 1, "bench"),
            state_dir=folder / "bench-display",
            boot="bench",
            pin_factory=factory,
            panel=panel,
            run_clock=RunClock(time.monotonic()),
            allow_volatile=True,
            rest=rest,
        )
    )
    thread = threading.Thread(target=app.run, args=(ready.set,))
    thread.start()
    try:
        ready.wait(10)
        yield Running(bus, MockPins(factory), panel, dark, frames)
    finally:
        app.stop()
        thread.join()


def display(folder: Path) -> list[Figure]:
    """All figures of the display."""
    figures = [*_running_clock(folder / "clock"), *_waking(folder / "wake"), _drawing(), _reconnects()]
    return figures if missing() else [*figures, *_starting(folder), *_dying(folder)]


def _running_clock(folder: Path) -> list[Figure]:
    """Pictures a minute and the processor time of the display's thread, second by second of a running clock."""
    with a_table(folder, RestAfter()) as table:
        _press(table, Button.START)
        threading.Event().wait(2.0)
        _drain(table.frames)
        began, cpu, shares = time.monotonic(), _thread_s("panel"), []
        while time.monotonic() < began + RUNS_S:
            wall = time.monotonic()
            threading.Event().wait(1.0)
            now_cpu = _thread_s("panel")
            shares.append((now_cpu - cpu) / (time.monotonic() - wall) * 100)
            cpu = now_cpu
        minutes = (time.monotonic() - began) / 60
        frames = _drain(table.frames)
    return [
        figure("pictures a minute of a running clock", "1/min", [frames / minutes]),
        figure("processor time of the display's thread while a clock runs", "%", shares),
    ]


def _waking(folder: Path, count: int = 40) -> list[Figure]:
    """Edge on the pin of a table that rests, to its display lit again, and to the picture that answers the press."""
    lights, waits = [], []
    with a_table(folder, RestAfter(None, 0.5)) as table:
        for _ in range(count):
            table.dark.clear()
            if not table.dark.wait(10):
                raise TimeoutError("the display did not go dark")
            _drain(table.frames)
            edge = time.monotonic()
            table.pins.press(Button.ASSIST)
            if not table.bus.wait_for(lambda lit: lit.getbbox() is not None, 10):
                raise TimeoutError("the display did not wake")
            lights.append((time.monotonic() - edge) * 1000)
            waits.append((table.frames.get(timeout=10) - edge) * 1000)
            threading.Event().wait(0.06)
            table.pins.release(Button.ASSIST)
    return [
        figure("press on a dark display to its picture, bus at 400 kHz", "ms", lights, target=100),
        figure("press on a dark display to the mark that it was seen", "ms", waits, target=100),
    ]


def _drawing(count: int = 500) -> Figure:
    """A clock's picture from its screen."""
    samples = []
    for n in range(count):
        screen = Screen("Mesa 12", "quedan 1h14", clock=f"45:{n % 60:02}", bottom="P2 · A3 10:00", tick=n)
        began = time.perf_counter()
        draw(screen)
        samples.append((time.perf_counter() - began) * 1000)
    return figure("drawing a picture", "ms", samples)


def _reconnects(count: int = 1000) -> Figure:
    """Memory gained by so many vain tries to reach a display, after the first hundred."""
    bus, tries = RecordedBus(), threading.Semaphore(0)
    bus.fail(errno.EREMOTEIO)

    def open_bus() -> RecordedBus:
        tries.release()
        return bus

    panel = Panel("ssd1306", open_bus, back_off_s=(0.0,))
    panel.start()
    before_kb = 0.0
    for n in range(count + 100):
        tries.acquire(timeout=10)
        if n == 99:
            before_kb = _memory_kb()
    gained_kb = _memory_kb() - before_kb
    panel.stop()
    return figure("memory gained by 1,000 failed reconnects", "kB", [gained_kb], target=1000)


def _starting(folder: Path, count: int = 7) -> list[Figure]:
    """The real program: from its start to the first picture of its checks, and until it is ready."""
    pictures, readies = [], []
    for n in range(count):
        (place := folder / f"start-{n}").mkdir()
        bus, began = RecordedBus(), time.monotonic()
        with the_program(place, bus) as unit:
            if not bus.wait_for(lambda lit: lit.getbbox() is not None, 30):
                raise TimeoutError("the display was not lit")
            pictures.append(time.monotonic() - began)
            if not unit.ready.wait(30):
                raise TimeoutError("the table was not ready")
            readies.append(time.monotonic() - began)
    return [
        figure("start of the program to its first picture", "s", pictures),
        figure("start of the program to READY", "s", readies),
    ]


def _dying(folder: Path) -> list[Figure]:
    """The real program in a run, killed or stopped, until its display shows the right time again."""
    figures = []
    for number in (signal.SIGKILL, signal.SIGSTOP):
        (place := folder / number.name).mkdir()
        zero_s, bus = a_run(place / "state"), RecordedBus()
        with the_program(place, bus) as unit:
            if not unit.ready.wait(30):
                raise TimeoutError("the table was not ready")
            began = time.monotonic()
            unit.signal(number)
            wait_until(lambda bus=bus, zero_s=zero_s: not shows_running_time(bus.picture(), zero_s))  # type: ignore[misc]
            if not bus.wait_for(lambda lit, zero_s=zero_s: shows_running_time(lit, zero_s), 60):  # type: ignore[misc]
                raise TimeoutError("the running time did not come back")
            took_s = time.monotonic() - began
        figures.append(
            figure(f"{number.name} in a run to the right time on the glass", "s", [took_s], target=15)
        )
    return figures


def _press(table: Running, button: Button) -> None:
    table.pins.press(button)
    threading.Event().wait(0.06)
    table.pins.release(button)


def _thread_s(name: str) -> float:
    """Processor time that the thread of this name has had."""
    thread = next(t for t in threading.enumerate() if t.name == name)
    assert thread.ident is not None, "it runs"
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def _memory_kb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_KB


def _drain(frames: queue.SimpleQueue[float]) -> int:
    count = 0
    while not frames.empty():
        frames.get()
        count += 1
    return count
