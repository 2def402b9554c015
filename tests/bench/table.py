"""How fast one table is: the real app on mock pins, the real display driver on a recorded bus."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from device.app import App, Parts
from device.buttons import MockPins, open_factory
from device.debounce import Button
from device.fakes.bus import RecordedBus
from device.from_hub import LinkSettings
from device.panel import Panel
from device.table import Seat
from shared.clock import RunClock
from shared.core.rules import PauseRules
from shared.rulebook import shipped_rulebook
from tests.bench.figures import Figure, figure

_RULES = replace(
    shipped_rulebook("torneo-puzzles-2026").categories["adulto"],
    preview_ms=0,
    pauses=PauseRules(10_000, 3_600_000),
)
"""Pauses without end, so that each press is an act."""


@contextmanager
def a_table(
    folder: Path, seqs: queue.SimpleQueue[float], frames: queue.SimpleQueue[float]
) -> Iterator[MockPins]:
    """A running table without a hub; `seqs` and `frames` get the instants of durable events and sent pictures."""
    factory = open_factory("mock")
    bus = RecordedBus("ssd1306", 0x3C)
    panel = Panel("ssd1306", lambda: bus, on_sent=lambda _frame, hand_s: frames.put(hand_s))
    parts = Parts(
        seat=Seat(1, (_RULES,)),
        link=LinkSettings("127.0.0.1", 1, "bench"),
        state_dir=folder / "bench-table",
        boot="bench",
        pin_factory=factory,
        panel=panel,
        run_clock=RunClock(time.monotonic()),
        allow_volatile=True,
        on_seq=lambda _seq, hand_s: seqs.put(hand_s),
    )
    app, ready = App(parts), threading.Event()
    thread = threading.Thread(target=app.run, args=(ready.set,))
    thread.start()
    try:
        ready.wait(10)
        yield MockPins(factory)
    finally:
        app.stop()
        thread.join()


def presses(folder: Path, count: int = 200) -> list[Figure]:
    """Edge on the pin to durable event, and to the first changed byte on the display's bus."""
    seqs: queue.SimpleQueue[float] = queue.SimpleQueue()
    frames: queue.SimpleQueue[float] = queue.SimpleQueue()
    journaled, seen = [], []
    with a_table(folder, seqs, frames) as pins:
        _press(pins, Button.START, seqs, frames)
        for _ in range(count):
            edge, durable, frame = _press(pins, Button.PAUSE, seqs, frames)
            journaled.append((durable - edge) * 1000)
            seen.append((frame - edge) * 1000)
    return [
        figure("edge on the pin to journaled", "ms", journaled, target=100),
        figure("edge on the pin to changed bytes on the I2C bus", "ms", seen, target=100),
    ]


def _press(
    pins: MockPins, button: Button, seqs: queue.SimpleQueue[float], frames: queue.SimpleQueue[float]
) -> tuple[float, float, float]:
    _drain(frames)
    edge = time.monotonic()
    pins.press(button)
    durable = seqs.get(timeout=10)
    frame = frames.get(timeout=10)
    while frame < edge:
        frame = frames.get(timeout=10)
    pins.release(button)
    # the release must settle, or the next press would be one burst with it
    threading.Event().wait(0.06)
    return edge, durable, frame


def _drain(frames: queue.SimpleQueue[float]) -> None:
    while not frames.empty():
        frames.get()
