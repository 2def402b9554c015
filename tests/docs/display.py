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
from device.from_hub import PlanReceived, RulingsReceived, StartOrdered
from device.journal import JournalBusy, NotSaved
from device.screen import Screen
from device.screens import compose
from device.self_test import asking
from device.start_up import Check, starting
from shared.checked_toml import FileProblem
from shared.core.rules import CategoryRules, CountKind, CountRules, MissingRules
from shared.plan import Plan, PlannedRun
from shared.texts import translator
from shared.wire import Do, RunRulings, StartOrder
from tests.builders import HubLog, hub
from tests.device.rig import CASTRILLO, TORNEO, Rig, RigHub

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
ADULT = TORNEO["adulto"]
Shot = tuple[str, Screen]
_RUN = "boot-1-run-1"


def screens(language: str) -> list[Shot]:
    """Every state with its name, in the order of a day."""
    shots: list[Shot] = []
    for play in (
        _start, _ready, _adult, _limit, _decisions, _breadth, _escape, _practice, _trouble, _calls, _walk,
    ):  # fmt: skip
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


def _later(rig: Rig, seconds: float) -> None:
    """A long while: its last minute second by second, for what happens by itself."""
    rig.jump(seconds - 60)
    rig.wait(60)


def _until_tick(rig: Rig, tick: int) -> None:
    """Where two texts take turns, the first one is there from tick 0 and the other from tick 4."""
    rig.wait((tick - rig.now) % 6 + 0.1)


def _start(language: str) -> Iterator[Shot]:
    yield "starting", starting({Check.SETTINGS, Check.DISPLAY, Check.CARD}, 12, language)
    problems = [FileProblem(2, "table", ""), FileProblem(5, "hub.host", "")]
    yield "cannot start: settings", why_settings(problems, language)
    yield "cannot start: buttons", why(NoButtons(""), 12, language)
    yield "cannot start: card", why(NotSaved(""), 12, language)
    yield "cannot start: another program", why(JournalBusy(""), 12, language)
    yield "cannot start: something else", why(OSError(""), 12, language)


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
        yield "another timer's run", _as(rig, resumes=True)
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
        _later(rig, 91 + 2700)
        yield "running", rig.screen
        rig.press(PAUSE)
        rig.wait(20)
        yield "paused", rig.screen
        _later(rig, 310)
        yield "pause ran out", rig.screen
        rig.press(PAUSE)
        rig.press(ASSIST)
        rig.wait(75)
        yield "assisting", rig.screen
        rig.down(START)
        rig.wait(1.2)
        yield "holding START", rig.screen
        rig.up(START)
        _later(rig, 530)
        yield "help used up", rig.screen
        rig.press(ASSIST)
        rig.wait(0.5)
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
        _later(rig, 120 + 1900)
        rig.press(PAUSE)
        yield "a refused press", rig.screen
        rig.wait(4)
        rig.down(START)
        rig.wait(1.2)
        yield "holding START, too late", rig.screen


def _limit(language: str) -> Iterator[Shot]:
    with _rig(language, "adulto") as rig:
        rig.press(START)
        _later(rig, 120 + 7200 - 600)
        yield "ten minutes left", rig.screen
        _later(rig, 540)
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


def _decisions(language: str) -> Iterator[Shot]:
    """What a ruling at the hub makes of a run."""
    rulings: list[tuple[str, HubLog]] = [
        ("disqualified", hub().disqualify(_RUN)),
        ("did not finish", hub().unfinished(_RUN)),
        ("run is void", hub().void(_RUN)),
        ("time set by the organisers", hub().time(1500, _RUN)),
    ]
    for name, log in rulings:
        with _rig(language, rules=ADULT) as rig:
            rig.press(START)
            _later(rig, 120 + 600)
            rig.inbox.append(RulingsReceived(RunRulings(_RUN, tuple(log.events))))
            rig.wait(1)
            _until_tick(rig, 0)
            yield name, rig.screen


def _practice(language: str) -> Iterator[Shot]:
    with _rig(language, rules=ADULT) as rig:
        rig.press(ASSIST, hold=2.2)
        rig.press(START)
        rig.wait(30)
        yield "practice: look, don't open", rig.screen
        _later(rig, 91 + 601)
        yield "practice: running", rig.screen
        rig.press(PAUSE)
        rig.wait(20)
        yield "practice: pause", rig.screen
        rig.press(PAUSE)
        rig.press(FINISH)
        rig.wait(1)
        yield "practice: complete?", rig.screen
        rig.press(FINISH)
        _until_tick(rig, 0)
        yield "practice: final", rig.screen


def _walk(language: str) -> Iterator[Shot]:
    """What `table-timer self-test` asks on the display."""
    pgettext = translator(language).pgettext
    yield "self-test: a button", asking(language, "PAUSE", pgettext("oled", "press this button"))
    yield (
        "self-test: the buzzer",
        asking(language, pgettext("oled", "BUZZER?"), pgettext("oled", "START yes · others no")),
    )
    yield "self-test: the card", asking(language, pgettext("oled", "card"))


def _breadth(language: str) -> Iterator[Shot]:
    """Rules that the two seeds do not have."""
    for name, kind in (
        ("counting joined pieces", CountKind.JOINED),
        ("counting the area", CountKind.LARGEST),
    ):
        with _rig(language, rules=replace(ADULT, preview_ms=0, count=CountRules(kind, 1))) as rig:
            rig.press(START)
            _later(rig, 7205)
            rig.press(ASSIST, hold=2.5)
            yield name, rig.screen
    nothing = replace(ADULT, preview_ms=0, count=CountRules(CountKind.NOTHING, 1))
    with _rig(language, rules=nothing) as rig:
        rig.press(START)
        _later(rig, 7206)
        yield "time up, nothing to count", rig.screen
    several = replace(ADULT, preview_ms=0, more_puzzles=(300, 200), missing=MissingRules(10_000))
    with _rig(language, rules=several) as rig:
        rig.press(START)
        _later(rig, 600)
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
        _later(rig, 1500)
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
        _later(rig, 2000)
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
        yield "a self-test from the hub", _as(rig, called=Called(Do.SELFTEST, until_s))
        rig.press(START)
        _later(rig, 120 + 901)
        yield "which table?, in a run", _as(rig, called=Called(Do.IDENTIFY, until_s))
        yield "a text in a run", _as(rig, called=Called(Do.SHOW_TEXT, until_s, text))
        rig.faults.trouble = "failing"
        rig.press(PAUSE)
        rig.wait(45)
        yield "not saved, in a pause", _as(rig, tick=0)
