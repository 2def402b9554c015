"""The display in every state, played on a table without threads, in the order of a day."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from device.buttons import NoButtons
from device.call import Called
from device.cannot_start import why, why_settings
from device.debounce import Button
from device.facts import Facts
from device.from_hub import PlanReceived, StartOrdered
from device.journal import NotSaved
from device.screen import Screen
from device.screens import compose
from device.start_up import Check, starting
from shared.checked_toml import FileProblem
from shared.core.rules import CategoryRules, CountKind, CountRules, MissingRules
from shared.plan import Plan, PlannedRun
from shared.wire import Do, StartOrder
from tests.device.rig import CASTRILLO, TORNEO, Rig, RigHub

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
ADULT = TORNEO["adulto"]
Shot = tuple[str, Screen]


def screens(language: str) -> list[Shot]:
    """Every state with its name, in the order of a day."""
    shots: list[Shot] = []
    for play in (_start, _ready, _adult, _limit, _breadth, _escape, _trouble, _calls):
        shots += play(language)
    return [(name, replace(screen, shift=(0, 0), blink_on=True)) for name, screen in shots]


@contextmanager
def _rig(
    language: str, *categories: str, rules: CategoryRules | None = None, **more: object
) -> Iterator[Rig]:
    """A table of its own; with `rules` one that has a plan for María in heat 3."""
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), *categories, language=language, **more)  # type: ignore[arg-type]
        if rules is not None:
            rig.inbox.append(_plan(rules))
            rig.wait(1)
        yield rig
        rig.unplug()


def _plan(rules: CategoryRules, **more: object) -> PlanReceived:
    run = PlannedRun(order=1, heat="3", entrant="e1", public_name="María Ñúñez", category=rules.id)
    plan = Plan(revision=1, table=12, categories={rules.id: rules}, runs=(run,), **more)  # type: ignore[arg-type]
    return PlanReceived(plan.as_json())


def _as(rig: Rig, **facts: object) -> Screen:
    """What the table would show if these facts were so."""
    told: Facts = rig.table.facts(rig.now)
    return compose(replace(told, **facts))  # type: ignore[arg-type]


def _until_tick(rig: Rig, tick: int) -> None:
    """Where two texts take turns, the first one is there from tick 0 and the other from tick 4."""
    rig.wait((tick - rig.now) % 6 + 0.1)


def _start(language: str) -> Iterator[Shot]:
    yield "starting", starting({Check.SETTINGS, Check.DISPLAY, Check.CARD}, 12, language)
    problems = [FileProblem(2, "table", ""), FileProblem(5, "hub.host", "")]
    yield "cannot start: settings", why_settings(problems, language)
    yield "cannot start: buttons", why(NoButtons(""), 12, language)
    yield "cannot start: card", why(NotSaved(""), 12, language)


def _ready(language: str) -> Iterator[Shot]:
    with _rig(language, "adulto") as rig:
        yield "no plan", rig.screen
    with _rig(language, "adulto", "grupal-adulto") as rig:
        _until_tick(rig, 4)
        yield "no plan, several categories", rig.screen
    with _rig(language) as rig:
        yield "waiting for the plan", rig.screen
        rig.inbox.append(
            PlanReceived(Plan(revision=1, table=12, categories={}, runs=(), conflict=("t99-k3f9",)).as_json())
        )
        rig.wait(1)
        yield "two timers on one table", rig.screen
    with _rig(language, rules=ADULT) as rig:
        yield "ready", rig.screen
        yield "ready, but which day?", _as(rig, day="2026-09-26")
        rig.press(ASSIST, hold=2.2)
        yield "practice", rig.screen
    hub = RigHub()
    with _rig(language, rules=ADULT, hub=hub) as rig:
        rig.wait(20)
        rig.inbox.append(StartOrdered(StartOrder("s1", "3", hub.ms(rig.now + 27.5), hub.base)))
        rig.wait(0.3)
        yield "ordered start", rig.screen
    with _rig(language, rules=ADULT) as rig:
        rig.inbox.append(StartOrdered(StartOrder("s1", "3", hub.ms(rig.now + 60), hub.base)))
        rig.wait(6)
        yield "ordered start, clock unsure", rig.screen


def _adult(language: str) -> Iterator[Shot]:
    with _rig(language, "adulto", rules=ADULT) as rig:
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
        rig.press(FINISH)
        _until_tick(rig, 0)
        yield "sealed", rig.screen
    with _rig(language, rules=TORNEO["grupal-adulto"]) as rig:
        rig.press(START)
        rig.wait(120 + 1900)
        rig.press(PAUSE)
        yield "a refused press", rig.screen


def _limit(language: str) -> Iterator[Shot]:
    with _rig(language, "adulto") as rig:
        rig.press(START)
        rig.wait(120 + 7200 - 600)
        yield "ten minutes left", rig.screen
        rig.wait(540)
        yield "one minute left", rig.screen
        rig.wait(60)
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


def _breadth(language: str) -> Iterator[Shot]:
    """Rules that the two seeds do not have."""
    for name, kind in (
        ("counting joined pieces", CountKind.JOINED),
        ("counting the area", CountKind.LARGEST),
    ):
        with _rig(language, rules=replace(ADULT, preview_ms=0, count=CountRules(kind, 1))) as rig:
            rig.press(START)
            rig.wait(7205)
            rig.press(ASSIST, hold=2.5)
            yield name, rig.screen
    several = replace(ADULT, preview_ms=0, more_puzzles=(300, 200), missing=MissingRules(10_000))
    with _rig(language, rules=several) as rig:
        rig.press(START)
        rig.wait(600)
        rig.press(FINISH)
        rig.press(ASSIST)
        _until_tick(rig, 0)
        yield "claimed with missing pieces", rig.screen
        rig.press(FINISH)
        rig.wait(10)
        yield "second puzzle", rig.screen


def _escape(language: str) -> Iterator[Shot]:
    with _rig(language, "castrillo-parejas") as rig:
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
        for _ in range(CASTRILLO["parejas"].escape.steps - 1):  # type: ignore[union-attr]
            rig.press(FINISH)
            rig.wait(0.6)
            rig.press(FINISH)
            rig.wait(0.6)
        yield "escape over: puzzle", rig.screen


def _trouble(language: str) -> Iterator[Shot]:
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), "adulto", language=language)
        rig.press(START)
        rig.wait(2000)
        rig.unplug()
        rig = Rig(Path(folder), "adulto", language=language, boot="boot-2", now=9000.0, zero_s=8990.0)
        rig.wait(1)
        yield "after a pulled plug", rig.screen
        rig.faults.trouble = "failing"
        rig.wait(45)
        yield "not saved", rig.screen
        rig.faults.trouble = None
        rig.wait(5)
        yield "a stuck button", _as(rig, stuck=("pause",), low=False)
        rig.unplug()
    with _rig(language, rules=ADULT) as rig:
        yield "a copied card", _as(rig, copied=True)
        yield "weak supply", _as(rig, supply_weak=True)
        yield "safe mode", _as(rig, safe=True)


def _calls(language: str) -> Iterator[Shot]:
    """What the hub asks a table to show."""
    with _rig(language, rules=ADULT) as rig:
        until_s = rig.now + 60
        yield "which table?", _as(rig, called=Called(Do.IDENTIFY, until_s))
        text = {"es": "Turno 4 a las 12:30", "en": "Heat 4 at 12:30"}[language]
        yield "a text from the hub", _as(rig, called=Called(Do.SHOW_TEXT, until_s, text))
