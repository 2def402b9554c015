"""The count screen: a number raised and lowered by pressing or holding ASSIST and PAUSE (pure)."""

from __future__ import annotations

from typing import Final

from device.debounce import Button

_REPEAT_S: Final = 0.2
_FIRST_REPEAT_S: Final = 0.4
_TENS_S: Final = 2.0
_HUNDREDS_S: Final = 4.0


class Count:
    """Pieces being counted: starts at 0, stops at 0 and at the puzzle's pieces."""

    def __init__(self, most: int) -> None:
        self.number = 0
        self.touched = False
        self.asked = False
        """The number was confirmed once and is asked again."""
        self._most = most
        self._button: Button | None = None
        self._since = 0.0
        self._next = 0.0

    def press(self, button: Button, t: float) -> None:
        """ASSIST raises, PAUSE lowers by one; holding repeats."""
        self.asked = False
        self.touched = True
        self._add(button, 1)
        self._button, self._since, self._next = button, t, t + _FIRST_REPEAT_S

    def let_go(self, button: Button) -> None:
        """The repeat ends with the hold."""
        if self._button is button:
            self._button = None

    def ask(self) -> None:
        """The number is to be confirmed once more."""
        self.asked = True
        self._button = None

    def tick(self, now: float) -> None:
        """Repeats five times a second: ones, tens after 2 s, hundreds after 4 s."""
        while self._button is not None and now >= self._next:
            held = self._next - self._since
            self._add(self._button, 100 if held >= _HUNDREDS_S else 10 if held >= _TENS_S else 1)
            self._next += _REPEAT_S

    def next_due(self) -> float | None:
        """When the held button counts on; None when none is held."""
        return self._next if self._button is not None else None

    def _add(self, button: Button, step: int) -> None:
        signed = step if button is Button.ASSIST else -step
        self.number = min(self._most, max(0, self.number + signed))
