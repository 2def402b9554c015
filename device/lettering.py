"""Words and digits in pixels: which letters there are, how wide they come, how they are made to fit (pure)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

import font_fjallaone
import font_roboto
from PIL import ImageFont

ELLIPSIS: Final = "…"
WORD_ENDS: Final = re.compile(r" · | |(?<=-)")
PART_ENDS: Final = re.compile(r" · ")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Mn", "Me", "Zl", "Zp"})


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

    What no font has stays and is drawn as a box, so that people see that something is missing.
    """
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    kept = (letter for letter in composed if unicodedata.category(letter) not in _INVISIBLE)
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in kept)


@lru_cache(maxsize=512)
def fit(text: str, width: int, styles: tuple[Style, ...], rise: int | None = None) -> tuple[str, Style]:
    """The text in the first style in which it fits; if in none, cut with … in the last that takes it."""
    able = able_of(text, styles, rise)
    for style in able:
        if style.width(text) <= width:
            return text, style
    return cut(text, width, able[-1]), able[-1]


def able_of(text: str, styles: tuple[Style, ...], rise: int | None = None) -> list[Style]:
    """The styles that have all letters of the text, none standing higher than `rise` pixels.

    If none has them all, those of the typeface with most letters; if all stand too high, the smallest.
    """
    lettered = [style for style in styles if style.letters(text)]
    lettered = lettered or [style for style in styles if style.face is not Face.NARROW]
    return [style for style in lettered if rise is None or style.rise(text) <= rise] or [SMALLEST]


@lru_cache(maxsize=256)
def fit_ends(
    left: str, right: str, gap: int, width: int, styles: tuple[Style, ...], rise: int
) -> tuple[str, str, Style]:
    """Two texts for both ends of one line, in one style, never closer than `gap`.

    If they fit in no style both are cut, the left one only beyond half of the line.
    """
    able = able_of(left + right, styles, rise)
    gap = gap if right else 0
    for style in able:
        if style.width(left) + gap + style.width(right) <= width:
            return left, right, style
    style = able[-1]
    right = cut(right, width - gap - min(style.width(left), width // 2), style)
    return cut(left, width - gap - style.width(right), style), right, style


def cut(text: str, width: int, style: Style) -> str:
    """As much of the text as fits, with … where something is left out."""
    if style.width(text) <= width:
        return text
    kept = text
    while kept and style.width(kept.rstrip() + ELLIPSIS) > width:
        kept = kept[:-1]
    return kept.rstrip() + ELLIPSIS if kept.strip() else ""


def wrap(text: str, width: int, style: Style, at: re.Pattern[str] = WORD_ENDS) -> tuple[str, str] | None:
    """The text on two lines of about equal length, if it fits so, parted where `at` matches."""
    halves = [(text[: gap.start()], text[gap.end() :]) for gap in at.finditer(text)]
    fitting = [pair for pair in halves if all(pair) and max(map(style.width, pair)) <= width]
    return min(fitting, key=lambda pair: max(map(style.width, pair)), default=None)


def pack(text: str, width: int, style: Style) -> tuple[str, str]:
    """The text on two lines, the first as full as it can be, the second cut with … if need be."""
    ends = [(gap.start(), gap.end()) for gap in WORD_ENDS.finditer(text)]
    fitting = [(end, start) for end, start in ends if end and style.width(text[:end]) <= width]
    if not fitting:  # one long word, or a first word that is: parted anywhere
        fitting = [(n, n) for n in range(1, len(text)) if style.width(text[:n]) <= width] or [(1, 1)]
    end, start = fitting[-1]
    return text[:end], cut(text[start:], width, style)


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
