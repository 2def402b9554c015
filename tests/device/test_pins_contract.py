"""Every kind of pins keeps one contract: mock pins, RPi.GPIO, the real lgpio, and real pins where there are some."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gpiozero import OutputDevice

from device.buttons import PINS, SYSFS, MockPins, open_factory
from device.debounce import Button
from device.fakes.rpi_gpio import install
from tests.device.fakechip.chip import FakeChip, missing
from tests.device.pins_contract import CLAUSES, Pins
from tests.waiting import GENEROUS_S

JUMPERS = {Button.START: 5, Button.PAUSE: 6, Button.ASSIST: 12, Button.FINISH: 16}
"""BCM numbers of the outputs that stand in for fingers on a real board, each wired to its button's pin."""
WIRED = "TABLE_TIMER_JUMPERS"
_PI_4 = 0xA03111

clauses = pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
Clause = Callable[[Pins], None]


@contextmanager
def mock_pins() -> Iterator[Pins]:
    factory = open_factory("mock")
    yield Pins(factory, MockPins(factory))
    factory.close()


class _SetInput:
    """Fingers on the inputs of a fake RPi.GPIO."""

    def __init__(self, gpio: Any) -> None:
        self._gpio = gpio

    def press(self, button: Button) -> None:
        self._gpio.set_input(PINS[button], 0)

    def release(self, button: Button) -> None:
        self._gpio.set_input(PINS[button], 1)


@contextmanager
def rpi_gpio_pins() -> Iterator[Pins]:
    gpio = install()
    from gpiozero.pins.rpigpio import RPiGPIOFactory

    class _OnNoBoard(RPiGPIOFactory):  # type: ignore[misc]
        def _get_revision(self) -> int:
            return _PI_4

    factory = _OnNoBoard()
    yield Pins(factory, _SetInput(gpio))
    factory.close()


class _Jumpers:
    """Outputs that pull the pins of the buttons through wires."""

    def __init__(self, factory: Any) -> None:
        self._outputs = {
            b: OutputDevice(pin, initial_value=True, pin_factory=factory) for b, pin in JUMPERS.items()
        }

    def press(self, button: Button) -> None:
        self._outputs[button].off()

    def release(self, button: Button) -> None:
        self._outputs[button].on()

    def close(self) -> None:
        for output in self._outputs.values():
            output.close()


@contextmanager
def real_pins() -> Iterator[Pins]:
    factory = open_factory("lgpio")
    fingers = _Jumpers(factory)
    yield Pins(factory, fingers)
    fingers.close()
    factory.close()


@clauses
@pytest.mark.parametrize("kind", [mock_pins, rpi_gpio_pins])
def test_pins_without_a_board_keep_the_contract(clause: Clause, kind: Any) -> None:
    with kind() as pins:
        clause(pins)


@clauses
@pytest.mark.skipif(bool(missing()), reason=f"needs {missing()}")
def test_the_real_lgpio_on_a_fake_chip_keeps_the_contract(clause: Clause, tmp_path: Path) -> None:
    with FakeChip(tmp_path / "chip").start("tests.device.fakechip.clause", clause.__name__) as process:
        _, errors = process.communicate(timeout=3 * GENEROUS_S)
        assert process.returncode == 0, errors


@clauses
@pytest.mark.skipif(
    WIRED not in os.environ or not SYSFS.is_dir(), reason=f"needs a board with jumper wires, and {WIRED}=1"
)
def test_real_pins_keep_the_contract(clause: Clause) -> None:
    with real_pins() as pins:
        clause(pins)
