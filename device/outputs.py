"""The door to gpiozero for what a table switches: a buzzer and a light, which it can do without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpiozero import LED, Buzzer

from device.signals import Lit


@dataclass(frozen=True, slots=True)
class OutputPins:
    """BCM numbers of what is fitted; None: not there."""

    buzzer: int | None = None
    led: int | None = None


class Outputs:
    """Buzzer and light. What cannot be switched is left alone from then on: a state, never an exception."""

    def __init__(self, factory: Any, pins: OutputPins) -> None:
        self.problem = ""
        """Why they were given up; empty while all is well."""
        self._parts: list[tuple[str, Any]] = []
        self._lit = Lit()
        for name, kind, pin in (("buzzer", Buzzer, pins.buzzer), ("led", LED, pins.led)):
            if pin is not None:
                self._claim(factory, name, kind, pin)

    def switch(self, lit: Lit) -> None:
        """Switch what is to be switched."""
        if lit == self._lit:
            return
        self._lit = lit
        try:
            for name, part in self._parts:
                part.value = getattr(lit, name)
        except Exception as error:  # noqa: BLE001 - lgpio's own class cannot be named where it is not installed
            self._give_up(f"cannot be switched: {error}")

    def close(self) -> None:
        """Switch everything off and let go of the pins."""
        self.switch(Lit())
        self._let_go()

    def _claim(self, factory: Any, name: str, kind: Any, pin: int) -> None:
        try:
            self._parts.append((name, kind(pin, pin_factory=factory)))
        except Exception as error:  # noqa: BLE001 - as above
            self._give_up(f"{name} (GPIO{pin}) cannot be claimed: {error}")

    def _give_up(self, why: str) -> None:
        self.problem = why
        self._let_go()

    def _let_go(self) -> None:
        parts, self._parts = self._parts, []
        for _, part in parts:
            part.close()
