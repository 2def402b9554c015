"""What a table knows of itself in every state of every kind of run, for tests of screens. Nothing here is a test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path

from device.debounce import Button
from device.facts import Facts
from device.from_hub import PlanReceived
from shared.core.rules import CategoryRules, CountKind, CountRules, MissingRules
from shared.plan import Plan, PlannedRun
from tests.device.rig import TORNEO, Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
ADULT = TORNEO["adulto"]
SEVERAL = replace(ADULT, preview_ms=0, more_puzzles=(300, 200), missing=MissingRules(10_000))
Told = tuple[str, Facts]


@cache
def states() -> dict[str, Facts]:
    """By name, in Spanish, of table 12."""
    found: dict[str, Facts] = {}
    for play in (_run, _limit, _several, _escape):
        found.update(play())
    return found


@contextmanager
def _rig(*categories: str, rules: CategoryRules | None = None) -> Iterator[Rig]:
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), *categories, language="es")
        if rules is not None:
            run = PlannedRun(order=1, heat="3", entrant="e1", public_name="Ana", category=rules.id)
            plan = Plan(revision=1, table=12, categories={rules.id: rules}, runs=(run,))
            rig.inbox.append(PlanReceived(plan.as_json()))
        rig.wait(1)
        yield rig
        rig.unplug()


def _told(rig: Rig) -> Facts:
    """What it knows now; the count is the one thing in it that goes on changing."""
    facts = rig.table.facts(rig.now)
    return replace(facts, count=copy(facts.count))


def _later(rig: Rig, seconds: float) -> None:
    """A long while in a few steps."""
    rig.jump(seconds - 1)
    rig.wait(1)


def _run() -> Iterator[Told]:
    with _rig() as rig:
        yield "nothing planned", _told(rig)
    with _rig("adulto") as rig:
        yield "no plan", _told(rig)
    with _rig(rules=ADULT) as rig:
        yield "ready", _told(rig)
        rig.press(START)
        rig.wait(30)
        yield "preview", _told(rig)
        _later(rig, 100)
        yield "running", _told(rig)
        _later(rig, 600)
        rig.press(PAUSE)
        rig.wait(5)
        yield "paused", _told(rig)
        _later(rig, 400)
        yield "pause ran out", _told(rig)
        rig.press(PAUSE)
        rig.press(ASSIST)
        rig.wait(5)
        yield "assisting", _told(rig)
        _later(rig, 700)
        yield "help ran out", _told(rig)
        rig.press(ASSIST)
        rig.press(FINISH)
        rig.wait(1)
        yield "claimed", _told(rig)
        rig.press(FINISH)
        rig.wait(1)
        yield "sealed", _told(rig)


def _limit() -> Iterator[Told]:
    for kind in (CountKind.LOOSE, CountKind.JOINED, CountKind.LARGEST):
        with _rig(rules=replace(ADULT, preview_ms=0, count=CountRules(kind, 1))) as rig:
            rig.press(START)
            _later(rig, 7200)
            yield f"time up: {kind}", _told(rig)
            rig.wait(5)
            rig.press(ASSIST, hold=2.5)
            yield f"counting: {kind}", _told(rig)
            rig.press(FINISH)
            rig.wait(1)
            yield f"counted?: {kind}", _told(rig)
            rig.press(FINISH)
            rig.wait(1)
            yield f"counted: {kind}", _told(rig)
    with _rig(rules=replace(ADULT, count=CountRules(CountKind.NOTHING, 1))) as rig:
        rig.press(START)
        _later(rig, 120 + 7205)
        yield "time up: nothing to count", _told(rig)


def _several() -> Iterator[Told]:
    with _rig(rules=SEVERAL) as rig:
        rig.press(START)
        _later(rig, 600)
        yield "first puzzle", _told(rig)
        rig.press(FINISH)
        rig.press(ASSIST)
        yield "claimed with missing pieces", _told(rig)
        rig.wait(1)
        rig.press(FINISH)
        rig.wait(10)
        yield "second puzzle", _told(rig)


def _escape() -> Iterator[Told]:
    with _rig("castrillo-parejas") as rig:
        rig.press(START)
        _later(rig, 1500)
        yield "escape", _told(rig)
        rig.press(ASSIST)
        yield "escape: hint?", _told(rig)
        rig.press(ASSIST)
        rig.wait(5)
        yield "escape: solution soon", _told(rig)
        _later(rig, 400)
        yield "escape: solution", _told(rig)
        rig.press(ASSIST)
        yield "escape: solution?", _told(rig)
        rig.wait(8)
        rig.press(FINISH)
        yield "escape: step solved?", _told(rig)
        rig.press(FINISH)
        yield "escape: next step", _told(rig)
        _later(rig, 5406 - 1500 - 420)
        yield "escape over", _told(rig)
