"""Every screen of every state, in both languages: whole on the glass, each word in its band, nothing cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import fake_rpi
import pytest
from fake_rpi.smbus import SMBus
from PIL import Image, ImageChops

from device.draw import HEIGHT, MAX_SHIFT, WIDTH, draw
from device.facts import Refusal
from device.fakes.controller_ram import DisplayRam
from device.lettering import ELLIPSIS, Face, Style, fit_ends, wrap
from device.panel import DRIVERS, Panel
from device.screen import Screen
from device.situation import Situation
from device.words import refusal_text, undo_text
from shared.core.events import EventType
from shared.core.state import RunState
from tests.docs.display import screens
from tests.docs.sheet import name_in

fake_rpi.toggle_print(False)

LANGUAGES = ("es", "en")
STATES = [name for name, _ in screens("es")]
GENEROUS_S = 60.0
TOP, MIDDLE, BOTTOM = range(14), range(15, 48), range(48, 63)


@cache
def played(language: str) -> dict[str, Screen]:
    return {name: replace(screen, shift=(0, 0), blink_on=True) for name, screen in screens(language)}


def every(test: object) -> object:
    for name, values in (("language", LANGUAGES), ("state", STATES)):
        test = pytest.mark.parametrize(name, values)(test)
    return test


def rows(image: Image.Image, rows: range) -> Image.Image:
    return image.crop((0, rows.start, WIDTH, rows.stop))


def without_mark(image: Image.Image) -> Image.Image:
    image.paste(0, (0, HEIGHT - 1, WIDTH, HEIGHT))
    return image


class FakeRpiBus(SMBus):  # type: ignore[misc]
    """fake_rpi's bus with a display on it."""

    def __init__(self, driver: str) -> None:
        super().__init__(1)
        self.display = DisplayRam(driver)

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        super().write_i2c_block_data(i2c_addr, register, data)
        self.display.feed(register, data)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_screen_is_whole_on_the_glass_from_the_bytes_on_the_bus(driver: str, language: str) -> None:
    bus = FakeRpiBus(driver)
    panel = Panel(driver, lambda: bus)
    panel.start()
    for name, screen in played(language).items():
        image = draw(screen)
        panel.show(image, screen.glow)
        assert panel.wait_sent(image, GENEROUS_S), name
        assert bus.display.lit().tobytes() == image.tobytes(), name
    panel.stop(GENEROUS_S)


@every
def test_nothing_is_outside_the_glass(state: str, language: str) -> None:
    # bars reach to the edges wherever their words are, so the words are looked at without them
    screen = replace(played(language)[state], top_inverse=False, bottom_inverse=False, negative=False)
    still, moved = (without_mark(draw(replace(screen, shift=shift))) for shift in ((0, 0), MAX_SHIFT))
    expected = Image.new("1", (WIDTH, HEIGHT))
    expected.paste(still.crop((0, 0, WIDTH - MAX_SHIFT[0], HEIGHT - MAX_SHIFT[1])), MAX_SHIFT)
    assert ImageChops.logical_xor(moved, expected).getbbox() is None


@every
def test_a_title_stands_whole_in_its_bar(state: str, language: str) -> None:
    screen = played(language)[state]
    if screen.top_inverse:
        plain = draw(replace(screen, blink_on=False, clock="", lines=(), bar=None, bottom=""))
        box = without_mark(plain).getbbox()
        assert box is not None
        assert box[3] <= TOP.stop


@every
def test_each_band_keeps_to_its_rows(state: str, language: str) -> None:
    screen = replace(played(language)[state], top_inverse=False, bottom_inverse=False, negative=False)
    bare = replace(screen, clock="", lines=(), checks=(), bar=None)
    whole = without_mark(draw(screen))
    top = without_mark(draw(replace(bare, bottom="")))
    bottom = without_mark(draw(replace(bare, top="", top_right="")))
    assert top.getbbox() is not None
    assert top.getbbox()[3] <= MIDDLE.start  # type: ignore[index]
    floor = BOTTOM.start if screen.bottom else BOTTOM.stop
    if bottom.getbbox() is not None:
        floor = min(floor, bottom.getbbox()[1])  # type: ignore[index]
        assert bottom.getbbox()[3] <= BOTTOM.stop  # type: ignore[index]
        assert floor >= BOTTOM.start - 15, "two rows at most"
    bands = ImageChops.logical_or(top, bottom)
    middle = ImageChops.logical_xor(whole, bands)
    assert ImageChops.logical_and(middle, bands).getbbox() is None, "the middle covers neither"
    box = middle.getbbox()
    if box is not None:
        assert box[1] >= MIDDLE.start
        assert box[3] <= floor


@every
def test_the_two_ends_of_the_top_line_keep_apart(state: str, language: str) -> None:
    screen = played(language)[state]
    if not screen.top_right:
        return
    image = rows(draw(replace(screen, top_inverse=False)), TOP)
    empty = "".join(
        " " if image.crop((x, 0, x + 1, len(TOP))).getbbox() is None else "x" for x in range(WIDTH)
    )
    assert " " * 5 in empty.strip()


@every
def test_words_of_ours_are_never_cut(state: str, language: str) -> None:
    screen = played(language)[state]
    assert screen.top
    style = Style(Face.NARROW, 12)
    left, right, _ = fit_ends(screen.top, screen.top_right, 5, WIDTH - 6, (style,), 12)
    assert (left, right) == (screen.top, screen.top_right)
    assert _two_rows(screen.bottom), screen.bottom


def _two_rows(text: str) -> bool:
    style = Style(Face.NARROW, 12)
    return style.width(text) <= WIDTH - 2 or wrap(text, WIDTH - 2, style) is not None


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_reason_of_a_refusal_and_no_name_of_an_undo_is_cut(language: str) -> None:
    situation = Situation(RunState(), RunState(), None)
    reasons = [
        "after_limit",
        "no_pauses",
        "plan_done",
        "start_too_old",
        "too_many_pieces",
        "not_saved",
        "claimed",
    ]
    for reason in reasons:
        text = refusal_text(language, Refusal(reason, 599_900), situation)
        assert text != reason
        assert _two_rows(text), text
    for act in EventType:
        text = undo_text(language, act)
        left, _, _ = fit_ends(text, "", 5, WIDTH - 6, (Style(Face.NARROW, 12),), 12)
        assert left == text
        assert ELLIPSIS not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_languages_have_the_same_states_and_every_state_says_what_can_be_pressed(language: str) -> None:
    shown = played(language)
    assert list(shown) == STATES
    assert [name for name, screen in shown.items() if not screen.bottom] == [
        "starting",
        "which table?",
        "self-test: the card",
    ]
    buttons = ("START", "PAUSE", "ASSIST", "FINISH")
    silent = [n for n, s in shown.items() if not any(b in s.bottom for b in buttons)]
    assert set(silent) <= {
        "running", "holding START", "a refused press", "sealed", "ten minutes left", "time up",
        "finish after the limit", "counted", "escape: solution too soon", "escape: next step", "after a pulled plug",
        "not saved", "starting", "cannot start: settings", "cannot start: buttons", "cannot start: card",
        "waiting for the plan", "two timers on one table", "ordered start", "one minute left", "second puzzle",
        "escape over: puzzle", "a stuck button", "which table?", "a text from the hub", "practice: running",
        "cannot start: another program", "cannot start: something else", "holding START, too late",
        "a self-test from the hub", "which table?, in a run", "a text in a run", "self-test: a button",
        "self-test: the card",
    }  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_has_a_name_below_it_in_both_languages(language: str) -> None:
    names = [name_in(language, state) for state in STATES]
    assert len(set(names)) == len(STATES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_can_be_pressed_is_never_written_in_narrow_letters(language: str) -> None:
    for name, screen in played(language).items():
        for row in _rows_of(screen):
            assert Style(Face.WORDS, 11).width(row) <= WIDTH - 2, name


def _rows_of(screen: Screen) -> tuple[str, ...]:
    style = Style(Face.WORDS, 11)
    if style.width(screen.bottom) <= WIDTH - 2:
        return (screen.bottom,)
    halves = wrap(screen.bottom, WIDTH - 2, style)
    return (screen.bottom,) if halves is None else halves


def test_a_negative_picture_has_light_and_dark_exchanged_and_blinks_to_the_plain_one() -> None:
    screen = played("es")["which table?"]
    light, plain = draw(screen), draw(replace(screen, negative=False))
    assert ImageChops.logical_xor(light, plain).histogram()[255] == WIDTH * HEIGHT
    assert (
        draw(replace(screen, blink_on=False)).tobytes()
        == draw(replace(screen, negative=False, blink_on=False)).tobytes()
    )
