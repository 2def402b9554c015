"""The display in every state, played on a table without threads and drawn as the panel shows it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from PIL import Image

from device.debounce import Button
from device.draw import draw
from device.from_hub import PlanReceived
from device.screen import Screen
from shared.plan import Plan, PlannedRun
from tests.device.rig import CASTRILLO, TORNEO, Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
SCALE = 3
COLUMNS = 3
GAP = 12
Shot = tuple[str, Screen]


def screens(language: str) -> list[Shot]:
    """Every state with its name, in the order of a day."""
    shots: list[Shot] = []
    for play in (_adult, _limit, _escape, _unplugged):
        shots += play(language)
    return [(name, replace(screen, shift=(0, 0), blink_on=True)) for name, screen in shots]


def _plan(category: str, names: tuple[str, ...]) -> PlanReceived:
    rules = TORNEO | CASTRILLO if category == "parejas" else TORNEO
    runs = tuple(
        PlannedRun(order=n, heat="3", entrant=f"e{n}", public_name=name, category=category)
        for n, name in enumerate(names, start=1)
    )
    plan = Plan(revision=1, table=12, categories={category: rules[category]}, runs=runs)
    return PlanReceived(plan.as_json())


def _rig(language: str, *categories: str, folder: str, **more: float | str) -> Rig:
    return Rig(Path(folder), *categories, language=language, **more)  # type: ignore[arg-type]


def _adult(language: str) -> Iterator[Shot]:
    with tempfile.TemporaryDirectory() as folder:
        rig = _rig(language, "adulto", folder=folder)
        yield "no plan", rig.screen
        rig.inbox.append(_plan("adulto", ("María Ñúñez",)))
        rig.wait(1)
        yield "ready", rig.screen
        rig.press(START)
        rig.wait(30)
        yield "preview", rig.screen
        rig.wait(91 + 2700)
        yield "running", rig.screen
        rig.press(PAUSE)
        rig.wait(20)
        yield "paused", rig.screen
        rig.wait(310)
        yield "pause ran out", rig.screen
        rig.press(PAUSE)
        rig.press(ASSIST)
        rig.wait(75)
        yield "assisting", rig.screen
        rig.down(START)
        rig.wait(1.2)
        yield "holding START", rig.screen
        rig.up(START)
        rig.wait(0.5)
        rig.press(ASSIST)
        rig.online, rig.unsent = False, 5
        rig.press(FINISH)
        rig.wait(1)
        yield "claimed, without network", rig.screen
        rig.online = True
        rig.wait(1)
        yield "claimed", rig.screen
        rig.press(PAUSE)
        yield "a refused press", rig.screen
        rig.wait(4)
        rig.press(FINISH)
        rig.wait(1)
        yield "sealed", rig.screen
        rig.unplug()


def _limit(language: str) -> Iterator[Shot]:
    with tempfile.TemporaryDirectory() as folder:
        rig = _rig(language, "adulto", folder=folder)
        rig.press(START)
        rig.wait(120 + 7200 - 600)
        yield "ten minutes left", rig.screen
        rig.wait(600)
        yield "time up", rig.screen
        rig.press(FINISH)
        yield "finish after the limit", rig.screen
        rig.wait(4)
        rig.press(ASSIST, hold=2.5)
        yield "counting", rig.screen
        rig.press(FINISH)
        rig.wait(1)
        yield "count asked again", rig.screen
        rig.press(FINISH)
        rig.wait(1)
        yield "counted", rig.screen
        rig.unplug()


def _escape(language: str) -> Iterator[Shot]:
    with tempfile.TemporaryDirectory() as folder:
        rig = _rig(language, "castrillo-parejas", folder=folder)
        rig.press(START)
        rig.wait(1500)
        yield "escape", rig.screen
        rig.press(ASSIST)
        yield "escape: hint?", rig.screen
        rig.press(ASSIST)
        rig.press(ASSIST)
        yield "escape: solution too soon", rig.screen
        rig.wait(4)
        rig.press(FINISH)
        yield "escape: step solved?", rig.screen
        rig.press(FINISH)
        rig.wait(1)
        yield "escape: next step", rig.screen
        rig.unplug()


def _unplugged(language: str) -> Iterator[Shot]:
    with tempfile.TemporaryDirectory() as folder:
        rig = _rig(language, "adulto", folder=folder)
        rig.press(START)
        rig.wait(2000)
        rig.unplug()
        rig = _rig(language, "adulto", folder=folder, boot="boot-2", now=9000.0, zero_s=8990.0)
        rig.wait(1)
        yield "after a pulled plug", rig.screen
        rig.faults.trouble = "failing"
        rig.wait(45)
        yield "not saved", rig.screen
        rig.faults.trouble = None
        rig.unplug()


def sheet(shots: list[Shot], keep: Callable[[str], bool] = lambda _: True) -> Image.Image:
    """The pictures side by side, as light as on the panel."""
    kept = [screen for name, screen in shots if keep(name)]
    width, height = 128 * SCALE, 64 * SCALE
    rows = -(-len(kept) // COLUMNS)
    out = Image.new("L", (COLUMNS * (width + GAP) + GAP, rows * (height + GAP) + GAP), 96)
    for n, screen in enumerate(kept):
        picture = draw(screen).convert("L").resize((width, height), Image.Resampling.NEAREST)
        row, column = divmod(n, COLUMNS)
        out.paste(picture, (GAP + column * (width + GAP), GAP + row * (height + GAP)))
    return out
