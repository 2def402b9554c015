"""Buzzer and light: what a table lets be heard, on a hand clock, and on pins that may not be there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from device.buttons import PINS, Buttons, open_factory
from device.config import load_settings
from device.debounce import Button
from device.outputs import OutputPins, Outputs
from device.rest import BLINK_S
from device.signals import Lit, Signal, Signals
from shared.checked_toml import BadFile
from shared.core.model import State
from tests.device.rig import Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
BUZZER, LED = 24, 25


@dataclass
class Ear:
    """Hears a rig: the loop of the app, with the buzzer's pin as it is at each pass."""

    rig: Rig
    pins: Any
    outputs: Outputs
    signals: Signals = field(default_factory=Signals)
    display_down: bool = False
    heard: list[tuple[float, bool]] = field(default_factory=list)

    def wait(self, seconds: float) -> None:
        end = self.rig.now + seconds
        while self.rig.now < end:
            due = min(self.rig.step(), end)
            now = self.rig.now
            lit = self.signals.step(now, self.rig.table.facts(now), display_down=self.display_down)
            self.outputs.switch(lit)
            on = bool(self.pins.pin(BUZZER).state)
            if on != (self.heard[-1][1] if self.heard else False):
                self.heard.append((now, on))
            self.rig.now = max(now + 1e-6, min(due, self.signals.next_due(now)))

    def press(self, button: Button) -> None:
        self.rig.down(button)
        self.wait(0.08)
        self.rig.up(button)
        self.wait(0.45)

    def shines(self) -> bool:
        return bool(self.pins.pin(LED).state)

    def pattern(self) -> list[int]:
        """What was heard since the last call: milliseconds of sound, silence, sound …"""
        times = [t for t, _ in self.heard]
        self.heard.clear()
        return [round((b - a) * 1000) for a, b in pairwise(times)]


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    factory = open_factory("mock")
    outputs = Outputs(factory, OutputPins(BUZZER, LED))
    rig = Rig(tmp_path, "adulto")
    yield Ear(rig, factory, outputs)
    outputs.close()
    assert (factory.pin(BUZZER).state, factory.pin(LED).state) == (0, 0)
    rig.unplug()


def started(ear: Ear) -> None:
    ear.press(START)
    ear.wait(121)
    assert ear.rig.state == State.RUNNING
    assert ear.pattern() == []


def test_a_refused_press_is_heard_each_time_it_is_refused(ear: Ear) -> None:
    started(ear)
    ear.press(START)
    assert ear.pattern() == list(Signal.REFUSED.value)
    ear.wait(1)
    ear.press(START)
    assert ear.pattern() == list(Signal.REFUSED.value)
    ear.press(PAUSE)
    assert ear.pattern() == []


def test_a_pause_is_heard_thirty_seconds_before_it_runs_out_and_as_it_does(ear: Ear) -> None:
    started(ear)
    ear.press(PAUSE)
    ear.wait(268)
    assert ear.pattern() == []
    ear.wait(10)
    assert ear.pattern() == list(Signal.PAUSE_ENDS.value)
    ear.wait(18)
    assert ear.pattern() == []
    ear.wait(10)
    assert ear.pattern() == list(Signal.RAN_OUT.value)


def test_ten_minutes_one_minute_and_the_limit_are_heard_once_each(ear: Ear) -> None:
    started(ear)
    ear.wait(6598)
    assert ear.pattern() == []
    ear.wait(5)
    assert ear.pattern() == list(Signal.TEN_MINUTES.value)
    ear.wait(530)
    assert ear.pattern() == []
    ear.wait(10)
    assert ear.pattern() == list(Signal.ONE_MINUTE.value)
    ear.wait(50)
    assert ear.pattern() == []
    ear.wait(20)
    assert ear.rig.state == State.TIME_UP
    assert ear.pattern() == list(Signal.LIMIT.value)


def test_a_call_that_came_while_the_table_was_off_is_not_heard_afterwards(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.press(START)
    rig.wait(120 + 6700)
    lit = Signals().step(rig.now, rig.table.facts(rig.now), display_down=False)
    assert lit == Lit(buzzer=False, led=True)
    rig.unplug()


def test_a_refusal_does_not_break_off_the_signal_of_the_limit(ear: Ear) -> None:
    started(ear)
    ear.wait(7200 - 2)
    ear.heard.clear()
    ear.wait(1)
    ear.press(FINISH)
    ear.wait(3)
    assert ear.pattern() == list(Signal.LIMIT.value)


def test_the_light_shines_while_the_clock_runs_and_only_then(ear: Ear) -> None:
    ear.wait(1)
    assert not ear.shines()
    started(ear)
    assert ear.shines()
    ear.press(PAUSE)
    assert not ear.shines()
    ear.press(PAUSE)
    ear.press(ASSIST)
    assert ear.shines()


@pytest.mark.parametrize("why", ["display", "pause ran out"])
def test_the_light_blinks_while_somebody_should_come_and_look(ear: Ear, why: str) -> None:
    started(ear)
    if why == "display":
        ear.display_down = True
    else:
        ear.press(PAUSE)
        ear.wait(320)
    seen = set()
    for _ in range(4):
        ear.wait(BLINK_S)
        seen.add((int(ear.rig.now / BLINK_S) % 2, ear.shines()))
    assert {lit for _, lit in seen} == {True, False}


def test_pins_that_cannot_be_claimed_are_a_state_and_the_buttons_work() -> None:
    factory = open_factory("mock")
    outputs = Outputs(factory, OutputPins(buzzer=PINS[START], led=LED))
    assert outputs.problem == ""
    with pytest.raises(Exception, match="cannot be claimed"):
        Buttons(factory, SimpleQueue())
    outputs.close()
    other = Outputs(factory, OutputPins(buzzer=999))
    assert "buzzer (GPIO999) cannot be claimed" in other.problem
    other.switch(Lit(True, True))
    other.close()


def test_what_can_no_longer_be_switched_is_left_alone() -> None:
    factory = open_factory("mock")
    outputs = Outputs(factory, OutputPins(BUZZER, LED))
    factory.pin(BUZZER).close()
    factory.pin(BUZZER).function = "input"
    outputs.switch(Lit(True, True))
    assert "cannot be switched" in outputs.problem
    outputs.switch(Lit(False, True))
    outputs.close()


@pytest.mark.parametrize(
    ("lines", "pins"),
    [
        ("", OutputPins()),
        ("[signals]\nbuzzer = true", OutputPins(buzzer=24)),
        ("[signals]\nled = true\nled_pin = 5", OutputPins(led=5)),
        ("[signals]\nbuzzer = true\nled = true", OutputPins(24, 25)),
        ("[signals]\nbuzzer_pin = 17", OutputPins()),
    ],
)
def test_buzzer_and_light_are_off_unless_the_settings_say_they_are_fitted(
    tmp_path: Path, lines: str, pins: OutputPins
) -> None:
    file = tmp_path / "table-timer.toml"
    file.write_text(f'device = "t07"\ntable = 7\n{lines}\n')
    assert OutputPins(**load_settings(file).signals.pins()) == pins


@pytest.mark.parametrize("pin", [17, 25])
def test_a_buzzer_on_the_pin_of_something_else_is_told(tmp_path: Path, pin: int) -> None:
    file = tmp_path / "table-timer.toml"
    file.write_text(f'device = "t07"\ntable = 7\n[signals]\nbuzzer = true\nbuzzer_pin = {pin}\nled = true\n')
    with pytest.raises(BadFile, match="buzzer or led share a pin"):
        load_settings(file)
