"""The self-test walks through every part and tells what is wrong with each."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from gpiozero.pins.mock import MockFactory, MockPin

from device.buttons import PINS, NoButtons
from device.cli import main
from device.debounce import Button
from device.fakes.bus import RecordedBus
from device.finding import Finding
from device.outputs import OutputPins
from device.panel import Panel
from device.screen import Screen
from device.self_test import Bench, SelfTest


def held_low(button: Button | None) -> type[MockPin]:
    """Pins of which one lies on ground, whatever pulls it up."""

    class Pin(MockPin):  # type: ignore[misc]
        def _set_pull(self, value: str) -> None:
            super()._set_pull(value)
            if button is not None and self.info.name == f"GPIO{PINS[button]}":
                self._change_state(False)

    return Pin


def walk_through(
    tmp_path: Path,
    *,
    fingers: dict[str, Button] | None = None,
    panel: Panel | None = None,
    hub: tuple[str, int] = ("127.0.0.1", 1),
    held: Button | None = None,
    outputs: OutputPins | None = None,
) -> dict[str, Finding]:
    """The findings by part; `fingers` says which button is pressed when the display names one."""
    factory = MockFactory(pin_class=held_low(held))

    def press(screen: Screen) -> None:
        button = (fingers or {}).get(screen.lines[0])
        if button is not None:
            pin = factory.pin(PINS[button])
            pin.drive_low()
            pin.drive_high()

    bench = Bench(
        panel=panel,
        pin_factory=lambda: factory,
        pins=PINS,
        state_dir=tmp_path,
        hub=hub,
        language="en",
        allow_volatile=True,
        outputs=outputs or OutputPins(),
        press_s=0.2,
        show=press,
    )
    return {finding.part: finding for finding in SelfTest(bench).run()}


RIGHT = {button.name: button for button in Button}


def test_all_is_well_where_all_is_well(tmp_path: Path) -> None:
    with socket.socket() as broker:
        broker.bind(("127.0.0.1", 0))
        broker.listen()
        panel = Panel("ssd1306", RecordedBus)
        found = walk_through(tmp_path, fingers=RIGHT, panel=panel, hub=broker.getsockname())
    assert [str(finding) for finding in found.values() if not finding.ok and finding.part != "disk"] == []
    assert list(found) == [
        "display",
        *(f"button {button.name}" for button in PINS),
        "clock",
        "disk",
        "board",
        "network",
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_button_that_nobody_can_press_is_a_fault_and_the_others_go_on(tmp_path: Path) -> None:
    fingers = {name: button for name, button in RIGHT.items() if name != "PAUSE"}
    found = walk_through(tmp_path, fingers=fingers)
    assert [part for part, f in found.items() if part.startswith("button") and not f.ok] == ["button PAUSE"]


def test_crossed_wires_are_named(tmp_path: Path) -> None:
    crossed = RIGHT | {"PAUSE": Button.ASSIST, "ASSIST": Button.PAUSE}
    found = walk_through(tmp_path, fingers=crossed)
    assert "ASSIST was: look for crossed wires" in found["button PAUSE"].text


def test_a_button_that_is_stuck_is_not_waited_for(tmp_path: Path) -> None:
    found = walk_through(tmp_path, fingers=RIGHT, held=Button.FINISH)
    assert "stuck" in found["button FINISH"].text
    assert found["button START"].ok


@pytest.mark.parametrize(
    ("finger", "ok", "text"),
    [
        (Button.START, True, "works"),
        (Button.FINISH, False, "was switched on and not noticed: look at its pin"),
        (None, False, "nobody answered within 0.2 s"),
    ],
)
def test_a_person_says_whether_buzzer_and_light_work(
    tmp_path: Path, finger: Button | None, ok: bool, text: str
) -> None:
    fingers = RIGHT | ({"BUZZER?": finger, "LIGHT?": finger} if finger else {})
    found = walk_through(tmp_path, fingers=fingers, outputs=OutputPins(24, 25))
    assert [(found[name].ok, found[name].text) for name in ("buzzer", "led")] == [(ok, text)] * 2


def test_a_buzzer_whose_pin_a_button_has_is_a_fault(tmp_path: Path) -> None:
    found = walk_through(tmp_path, fingers=RIGHT, outputs=OutputPins(buzzer=PINS[Button.START]))
    assert not found["buzzer"].ok
    assert "cannot be claimed" in found["buzzer"].text


def no_display() -> Any:
    raise OSError(19, "No such device")


def no_pins() -> Any:
    raise NoButtons("gpiochip0 is busy")


def test_a_display_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    bench = Bench(Panel("ssd1306", no_display), no_pins, PINS, tmp_path, ("127.0.0.1", 1), "es", press_s=0.1)
    walk = SelfTest(bench).run()
    assert "No such device" in next(walk).text
    busy = next(walk)
    assert not busy.ok
    assert "systemctl stop table-timer" in busy.text
    walk.close()


def test_a_card_that_takes_nothing_and_a_broker_that_is_away_are_faults(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(None, no_pins, PINS, tmp_path / "file" / "deeper", ("127.0.0.1", 1), "en", press_s=0.1)
    found = {finding.part: finding for finding in SelfTest(bench).run()}
    assert not found["disk"].ok
    assert "no broker at 127.0.0.1:1" in found["network"].text


def test_the_command_prints_a_report_and_fails_with_a_fault(tmp_path: Path) -> None:
    config = tmp_path / "table-timer.toml"
    config.write_text(
        f'device = "t07"\ntable = 7\nstate_dir = "{tmp_path}/state"\nallow_volatile = true\n'
        '[buttons]\npins = "mock"\n[display]\ndriver = "none"\n[hub]\nhost = "127.0.0.1"\nport = 1\n'
    )
    result = CliRunner().invoke(main, ["selftest", "--config", str(config), "--press", "0.1"])
    assert result.exit_code == 1
    assert "FAULT button START: was not pressed" in result.output
    assert result.output.endswith("not all is well\n")


def test_the_terminal_says_what_to_press_for_the_display_may_be_what_does_not_work(tmp_path: Path) -> None:
    config = tmp_path / "table-timer.toml"
    config.write_text(
        f'device = "t07"\ntable = 7\nstate_dir = "{tmp_path}/state"\nallow_volatile = true\n'
        '[buttons]\npins = "mock"\n[display]\ndriver = "none"\n[signals]\nbuzzer = true\n'
        '[hub]\nhost = "127.0.0.1"\nport = 1\n'
    )
    here = Path.cwd()
    told = CliRunner().invoke(main, ["selftest", "--config", str(config), "--press", "0.1"]).output
    for button in Button:
        assert f"press {button.name} now, within 0.1 s\n" in told
    assert "does the buzzer work? START: yes, any other button: no\n" in told
    assert Path.cwd() == here
