"""How far the stamp of a press is from the press: through mock pins, and through lgpio on a fake chip."""

from __future__ import annotations

import json
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from device.buttons import Buttons, MockPins, open_factory
from device.debounce import Button, ButtonBank, RawEdge
from tests.bench.figures import Figure, figure
from tests.device.fakechip.chip import FakeChip, missing
from tests.device.pins_contract import Fingers
from tests.waiting import GENEROUS_S

PRESSES = 200
TARGET_MS = 1.0


def stamps(folder: Path) -> list[Figure]:
    """Edge made to stamp given, debounced, in milliseconds."""
    factory = open_factory("mock")
    figures = [_figure("mock pins", errors_ms(factory, MockPins(factory)))]
    factory.close()
    if not missing():
        with FakeChip(folder / "chip").start("tests.bench.press_lgpio") as process:
            said, errors = process.communicate(timeout=2 * GENEROUS_S)
            if process.returncode:
                raise RuntimeError(errors)
            figures.append(_figure("lgpio on a fake chip", json.loads(said)))
    return figures


def _figure(pins: str, samples: list[float]) -> Figure:
    return figure(f"error of the press time, {pins}", "ms", samples, target=TARGET_MS)


def errors_ms(factory: Any, fingers: Fingers) -> list[float]:
    """Of so many bouncing presses."""
    edges: SimpleQueue[object] = SimpleQueue()
    buttons = Buttons(factory, edges)
    errors = []
    for n in range(PRESSES):
        button = list(Button)[n % len(Button)]
        made = time.monotonic()
        for _ in range(3):
            fingers.press(button)
            fingers.release(button)
        fingers.press(button)
        bank = ButtonBank(dict.fromkeys(Button, False))
        raw = [_taken(edges) for _ in range(7)]
        bank.feed(raw)
        (press,) = bank.poll(raw[-1].t + 0.1, buttons.levels())
        errors.append(abs(press.t - made) * 1000)
        fingers.release(button)
        _taken(edges)
    buttons.close()
    return errors


def _taken(edges: SimpleQueue[object]) -> RawEdge:
    raw = edges.get(timeout=GENEROUS_S)
    if not isinstance(raw, RawEdge):
        raise TypeError(f"no edge: {raw!r}")
    return raw
