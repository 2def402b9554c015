"""What one picture of the 128 x 64 display says, before it is drawn: three bands of words (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Glow(Enum):
    """How bright the display is."""

    FULL = "full"
    DIM = "dim"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Screen:
    """One picture. `clock` is drawn in large fixed cells, `lines` as words, `bar` as progress 0 … 1."""

    top: str
    top_right: str = ""
    top_inverse: bool = False
    clock: str = ""
    """Digits, `:` and a leading `≥` or sign, as large as fits (47 px for mm:ss, 32 px for h:mm:ss)."""
    lines: tuple[str, ...] = ()
    """Up to two lines of words in the middle when there is no clock; long ones shrink, wrap, are cut."""
    checks: tuple[tuple[str, bool], ...] = ()
    """Up to six words in the middle of a table that starts, each with whether it is ticked off."""
    bar: float | None = None
    bottom: str = ""
    bottom_inverse: bool = False
    seen: bool = False
    """A press was seen and is not yet taken: a small mark in the bottom right corner."""
    tick: int = 0
    """Whole seconds of hand time: moves the 1-px mark along the edge, so that still means frozen."""
    blinks: bool = False
    """The top line is a bar that blinks: it must be noticed from afar."""
    blink_on: bool = True
    """The top line's bar is there; without it its words stand plain."""
    negative: bool = False
    """The whole picture turns light and dark in turns with the bar: nobody can overlook it."""
    shift: tuple[int, int] = (0, 0)
    """By how many columns and rows the picture is moved against burn-in."""
    glow: Glow = Glow.FULL
    shorter: tuple[str, ...] = ()
    """Shorter words for `top`, for when a mark needs the room."""
    keeps: tuple[str, ...] = ()
    """Other texts of the bottom line that it takes turns with or stands for: it keeps their height, so that nothing
    moves in the middle."""

    def words(self) -> str:
        """The same content as text, one band a line."""
        middle = [self.clock] if self.clock else list(self.lines)
        middle += [f"[{'x' if ticked else ' '}] {name}" for name, ticked in self.checks]
        if self.bar is not None:
            middle.append(f"[{round(self.bar * 100)} %]")
        top = f"{self.top} | {self.top_right}" if self.top_right else self.top
        marked = f"[{top}]" if self.top_inverse else top
        bottom = f"[{self.bottom}]" if self.bottom_inverse else self.bottom
        return "\n".join([marked, *middle, bottom]) + "\n"
