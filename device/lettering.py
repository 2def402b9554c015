"""Words and digits in pixels: which letters there are, how wide they come, how they are made to fit (pure)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import groupby, islice
from typing import Final, TypeVar

import font_fjallaone
import font_roboto
from PIL import ImageFont

ELLIPSIS: Final = "…"
WORD_ENDS: Final = re.compile(r" · | |(?<=-)")
PART_ENDS: Final = re.compile(r" · ")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Mn", "Me", "Zl", "Zp"})
MOST_LETTERS: Final = 90
"""More fit on no two rows, whatever they are; what comes after them is not even looked at."""
_MOST_READ: Final = 1000
_Made = TypeVar("_Made")
_ANY_DIGITS: Final = str.maketrans("0123456789", "4" * 10)


class Face(Enum):
    """The typefaces: one for words, its heavy cut, and a narrow one for digits and long lines."""

    WORDS = str(font_roboto.font_files["RobotoMedium"])
    HEAVY = str(font_roboto.font_files["RobotoBold"])
    NARROW = str(font_fjallaone.font_files["FjallaOne"])


@dataclass(frozen=True, slots=True)
class Style:
    """A typeface at a size in pixels."""

    face: Face
    size: int

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        """The font, loaded once."""
        return _font(self)

    @property
    def cap(self) -> int:
        """Height of a capital in pixels."""
        return _cap(self)

    def width(self, text: str) -> int:
        """How many pixels the text takes."""
        return _width(self, text)

    def room(self, text: str) -> int:
        """How many pixels the text may come to take when its digits change: a clock must not change its size."""
        return max(_width(self, text), _width(self, text.translate(_ANY_DIGITS)))

    def overhang(self, text: str) -> int:
        """How many pixels the first letter reaches to the left of where it is put."""
        return _overhang(self, text[:1])

    def letters(self, text: str) -> bool:
        """Whether the typeface has every letter of the text."""
        return all(_has(self.face, letter) for letter in text)

    def rise(self, text: str) -> int:
        """How many pixels the text stands above its line, accents included."""
        return _rise(self, text)

    def drop(self, text: str) -> int:
        """How many pixels the text reaches below its line, at least 0."""
        return _drop(self, text)


SMALLEST: Final = Style(Face.WORDS, 11)
"""For letters with accents too high for anything larger."""


def printable(text: str) -> str:
    """The text in single letters the fonts can place: composed, on one line, nothing invisible.

    What no font has stays and is drawn as a box, so that people see that something is missing. Of a text that no
    two rows can hold it is the beginning, with … after it.
    """
    composed = unicodedata.normalize("NFC", " ".join(text[:_MOST_READ].split()))
    kept = (letter for letter in composed if unicodedata.category(letter) not in _INVISIBLE)
    seen = "".join(
        "\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in islice(kept, MOST_LETTERS + 1)
    )
    return seen if len(seen) <= MOST_LETTERS else seen[:MOST_LETTERS].rstrip() + ELLIPSIS


@lru_cache(maxsize=512)
def fit(text: str, width: int, styles: tuple[Style, ...], rise: int | None = None) -> tuple[str, Style]:
    """The text in the first style in which it fits; if in none, cut with … in the last that takes it."""
    able = able_of(text, styles, rise)
    style = first_fitting(able, lambda s: s if s.width(text) <= width else None)
    return (text, style) if style is not None else (cut(text, width, able[-1]), able[-1])


def first_fitting(styles: Sequence[Style], made: Callable[[Style], _Made | None]) -> _Made | None:
    """What the first style makes of it in which it fits; None if it fits in none.

    The styles of a typeface stand from large to small: where it does not fit in the last, no other is measured.
    """
    for _, face in groupby(styles, key=lambda style: style.face):
        sizes = list(face)
        if made(sizes[-1]) is not None:
            return next(fitting for fitting in map(made, sizes) if fitting is not None)
    return None


def able_of(
    text: str, styles: tuple[Style, ...], rise: int | None = None, high: int | None = None
) -> list[Style]:
    """The styles that have all letters of the text, none standing higher than `rise`, none taller than `high` pixels.

    If none has them all, those of the typeface with most letters; if all stand too high, the smallest.
    """
    lettered = [style for style in styles if style.letters(text)]
    lettered = lettered or [style for style in styles if style.face is not Face.NARROW]
    low = [style for style in lettered if rise is None or style.rise(text) <= rise]
    return [style for style in low if high is None or style.rise(text) + style.drop(text) <= high] or [
        SMALLEST
    ]


def fit_ends(
    left: str,
    right: str,
    gap: int,
    width: int,
    styles: tuple[Style, ...],
    rise: int,
    high: int | None = None,
) -> tuple[str, str, Style]:
    """Two texts for both ends of one line, in one style, never closer than `gap`.

    If they fit in no style both are cut, the left one only beyond half of the line.
    """
    style = whole_ends(left, right, gap, width, styles, rise, high)
    if style is not None:
        return left, right, style
    style = able_of(left + right, styles, rise, high)[-1]
    gap = gap if right else 0
    right = cut(right, width - gap - min(style.width(left), width // 2), style)
    return cut(left, width - gap - style.width(right), style), right, style


@lru_cache(maxsize=512)
def whole_ends(
    left: str,
    right: str,
    gap: int,
    width: int,
    styles: tuple[Style, ...],
    rise: int,
    high: int | None = None,
) -> Style | None:
    """The first style in which both ends stand whole on one line, whatever their digits become; None if in none."""
    gap = gap if right else 0
    able = able_of(left + right, styles, rise, high)
    return first_fitting(able, lambda s: s if s.room(left) + gap + s.room(right) <= width else None)


def cut(text: str, width: int, style: Style) -> str:
    """As much of the text as fits, with … where something is left out."""
    if style.width(text) <= width:
        return text
    kept = text[: most_fitting(len(text), lambda n: style.width(text[:n].rstrip() + ELLIPSIS) <= width)]
    return kept.rstrip() + ELLIPSIS if kept.strip() else ""


def wrap(text: str, width: int, style: Style, at: re.Pattern[str] = WORD_ENDS) -> tuple[str, str] | None:
    """The text on two lines of about equal length, if it fits so, parted where `at` matches."""
    halves = [(text[: gap.start()], text[gap.end() :]) for gap in at.finditer(text)]
    halves = [pair for pair in halves if all(pair)]
    # the further right it is parted, the longer the first line: the best way is where both are about equal
    even = bisect_left(halves, True, key=lambda pair: style.room(pair[0]) >= style.room(pair[1]))
    near = [pair for pair in halves[max(0, even - 1) : even + 1] if max(map(style.room, pair)) <= width]
    return min(near, key=lambda pair: max(map(style.room, pair)), default=None)


def pack(text: str, width: int, style: Style) -> tuple[str, str]:
    """The text on two lines, the first as full as it can be, the second cut with … if need be."""
    ends = [(gap.start(), gap.end()) for gap in WORD_ENDS.finditer(text) if gap.start()]
    fitting = most_fitting(len(ends), lambda n: style.width(text[: ends[n - 1][0]]) <= width)
    if fitting:
        end, start = ends[fitting - 1]
    else:  # one long word, or a first word that is: parted anywhere
        end = start = max(1, most_fitting(len(text) - 1, lambda n: style.width(text[:n]) <= width))
    return text[:end], cut(text[start:], width, style)


def most_fitting(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, where all smaller ones fit too; measuring costs: it asks few."""
    return bisect_right(range(1, most + 1), False, key=lambda n: not fits(n))


@lru_cache(maxsize=128)
def _font(style: Style) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(style.face.value, style.size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=128)
def _cap(style: Style) -> int:
    return _rise(style, "H")


@lru_cache(maxsize=1024)
def _rise(style: Style, text: str) -> int:
    return -int(style.font.getbbox(text, mode="1", anchor="ls")[1])


@lru_cache(maxsize=1024)
def _drop(style: Style, text: str) -> int:
    return max(0, int(style.font.getbbox(text, mode="1", anchor="ls")[3]))


@lru_cache(maxsize=4096)
def _width(style: Style, text: str) -> int:
    # ink may reach beyond the advance, and nothing may be outside the screen
    right = style.font.getbbox(text, mode="1", anchor="ls")[2]
    return int(max(right, style.font.getlength(text, mode="1"))) + _overhang(style, text[:1])


@lru_cache(maxsize=512)
def _overhang(style: Style, letter: str) -> int:
    return max(0, -int(style.font.getbbox(letter, mode="1", anchor="ls")[0]))


@lru_cache(maxsize=2048)
def _has(face: Face, letter: str) -> bool:
    font = _font(Style(face, 20))
    return letter == " " or bytes(font.getmask(letter, mode="1")) != bytes(font.getmask("\uffff", mode="1"))
