"""The gpiozero door: edges of mock pins, the header's chip, and clear words when there are none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from device.buttons import PINS, Buttons, MockPins, NoButtons, header_chip, open_factory
from device.debounce import Button, ButtonBank, Edge, RawEdge

PI_5 = "raspberrypi,rp1-gpio"
PI_4 = "brcm,bcm2711-gpio"


def chips(root: Path, **compatible: str) -> Path:
    for name, drivers in compatible.items():
        node = root / name / "of_node"
        node.mkdir(parents=True)
        (node / "compatible").write_bytes(drivers.encode() + b"\0")
    return root


@pytest.mark.parametrize("number", [0, 4, 11, 13])
@pytest.mark.parametrize("driver", [PI_5, PI_4, "vendor,board\0brcm,bcm2835-gpio"])
def test_the_header_is_found_by_its_driver_whatever_its_number(
    tmp_path: Path, number: int, driver: str
) -> None:
    others = {"gpiochip1": "brcm,brcmstb-gpio", "gpiochip2": "nxp,pca9555"}
    assert header_chip(chips(tmp_path, **others, **{f"gpiochip{number}": driver})) == number


def test_chips_without_a_device_tree_node_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "gpiochip0").mkdir()
    assert header_chip(chips(tmp_path, gpiochip4=PI_5)) == 4


def test_a_machine_without_a_header_has_no_buttons_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoButtons, match="no GPIO chip of a Raspberry Pi header"):
        header_chip(chips(tmp_path, gpiochip0="nxp,pca9555"))


def test_pins_of_an_unknown_kind_are_refused() -> None:
    with pytest.raises(NoButtons, match="lgpio or mock"):
        open_factory("native")


def test_lgpio_without_its_chip_is_refused_and_never_replaced_by_another_library(tmp_path: Path) -> None:
    with pytest.raises(NoButtons):
        open_factory("lgpio", sysfs=tmp_path)


@pytest.fixture
def factory() -> Iterator[Any]:
    made = open_factory("mock")
    yield made
    made.close()


def test_a_press_and_a_release_are_put_with_the_time_of_the_edge(factory: Any) -> None:
    edges: SimpleQueue[object] = SimpleQueue()
    buttons, fingers = Buttons(factory, edges), MockPins(factory)
    before = time.monotonic()
    fingers.press(Button.ASSIST)
    fingers.release(Button.ASSIST)
    after = time.monotonic()
    press, release = edges.get_nowait(), edges.get_nowait()
    assert isinstance(press, RawEdge)
    assert isinstance(release, RawEdge)
    assert (press.button, press.pressed) == (Button.ASSIST, True)
    assert (release.button, release.pressed) == (Button.ASSIST, False)
    assert before <= press.t <= release.t <= after
    buttons.close()


@pytest.mark.parametrize("button", list(Button))
def test_each_button_has_its_own_pin_and_level(factory: Any, button: Button) -> None:
    buttons, fingers = Buttons(factory, SimpleQueue()), MockPins(factory)
    assert buttons.levels() == dict.fromkeys(Button, False)
    fingers.press(button)
    assert buttons.levels() == {b: b is button for b in Button}
    fingers.release(button)
    assert buttons.levels() == dict.fromkeys(Button, False)
    buttons.close()


def test_after_close_the_pins_are_free_and_silent(factory: Any) -> None:
    edges: SimpleQueue[object] = SimpleQueue()
    Buttons(factory, edges).close()
    MockPins(factory).press(Button.START)
    assert edges.empty()
    Buttons(factory, edges).close()


def test_a_pin_that_is_taken_is_named(factory: Any) -> None:
    first = Buttons(factory, SimpleQueue())
    with pytest.raises(NoButtons, match=r"button START \(GPIO17\) cannot be claimed"):
        Buttons(factory, SimpleQueue())
    first.close()


def test_buttons_that_could_not_be_claimed_leave_no_pin_claimed(factory: Any) -> None:
    first = Buttons(factory, SimpleQueue(), {Button.FINISH: PINS[Button.FINISH]})
    with pytest.raises(NoButtons, match="FINISH"):
        Buttons(factory, SimpleQueue())
    first.close()
    Buttons(factory, SimpleQueue()).close()


def test_a_press_on_a_pin_comes_out_of_the_bank_with_its_stamp(factory: Any) -> None:
    edges: SimpleQueue[object] = SimpleQueue()
    buttons, fingers = Buttons(factory, edges), MockPins(factory)
    bank = ButtonBank(buttons.levels())
    fingers.press(Button.FINISH)
    raw = edges.get_nowait()
    assert isinstance(raw, RawEdge)
    bank.feed([raw])
    assert bank.poll(raw.t + 0.021, buttons.levels()) == [Edge(Button.FINISH, raw.t, True)]
    buttons.close()
