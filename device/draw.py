"""From what a screen says to the 128 x 64 picture: three bands, digits in fixed cells (pure).

Rows: 0-13 the top line (14: tails of high words), 15-46 the middle, 47 dark, 48-62 the bottom line, 63 the mark
that walks; a bottom line of two rows takes what it needs from the middle. The layout keeps two columns and one row
free, so that it can be moved against burn-in and nothing is lost.
Long because every band of the picture is laid out against the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from device.lettering import (
    PART_ENDS,
    WORD_ENDS,
    Face,
    Style,
    able_of,
    first_fitting,
    fit,
    fit_ends,
    pack,
    printable,
    whole_ends,
    wrap,
)
from device.screen import Screen
from device.ticks import draw_ticks

WIDTH: Final = 128
HEIGHT: Final = 64
MAX_SHIFT: Final = (2, 1)

_USED: Final = WIDTH - MAX_SHIFT[0]
_TOP_BASELINE: Final = 12
_TOP_BAR: Final = 14
_MIDDLE: Final = 15
_BOTTOM: Final = 48
_BOTTOM_BASELINE: Final = 60
_FLOOR: Final = 62
_GAP: Final = 4
_SEEN: Final = 5

_TOP_RISE: Final = _TOP_BASELINE
_BOTTOM_RISE: Final = 12
_BOTTOM_HIGH: Final = _FLOOR - _BOTTOM + 1
_ROW: Final = 12

_LINE: Final = (
    Style(Face.WORDS, 13),
    Style(Face.WORDS, 12),
    Style(Face.WORDS, 11),
    Style(Face.WORDS, 10),
    Style(Face.NARROW, 13),
    Style(Face.NARROW, 12),
)
"""How the words of the top and the bottom line shrink; narrow letters last, for they run together."""
_SMALL: Final = 10
"""For the ends of a title only: what can be pressed is written on two rows before it is written so small."""
_NAME: Final = tuple(Style(Face.WORDS, size) for size in range(22, 13, -1))
_NAME_ABOVE: Final = (
    *(Style(Face.WORDS, size) for size in range(17, 12, -1)),
    *(Style(Face.NARROW, size) for size in range(17, 12, -1)),
)
"""The name when the category stands below it."""
_NAME_TWO_ROWS: Final = (
    *(Style(Face.WORDS, size) for size in range(17, 11, -1)),
    Style(Face.NARROW, 14),
    Style(Face.NARROW, 13),
)
_APART: Final = 1
"""So many dark rows at least part two rows of words."""
_TWO_ROWS: Final = 30
"""Two rows of a name need so much height."""
_DIGIT_SIZES: Final = range(58, 11, -1)


def draw(screen: Screen) -> Image.Image:
    """The picture of a screen, mode "1": a bar blinks, its words never go away."""
    image = Image.new("1", (WIDTH, HEIGHT))
    pen = ImageDraw.Draw(image)
    pen.fontmode = "1"
    dx, dy = (min(max(s, 0), most) for s, most in zip(screen.shift, MAX_SHIFT, strict=True))
    _draw_top(pen, screen, dx, dy, inverse=screen.top_inverse and screen.blink_on)
    floor = _draw_bottom(pen, screen, dx, dy, inverse=screen.bottom_inverse)
    _draw_middle(pen, screen, dx, dy, floor)
    x = 2 * (screen.tick % (WIDTH // 2))
    pen.line((x, HEIGHT - 1, x + 1, HEIGHT - 1), fill=0 if screen.bottom_inverse else 1)
    if screen.negative and screen.blink_on:
        return ImageChops.logical_xor(image, Image.new("1", image.size, 1))
    return image


def written(screen: Screen) -> tuple[str, ...]:
    """The words of a screen as they are drawn: the ends of the top line, the middle, the rows of the bottom line."""
    left, right, _ = _top_ends(screen)
    rows, _, _ = _bottom_rows(screen.bottom, inverse=screen.bottom_inverse)
    _, floor = _bottom_place(screen)
    middle = [text for text, _, _ in _middle_words(screen.lines, _words_high(floor))]
    middle = [screen.clock] if screen.clock else [] if screen.checks else middle
    return tuple(text for text in (left, right, *middle, *rows) if text)


def top_stands(left: str, right: str, *, inverse: bool) -> bool:
    """Whether both ends of a top line can stand whole beside each other."""
    ends = printable(left), printable(right)
    return whole_ends(*ends, _GAP, _top_width(inverse=inverse), _LINE, _TOP_RISE, _TOP_BAR) is not None


def _top_width(*, inverse: bool) -> int:
    return _USED - 2 * _margin(inverse=inverse)


def _margin(*, inverse: bool) -> int:
    return 2 if inverse else 0


def _top_ends(screen: Screen) -> tuple[str, str, Style]:
    ends = printable(screen.top), printable(screen.top_right)
    return fit_ends(*ends, _GAP, _top_width(inverse=screen.top_inverse), _LINE, _TOP_RISE, _TOP_BAR)


def _draw_top(pen: ImageDraw.ImageDraw, screen: Screen, dx: int, dy: int, *, inverse: bool) -> None:
    margin = _margin(inverse=screen.top_inverse)
    left, right, style = _top_ends(screen)
    if inverse:
        pen.rectangle((0, 0, WIDTH - 1, _TOP_BAR - 1 + dy), fill=1)
    ink = 0 if inverse else 1
    baseline = dy + _baseline(left + right, style, 0, _TOP_BASELINE, _TOP_BAR)
    x = dx + margin
    if screen.top_inverse and not right:
        x = dx + (_USED - style.width(left)) // 2
    _write(pen, x, baseline, left, style, ink)
    x = dx + _USED - margin - style.width(right)
    _write(pen, x, baseline, right, style, ink)


def _baseline(text: str, style: Style, top: int, usual: int, end: int) -> int:
    """Where a line stands: higher than usual if its tails would reach `end`, unless it is too high for that."""
    return max(top + style.rise(text), min(usual, end - style.drop(text)))


def _draw_middle(pen: ImageDraw.ImageDraw, screen: Screen, dx: int, dy: int, floor: int) -> None:
    top = _MIDDLE
    if screen.checks:
        draw_ticks(pen, screen.checks, dx, top + dy, _USED, floor - top)
        return
    if screen.bar is not None:
        alone = not screen.clock and not screen.lines
        height = 16 if alone else 8
        y = (top + floor - height) // 2 if alone else floor - height - 1
        _draw_bar(pen, (dx, y + dy, dx + _USED - 1, y + dy + height - 1), screen.bar)
        floor = y
    clock = printable(screen.clock)
    if clock and _draw_clock(pen, clock, dx, top + dy, floor - top):
        return
    for text, style, baseline in _middle_words((clock,) if clock else screen.lines, _words_high(floor)):
        x = dx + (_USED - style.width(text)) // 2
        _write(pen, x, top + dy + baseline, text, style)


def _words_high(floor: int) -> int:
    """What words in the middle have: a row stays dark above a bar, as it does below digits."""
    return floor - 1 - _MIDDLE


def _draw_bar(pen: ImageDraw.ImageDraw, box: tuple[int, int, int, int], part: float) -> None:
    x0, y0, x1, y1 = box
    pen.rectangle(box, outline=1)
    filled = round((x1 - x0 - 3) * min(max(part, 0.0), 1.0))
    if filled:
        pen.rectangle((x0 + 2, y0 + 2, x0 + 1 + filled, y1 - 2), fill=1)


def _draw_clock(pen: ImageDraw.ImageDraw, text: str, dx: int, top: int, height: int) -> bool:
    """Each digit in the middle of a cell of equal width, so that nothing moves but what changes.

    False, and nothing drawn, for what is too long to be a clock.
    """
    shape = "".join("0" if letter.isdecimal() else letter for letter in text)
    size, cells = _clock_cells(shape, height)
    if not size:
        return False
    digits = Style(Face.NARROW, size)
    baseline = top + (height + digits.cap) // 2
    x = dx + (_USED - sum(width for width, _ in cells)) // 2
    for letter, (width, style) in zip(text, cells, strict=True):
        raised = (digits.cap - style.cap) // 2
        pen.text((x + width // 2, baseline - raised), letter, font=style.font, fill=1, anchor="ms")
        x += width
    return True


@lru_cache(maxsize=256)
def _clock_cells(shape: str, height: int) -> tuple[int, list[tuple[int, Style]]]:
    """The largest size in which a clock fits, with width and style of each cell; size 0 if in none."""
    for size in _DIGIT_SIZES:
        digits = Style(Face.NARROW, size)
        cell = max(digits.width(digit) for digit in "0123456789")
        others = Style(Face.HEAVY, size * 2 // 3)
        cells: list[tuple[int, Style]] = []
        for letter in shape:
            if letter == "0":
                cells.append((cell, digits))
            elif letter == ":":
                cells.append((digits.width(letter) + 1, digits))
            elif letter == " ":
                cells.append((max(2, size // 10), digits))
            else:
                cells.append((others.width(letter) + 1, others))
        if digits.cap <= height - 1 and sum(width for width, _ in cells) <= _USED:
            return size, cells
    return 0, []


def _draw_bottom(pen: ImageDraw.ImageDraw, screen: Screen, dx: int, dy: int, *, inverse: bool) -> int:
    """Draws the bottom line, of two rows if one cannot hold it; gives the row where the middle ends."""
    rows, style, apart = _bottom_rows(screen.bottom, inverse=inverse)
    lift, floor = _bottom_place(screen)
    if inverse and rows:
        pen.rectangle((0, floor + dy, WIDTH - 1, HEIGHT - 1), fill=1)
    ink = 0 if inverse else 1
    top = _BOTTOM if inverse else _BOTTOM - 1
    baseline = dy - lift + _baseline("".join(rows), style, top, _BOTTOM_BASELINE, _FLOOR) if rows else 0
    for n, text in enumerate(reversed(rows)):
        x = dx + (_USED - style.width(text)) // 2
        _write(pen, x, baseline - n * apart, text, style, ink)
    if screen.seen:  # on a ground of its own: it may stand on a letter, but not be taken for one
        x, y = WIDTH - _SEEN - 1, _FLOOR - _SEEN
        pen.rectangle((x - 1, y - 1, WIDTH - 1, _FLOOR), fill=1 - ink)
        pen.rectangle((x, y, WIDTH - 2, _FLOOR - 1), fill=ink)
    return floor


def _bottom_place(screen: Screen) -> tuple[int, int]:
    """By how much the bottom line is lifted to stand in the middle of what is kept for it, and where that begins."""
    own = _bottom_high(screen.bottom)
    kept = max(map(_bottom_high, (screen.bottom, *screen.keeps)), default=0)
    return (kept - own) // 2, _BOTTOM - kept if screen.bottom else HEIGHT - 1


def _bottom_high(bottom: str) -> int:
    """How many rows of the middle a bottom line takes."""
    rows, _, apart = _bottom_rows(bottom, inverse=False)
    return apart * (len(rows) - 1) if rows else 0


@lru_cache(maxsize=256)
def _bottom_rows(bottom: str, *, inverse: bool) -> tuple[tuple[str, ...], Style, int]:
    """The bottom line on one row, else on two, rather parted between two hints than within one, else cut.

    Two rows of wide letters are better read than one of narrow ones. The last number is how far apart they stand.
    """
    text = printable(bottom)
    rise = _BOTTOM_RISE - inverse  # an accent at the very edge of a bar would be a notch in it
    able = able_of(text, _LINE, rise, _BOTTOM_HIGH)
    if not text:
        return (), able[0], _ROW
    wide = [style for style in able if style.face is not Face.NARROW and style.size > _SMALL]
    hopeless = able[-1].width(text) > 2 * _USED
    for styles in () if hopeless else (wide, able):
        one = first_fitting(styles, lambda style: style if style.room(text) <= _USED else None)
        if one is not None:
            return (text,), one, _ROW
        for at in (PART_ENDS, WORD_ENDS):
            two = first_fitting(styles, partial(_halves, text, at))
            if two is not None:
                return two[0], two[1], _rows_apart(*two[0], two[1])
    halves = pack(text, _USED, able[-1])
    return halves, able[-1], _rows_apart(*halves, able[-1])


def _halves(text: str, at: re.Pattern[str], style: Style) -> tuple[tuple[str, str], Style] | None:
    halves = wrap(text, _USED, style, at)
    return None if halves is None else (halves, style)


def _rows_apart(upper: str, lower: str, style: Style) -> int:
    """So that no tail of the upper row touches a letter of the lower one."""
    most = max(_ROW, style.drop(upper) + _APART + style.rise(lower))
    around = (
        _row_ink(upper, style, most).convert("L").filter(ImageFilter.MaxFilter(2 * _APART + 1)).convert("1")
    )
    apart = _ROW
    while apart < most:
        if ImageChops.logical_and(around, _row_ink(lower, style, most + apart)).getbbox() is None:
            break
        apart += 1
    return apart


def _row_ink(text: str, style: Style, baseline: int) -> Image.Image:
    image = Image.new("1", (WIDTH, HEIGHT))
    pen = ImageDraw.Draw(image)
    pen.fontmode = "1"
    _write(pen, (_USED - style.width(text)) // 2, baseline, text, style)
    return image


@lru_cache(maxsize=128)
def _middle_words(lines: tuple[str, ...], height: int) -> list[tuple[str, Style, int]]:
    """Up to two lines of words as large as fits, with style and baseline.

    A name that needs two rows takes the place of what would stand below it.
    """
    texts = [text for text in map(printable, lines[:2]) if text]
    if not texts:
        return []
    for rows in _ways(texts[0], texts[1:], height):
        if sum(_high(row) for row in rows) + _APART * (len(rows) - 1) <= height:
            break
    return _spread(rows, height)


def _ways(name: str, below: list[str], height: int) -> Iterator[list[tuple[str, Style]]]:
    """How name and what stands below it can be written, the best first; the last is too high for nothing."""
    low_enough = tuple(s for s in (_NAME_ABOVE if below else _NAME) if s.cap + 4 <= height)
    wide_enough = _in_one_row(name, able_of(name, low_enough))
    for style in wide_enough:
        yield [(name, style), *(fit(text, _USED, _LINE[1:]) for text in below)]
    if height < _TWO_ROWS:
        for style in wide_enough:
            yield [(name, style)]
    else:
        able = able_of(name, _NAME_TWO_ROWS)
        if first_fitting(able, partial(wrap, name, _USED)) is not None:
            for style in able:
                halves = wrap(name, _USED, style)
                if halves is not None:
                    yield [(half, style) for half in halves]
        for style in able[::-1]:
            yield [(row, style) for row in pack(name, _USED, style) if row]
    yield [fit(name, _USED, _LINE)]


def _in_one_row(text: str, styles: list[Style]) -> list[Style]:
    if first_fitting(styles, lambda style: style if style.width(text) <= _USED else None) is None:
        return []
    return [style for style in styles if style.width(text) <= _USED]


def _high(row: tuple[str, Style]) -> int:
    text, style = row
    return style.rise(text) + style.drop(text)


def _spread(rows: list[tuple[str, Style]], height: int) -> list[tuple[str, Style, int]]:
    """Baselines with the free rows shared evenly above, between and below the ink of the lines."""
    free = max(0, height - sum(map(_high, rows)))
    placed, y = [], 0
    for n, (text, style) in enumerate(rows, start=1):
        placed.append((text, style, y + style.rise(text) + free * n // (len(rows) + 1)))
        y += _high((text, style))
    return placed


def _write(pen: ImageDraw.ImageDraw, x: int, baseline: int, text: str, style: Style, ink: int = 1) -> None:
    pen.text((x + style.overhang(text), baseline), text, font=style.font, fill=ink, anchor="ls")
