"""`fake_rpi`'s RPi.GPIO with what it lacks: inputs that rest at their pull, and callbacks that are called.

As it comes it forgets what a pin was set up for, reads at random and never calls anybody, so that no
button can be built on it. Needs the package fake-rpi, which is installed with the tests.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable

with contextlib.redirect_stdout(io.StringIO()):  # it greets on import
    import fake_rpi
    import fake_rpi.RPi

fake_rpi.toggle_print(False)


class PressableGPIO(fake_rpi.RPi._GPIO):  # type: ignore[misc]
    """The pins of a board without a board; `set_input` is the finger."""

    def __init__(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            super().__init__()
        self._function: dict[int, int] = {}
        self._watched: dict[int, tuple[int, Callable[[int], None]]] = {}

    def setup(self, channel: int, state: int, pull_up_down: int | None = None, initial: int = 0) -> None:
        """An input rests at its pull, an output where it begins; arguments in the real library's order."""
        self._function[channel] = state
        if state == self.OUT:
            self._inputs[channel] = int(bool(initial))
        elif self._inputs[channel] is None or pull_up_down is not None:
            self._inputs[channel] = int(pull_up_down == self.PUD_UP)

    def gpio_function(self, channel: int) -> int:
        """What the pin was set up for."""
        return self._function.get(channel, int(self.IN))

    def output(self, channel: int, state: int) -> None:
        """Drive an output."""
        self._inputs[channel] = int(bool(state))

    def add_event_detect(
        self,
        channel: int,
        edge: int,
        callback: Callable[[int], None] | None = None,
        bouncetime: int | None = None,  # noqa: ARG002 - the signature of the real one
    ) -> None:
        """Call back at each edge from now on; the debounce of the real library is not copied."""
        if callback is not None:
            self._watched[channel] = (edge, callback)

    def remove_event_detect(self, channel: int) -> None:
        """No more calls."""
        self._watched.pop(channel, None)

    def cleanup(self, channel: int | None = None) -> None:
        """The pin, or all of them, as after power-on."""
        for each in range(len(self._inputs)) if channel is None else (channel,):
            self._inputs[each] = None
            self._function.pop(each, None)
            self._watched.pop(each, None)

    def set_input(self, channel: int, value: int) -> None:
        """Something outside pulls the pin to this level."""
        before, self._inputs[channel] = self._inputs[channel], value
        edge, callback = self._watched.get(channel, (0, None))
        wanted = (self.BOTH, self.RISING if value else self.FALLING)
        if callback is not None and before != value and edge in wanted:
            callback(channel)


def install() -> PressableGPIO:
    """Let `import RPi.GPIO` find it in this process; call before gpiozero's RPi.GPIO factory is imported."""
    installed = sys.modules.get("RPi.GPIO")
    if isinstance(installed, PressableGPIO):
        return installed
    made = PressableGPIO()
    package = fake_rpi.RPi
    package.GPIO = made
    sys.modules["RPi"], sys.modules["RPi.GPIO"] = package, made
    return made
