"""How a display rests: what is written moves, an idle display dims and goes dark, a title may blink (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from device.screen import Glow, Screen

SHIFT_EVERY_S: Final = 60.0
BLINK_S: Final = 0.5
"""Half a blink: so long the bar is there, and so long it is not."""
_PLACES: Final = ((0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1))
"""Each next to the one before, so that nobody sees the picture jump."""


@dataclass(frozen=True, slots=True)
class RestAfter:
    """Seconds without a run and without a press until the display rests; None means never."""

    dim_s: float | None = 600.0
    dark_s: float | None = 7200.0


class Rest:
    """How one display rests. A press, a run or a new plan stirs it."""

    def __init__(self, after: RestAfter, now: float) -> None:
        self._after = after
        self._stirred_s = now

    def stir(self, now: float) -> None:
        """Something happened that people look at."""
        self._stirred_s = max(self._stirred_s, now)

    def glow(self, now: float) -> Glow:
        """How bright the display is at this instant of hand time."""
        idle_s = now - self._stirred_s
        if self._after.dark_s is not None and idle_s >= self._after.dark_s:
            return Glow.DARK
        if self._after.dim_s is not None and idle_s >= self._after.dim_s:
            return Glow.DIM
        return Glow.FULL

    def dress(self, screen: Screen, now: float, *, awake: bool) -> Screen:
        """The screen as it is lit at this instant; `awake`: what it says must not rest."""
        if awake:
            self.stir(now)
        blink_on, glow = not screen.blinks or int(now / BLINK_S) % 2 == 0, self.glow(now)
        if glow is Glow.DARK:  # nobody sees the mark walk
            screen = replace(screen, tick=0)
        return replace(screen, blink_on=blink_on, shift=place(now), glow=glow)


def place(now: float) -> tuple[int, int]:
    """Where the picture lies at this instant: columns to the right, rows down."""
    return _PLACES[int(now / SHIFT_EVERY_S) % len(_PLACES)]


def next_blink(now: float) -> float:
    """When a blinking title changes next."""
    return (int(now / BLINK_S) + 1) * BLINK_S
