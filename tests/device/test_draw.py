"""Pictures of the display: digits that do not move, words that fit, nothing outside the glass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from device.draw import HEIGHT, MAX_SHIFT, WIDTH, draw
from device.lettering import ELLIPSIS, PART_ENDS, Face, Style, cut, fit, fit_ends, pack, printable, wrap
from device.screen import Screen

READY = Screen("Mesa 12", "Turno 3", lines=("María Ñúñez de la Peña", "Adulto"), bottom="START empieza")
PREVIEW = Screen("MIRAR SIN ABRIR", top_inverse=True, clock="1:59", bottom="mantén START anula")
RUNNING = Screen("Mesa 12", "quedan 1h14", clock="45:21", bottom="P2 · A3 10:00")
LONG = Screen("Mesa 12", "sin red 5", clock="1:45:21", bottom="P2 · A3 10:00 · FINISH fin")
INEXACT = Screen("Mesa 12", "RELOJ", clock="≥ 0:34:10", bottom="P2 · A3 10:00")
PAUSED = Screen("PAUSA 1/2", top_inverse=True, clock="4:37", bottom="PAUSE sigue")
CLAIMED = Screen("¿COMPLETO?", top_inverse=True, clock="43:21", bottom="FINISH sí · mantén START no")
SEALED = Screen("FINAL", "Turno 3", clock="45:31", bottom="43:21 + ayuda 2:10")
TIME_UP = Screen("¡TIEMPO!", top_inverse=True, clock="45:00")
COUNTING = Screen("PIEZAS SUELTAS", clock="37", bottom="PAUSE − · ASSIST + · FINISH ok")
HOLDING = Screen("DESHACER PAUSA", top_inverse=True, bar=0.6, bottom="soltar = nada")
REFUSED = replace(RUNNING, bottom="sin pausas en grupos", bottom_inverse=True)
SCREENS = [
    READY, PREVIEW, RUNNING, LONG, INEXACT, PAUSED, CLAIMED, SEALED, TIME_UP, COUNTING, HOLDING, REFUSED
]  # fmt: skip

SPANISH = "abcdeghijklmnñopqrstuvwxyzáéíóúüÁÉÍÓÚÑABCDEFGJQRSTWZ0123456789 ¡!¿?.,:;·-+−=/()&'\"…ŁłŠřżőçã"
words = st.text(SPANISH, max_size=60)
screens = st.builds(
    Screen,
    top=words,
    top_right=words,
    lines=st.tuples(words, words),
    clock=st.sampled_from(["", "0:00", "1:59", "59:59", "1:02:03", "≥ 0:34:10", "−4", "500", "12"]),
    bar=st.none() | st.floats(0, 1),
    bottom=words,
)


def box(image: Image.Image, left: int, top: int, right: int, bottom: int) -> Image.Image:
    return image.crop((left, top, right, bottom))


def without_tick(image: Image.Image) -> Image.Image:
    image.paste(0, (0, HEIGHT - 1, 2, HEIGHT))
    return image


def ink(image: Image.Image) -> int:
    return image.convert("L").histogram()[255]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda s: s.top)
def test_every_screen_is_one_picture_of_the_display(screen: Screen) -> None:
    image = draw(screen)
    assert (image.mode, image.size) == ("1", (WIDTH, HEIGHT))
    assert ink(box(image, 0, 0, WIDTH, 14)) > 50


@settings(max_examples=60)
@given(screens)
def test_the_layout_moves_as_a_whole_and_nothing_of_it_is_lost_at_an_edge(screen: Screen) -> None:
    still = without_tick(draw(screen))
    moved = without_tick(draw(replace(screen, shift=MAX_SHIFT)))
    expected = Image.new("1", (WIDTH, HEIGHT))
    expected.paste(box(still, 0, 0, WIDTH - MAX_SHIFT[0], HEIGHT - MAX_SHIFT[1]), MAX_SHIFT)
    assert ImageChops.logical_xor(moved, expected).getbbox() is None
    assert ink(moved) == ink(still)


@settings(max_examples=200)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=20), st.booleans())
def test_no_text_whatever_its_letters_stops_the_drawing(a: str, b: str, clock: str, on: bool) -> None:
    screen = Screen(a, b, top_inverse=on, clock=clock, lines=(b, a), bottom=a, bottom_inverse=on, blink_on=on)
    assert draw(screen).size == (WIDTH, HEIGHT)
    assert draw(replace(screen, clock="", lines=(a,))).size == (WIDTH, HEIGHT)


@pytest.mark.parametrize(
    ("screen", "height"),
    [
        pytest.param(LONG, 32, id="h:mm:ss above a bottom line"),
        pytest.param(RUNNING, 32, id="mm:ss above a bottom line"),
        pytest.param(replace(TIME_UP, top="", top_inverse=False), 44, id="mm:ss alone"),
        pytest.param(Screen("", clock="5:00"), 47, id="m:ss alone"),
        pytest.param(replace(INEXACT, top="", top_right=""), 28, id="lower bound"),
        pytest.param(replace(CLAIMED, top="", top_inverse=False), 20, id="two rows of hints"),
    ],
)
def test_digits_are_as_high_as_there_is_room(screen: Screen, height: int) -> None:
    bare = without_tick(draw(replace(screen, top="", top_right="", top_inverse=False)))
    rows = [y for y in range(15, HEIGHT) if box(bare, 0, y, WIDTH, y + 1).getbbox()]
    run = next(n for n in range(len(rows) + 1) if n == len(rows) or rows[n] != rows[0] + n)
    assert run >= height


@pytest.mark.parametrize("before", ["45:20", "1:45:20", "≥ 0:34:10", "0:00"])
@pytest.mark.parametrize("digit", range(1, 10))
def test_when_the_last_digit_changes_nothing_else_moves(before: str, digit: int) -> None:
    first = draw(replace(RUNNING, clock=before))
    second = draw(replace(RUNNING, clock=f"{before[:-1]}{digit}"))
    changed = ImageChops.logical_xor(first, second).getbbox()
    assert changed is not None
    left, top, _, bottom = changed
    assert left > WIDTH * 3 // 5
    assert (top, bottom) >= (15, 15)
    assert bottom <= 48


def test_the_bottom_line_leaves_a_row_free_below_the_digits() -> None:
    for screen in (PREVIEW, RUNNING, LONG, SEALED):
        assert box(draw(screen), 0, 47, WIDTH, 48).getbbox() is None


def test_a_mark_walks_two_columns_a_second_along_the_last_row_and_comes_round() -> None:
    seen = []
    for tick in range(WIDTH // 2):
        first, row = draw(replace(READY, tick=tick)), None
        row = box(first, 0, HEIGHT - 1, WIDTH, HEIGHT).getbbox()
        assert row is not None
        seen.append(row[0])
        assert row[2] - row[0] == 2
    assert sorted(seen) == list(range(0, WIDTH, 2))
    assert draw(replace(READY, tick=WIDTH // 2)).tobytes() == draw(READY).tobytes()


def test_the_mark_is_seen_on_an_inverse_bottom_line_too() -> None:
    first, second = draw(replace(REFUSED, tick=10)), draw(replace(REFUSED, tick=11))
    assert ImageChops.logical_xor(first, second).getbbox() == (20, HEIGHT - 1, 24, HEIGHT)


@pytest.mark.parametrize("screen", [RUNNING, REFUSED, HOLDING])
def test_a_press_that_was_seen_marks_the_corner_and_nothing_else(screen: Screen) -> None:
    changed = ImageChops.logical_xor(draw(screen), draw(replace(screen, seen=True))).getbbox()
    assert changed is not None
    assert changed[0] >= WIDTH - 7
    assert changed[1] >= HEIGHT - 8


@pytest.mark.parametrize("screen", [PREVIEW, PAUSED, CLAIMED, HOLDING])
def test_between_two_blinks_the_words_stay(screen: Screen) -> None:
    on, off = draw(screen), draw(replace(screen, blink_on=False))
    bar = ImageChops.logical_xor(box(on, 0, 0, WIDTH, 14), box(off, 0, 0, WIDTH, 14))
    assert ink(bar) == WIDTH * 14
    assert box(on, 0, 15, WIDTH, HEIGHT).tobytes() == box(off, 0, 15, WIDTH, HEIGHT).tobytes()


def test_a_bar_grows_with_its_part_and_stays_in_its_frame() -> None:
    inks = [ink(draw(replace(HOLDING, bar=part / 20))) for part in range(21)]
    assert inks == sorted(set(inks))
    assert draw(replace(HOLDING, bar=-3.0)).tobytes() == draw(replace(HOLDING, bar=0.0)).tobytes()
    assert draw(replace(HOLDING, bar=7.0)).tobytes() == draw(replace(HOLDING, bar=1.0)).tobytes()


def test_a_short_name_is_large_and_a_longer_one_smaller() -> None:
    heights = []
    for name in ("Ana Gil", "Ana Gil Romero", "Ana Gil Romero Ib"):
        shape = box(draw(Screen("", lines=(name,), bottom="x")), 0, 15, WIDTH, 47).getbbox()
        assert shape is not None
        heights.append(shape[3] - shape[1])
    assert heights == sorted(heights, reverse=True)
    assert heights[0] >= 16


@pytest.mark.parametrize("middle", [Screen("", lines=("Ana",)), Screen("", clock="1:00"), READY])
def test_a_bar_leaves_the_words_above_it_their_own_rows(middle: Screen) -> None:
    image = draw(replace(middle, top="", top_right="", bar=0.0, bottom="START"))
    assert box(image, 0, 0, WIDTH, 15).getbbox() is None
    assert box(image, 0, 15, WIDTH, 25).getbbox() is not None


LATIN = st.text(SPANISH, max_size=80)
STYLES = (Style(Face.WORDS, 13), Style(Face.WORDS, 12), Style(Face.NARROW, 12))


@given(LATIN, LATIN)
def test_both_ends_of_a_line_never_overlap(left: str, right: str) -> None:
    a, b, style = fit_ends(left, right, 5, 126, STYLES, 12)
    assert style.width(a) + style.width(b) + (5 if b else 0) <= 126


@given(LATIN)
def test_the_table_is_there_however_long_the_right_end_is(right: str) -> None:
    left, _, _ = fit_ends("Mesa 120", right, 5, 126, STYLES, 12)
    assert left == "Mesa 120"


@given(LATIN, st.integers(20, 126))
def test_what_is_fitted_is_no_wider_than_asked_and_says_where_it_was_cut(text: str, width: int) -> None:
    got, style = fit(text, width, STYLES)
    assert style.width(got) <= width
    assert got == text or got == "" or (got.endswith(ELLIPSIS) and text.startswith(got[:-1]))


@given(LATIN.filter(lambda text: bool(text.strip())), st.sampled_from(STYLES))
def test_what_is_packed_on_two_lines_is_the_text_or_its_beginning(text: str, style: Style) -> None:
    first, second = pack(text, 126, style)
    assert style.width(second) <= 126
    joined = (first + second).replace(" ", "").replace("·", "").removesuffix(ELLIPSIS)
    assert text.replace(" ", "").replace("·", "").startswith(joined)


def test_hints_are_parted_between_hints() -> None:
    style = Style(Face.WORDS, 12)
    assert wrap("FINISH sí · mantén START no", 126, style, PART_ENDS) == ("FINISH sí", "mantén START no")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("José", "José"),
        ("Jose\u0301", "José"),
        ("a\u200db\u0000c\n\td", "abc d"),
        ("  Ana   Gil ", "Ana Gil"),
        ("\ud800", "\ufffd"),
        ("日本 😀", "日本 😀"),
        ("", ""),
    ],
)
def test_text_is_made_of_single_visible_letters(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("name", ["日本語", "محمد", "😀😀😀"])
def test_a_name_no_font_can_write_is_visibly_there(name: str) -> None:
    image = draw(Screen("Mesa 1", lines=(name,), bottom="START"))
    assert ink(box(image, 0, 15, WIDTH, 47)) > 40
    assert ink(box(image, 0, 0, WIDTH, 14)) == ink(box(draw(Screen("Mesa 1")), 0, 0, WIDTH, 14))


def test_nothing_is_kept_of_a_text_for_which_there_is_no_room() -> None:
    assert cut("Mesa", 1, STYLES[0]) == ""
