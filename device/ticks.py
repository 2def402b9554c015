"""A list of words that are ticked off, in two columns (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PIL import ImageDraw

from device.lettering import Face, Style, fit, printable

_COLUMNS: Final = 2
_BOX: Final = 8
_GAP: Final = 4
_STYLES: Final = (Style(Face.WORDS, 13), Style(Face.WORDS, 12), Style(Face.WORDS, 11))


def draw_ticks(
    pen: ImageDraw.ImageDraw, checks: Sequence[tuple[str, bool]], left: int, top: int, width: int, height: int
) -> None:
    """Draws them, a hook for what is ticked and a small box for what is not, all words in one size."""
    column, rows = width // _COLUMNS, -(-len(checks) // _COLUMNS)
    row = height // max(rows, 1)
    room = column - _BOX - 2 * _GAP
    names = [fit(printable(name), room, _STYLES) for name, _ in checks]
    style = min((style for _, style in names), key=lambda style: style.size, default=_STYLES[0])
    for n, (_, ticked) in enumerate(checks):
        name, _ = fit(names[n][0], room, (style,))
        x, y = left + n % _COLUMNS * column + 1, top + n // _COLUMNS * row
        baseline = y + (row + style.cap) // 2
        _draw_box(pen, x, baseline - _BOX, ticked=ticked)
        pen.text((x + _BOX + _GAP, baseline), name, font=style.font, fill=1, anchor="ls")


def _draw_box(pen: ImageDraw.ImageDraw, x: int, y: int, *, ticked: bool) -> None:
    if ticked:
        pen.line((x, y + _BOX // 2, x + 3, y + _BOX - 1, x + _BOX, y), fill=1, width=2)
    else:
        pen.rectangle((x + 1, y + 1, x + _BOX - 1, y + _BOX - 1), outline=1)
