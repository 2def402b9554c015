"""What READY offered on the display, and since when: a START is of what it was pressed on (pure).

A plan that is swapped, a heat that loads itself, or the next entrant after FINAL may come between a finger and the
debouncer. Instants are hand time in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from device.choices import Choice

_KEPT: Final = 16


@dataclass(frozen=True, slots=True)
class Offer:
    """Whom the display offers to start, at which table."""

    choice: Choice
    table: int


class OnDisplay:
    """The last offers, each with the instant at which its picture was handed to the display."""

    def __init__(self) -> None:
        self._shown: list[tuple[float, Offer | None]] = []

    def shown(self, offer: Offer | None, t: float) -> None:
        """The picture on the display since `t` offers this; None: it offers nobody.

        The first picture of a process replaces none that anybody could have meant.
        """
        if self._shown and self._shown[-1][1] == offer:
            return
        self._shown.append((t if self._shown else float("-inf"), offer))
        del self._shown[:-_KEPT]

    def at(self, t: float) -> tuple[float, Offer | None]:
        """What was offered at an instant, and since when."""
        earlier = [entry for entry in self._shown if entry[0] <= t]
        return earlier[-1] if earlier else (float("inf"), None)
