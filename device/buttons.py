"""The door to gpiozero: four pins whose edges land in one queue, and the chip they hang on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any, Final

from gpiozero import GPIOZeroError, InputDevice
from gpiozero.pins.mock import MockFactory

from device.debounce import Button, RawEdge

PINS: Final[Mapping[Button, int]] = MappingProxyType(
    {Button.START: 17, Button.PAUSE: 27, Button.ASSIST: 22, Button.FINISH: 23}
)
"""BCM numbers of the pins the buttons pull to ground."""

SYSFS: Final = Path("/sys/bus/gpio/devices")

HEADER_DRIVERS: Final = frozenset(
    {
        "raspberrypi,rp1-gpio",
        "raspberrypi,bcm2711-gpio",
        "brcm,bcm2711-gpio",
        "raspberrypi,bcm2835-gpio",
        "brcm,bcm2835-gpio",
    }
)
"""Drivers of the 40-pin header; its chip number is another one on every kernel."""


OLDEST_LGPIO: Final = (0, 2)
"""From here on its edges carry CLOCK_MONOTONIC, whatever the kernel."""


class NoButtons(RuntimeError):
    """The buttons cannot be reached; the text says why and is shown to people."""


def header_chip(sysfs: Path = SYSFS) -> int:
    """The number of the gpiochip that drives the header. Raises NoButtons when there is none."""
    for chip in sorted(sysfs.glob("gpiochip*")):
        number = chip.name.removeprefix("gpiochip")
        try:
            drivers = (chip / "of_node" / "compatible").read_text(encoding="ascii").split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        if number.isdigit() and not HEADER_DRIVERS.isdisjoint(drivers):
            return int(number)
    raise NoButtons(f"no GPIO chip of a Raspberry Pi header under {sysfs}")


def open_factory(kind: str, chip: int | None = None, sysfs: Path = SYSFS) -> Any:
    """The pin factory the settings name: `lgpio` for real pins, `mock` for a virtual table.

    `chip` names the gpiochip; None looks for the header's. Raises NoButtons rather than fall back to
    another library: only lgpio's edges carry the kernel's stamp.
    """
    if kind == "mock":
        return MockFactory()
    if kind != "lgpio":
        raise NoButtons(f"unknown kind of pins {kind!r}: lgpio or mock")
    number = header_chip(sysfs) if chip is None else chip
    try:
        import lgpio  # here, not above: there is none on a laptop
        from gpiozero.pins.lgpio import LGPIOFactory
    except (ImportError, OSError) as error:  # OSError: its pipe cannot be made in the working directory
        raise NoButtons(f"lgpio cannot be loaded: {error}") from error
    if not hasattr(lgpio, "gpio_claim_alert"):
        raise NoButtons("lgpio is an empty stub: install python3-lgpio with apt")
    version = lgpio_version(lgpio)
    if version < OLDEST_LGPIO:
        raise NoButtons(f"lgpio {'.'.join(map(str, version))} stamps edges with another clock: 0.2 is needed")
    try:
        return LGPIOFactory(chip=number)
    except (lgpio.error, GPIOZeroError, OSError) as error:
        raise NoButtons(f"gpiochip{number} cannot be opened: {error}") from error


def lgpio_version(lgpio: Any) -> tuple[int, ...]:
    """The version that lgpio says it has, `lgpio.py_0.2.2.0`; () when it says something else."""
    _, _, version = str(lgpio.get_module_version()).rpartition("_")
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()


class Buttons:
    """The four buttons on real or mock pins.

    Every edge is put into `edges` as a RawEdge and nothing else happens in the callback: an exception
    there would make all buttons deaf. Raises NoButtons when a pin cannot be claimed.
    """

    def __init__(self, factory: Any, edges: SimpleQueue[object], pins: Mapping[Button, int] = PINS) -> None:
        self._devices: dict[Button, Any] = {}
        self._callbacks: list[Callable[[float, int], None]] = []  # the pin keeps only a weak reference
        self._listener = _listener(factory)
        for button, pin in pins.items():
            try:
                self._claim(factory, edges, button, pin)
            except Exception as error:  # lgpio's own class cannot be named where lgpio is not installed
                self.close()
                raise NoButtons(f"button {button.name} (GPIO{pin}) cannot be claimed: {error}") from error

    def levels(self) -> dict[Button, bool]:
        """Which buttons are down right now."""
        return {button: bool(device.is_active) for button, device in self._devices.items()}

    @property
    def alive(self) -> bool:
        """Whether edges can still arrive; False for good once the library's thread has ended."""
        return self._listener is None or self._listener.is_alive()

    @property
    def may_lose_edges(self) -> bool:
        """Whether the levels must be looked at now and then, for an edge that was lost on its way."""
        return self._listener is not None

    def close(self) -> None:
        """Lets go of the pins; no edge is put after it returns."""
        for device in self._devices.values():
            # lgpio claims a line anew to let go of it, which its own thread may still hold; the kernel frees it
            with suppress(Exception):
                device.pin.when_changed = None
            with suppress(Exception):
                device.close()
        self._devices.clear()
        self._callbacks.clear()

    def _claim(self, factory: Any, edges: SimpleQueue[object], button: Button, pin: int) -> None:
        def changed(ticks: float, level: int) -> None:
            edges.put(RawEdge(button, ticks, not level))

        device = InputDevice(pin, pull_up=True, pin_factory=factory)
        self._devices[button] = device
        self._callbacks.append(changed)
        device.pin.edges = "both"
        device.pin.when_changed = changed


def _listener(factory: Any) -> threading.Thread | None:
    """The thread in which lgpio tells its edges: any error in a callback ends it, and nobody is told."""
    if type(factory).__module__ != "gpiozero.pins.lgpio":
        return None
    for thread in threading.enumerate():
        if type(thread).__module__ == "lgpio":
            return thread
    raise NoButtons("the thread of lgpio that hears the edges does not run")


class MockPins:
    """The fingers of a virtual table: pulls the pins of a mock factory down and lets them go."""

    def __init__(self, factory: Any, pins: Mapping[Button, int] = PINS) -> None:
        self._pins = {button: factory.pin(pin) for button, pin in pins.items()}

    def press(self, button: Button) -> None:
        """Pulls the button's pin to ground; nothing happens if it is down already."""
        self._pins[button].drive_low()

    def release(self, button: Button) -> None:
        """Lets the button's pin rise again."""
        self._pins[button].drive_high()
