"""What must be read stands whole on the display, in every state, with every mark, in both languages.

Reports C03 and C06 as well: no text of any length keeps a table from drawing.
Long because every state is looked at under every mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image, ImageChops

from device import lettering
from device.call import Called
from device.cannot_start import why
from device.draw import HEIGHT, WIDTH, draw, written
from device.facts import Facts, Refusal
from device.journal import JournalBusy, NotSaved
from device.lettering import ELLIPSIS
from device.screen import Screen
from device.screens import CALLS_MS, compose
from device.start_orders import Ordered
from device.words import parts_text
from shared.core.machine import limit_due
from shared.core.model import Refusal as Reason
from shared.core.model import State, Status
from shared.core.result import Result
from shared.core.rules import CountKind
from shared.refusal_words import refusal_words
from shared.texts import translator
from shared.wire import Do
from tests.device.states import states

LANGUAGES = ("es", "en")
STATES = tuple(states())
MARKS: dict[str, dict[str, object]] = {
    "none": {},
    "not saved": {"not_saved": True, "saved_ago_s": 46},
    "not saved for long": {"not_saved": True, "saved_ago_s": 360_000},
    "stuck": {"stuck": ("assist",)},
    "clock": {"low": True},
    "power": {"supply_weak": True},
    "safe mode": {"safe": True},
    "copied": {"copied": True},
    "offline": {"online": False, "unsent": 5},
    "offline for long": {"online": False, "unsent": 12_345},
}
TURNS = (0, 2, 4, 6, 8, 10)
"""Seconds at which whatever takes turns has had them all."""
OWN_REASONS = (
    "too_soon", "count_first", "just_handed_over", "not_saved", "nothing_planned", "plan_done",
    "starts_by_itself", "start_too_old", "nothing_to_undo",
)  # fmt: skip
REASONS = (*(str(reason) for reason in Reason), *OWN_REASONS)


def word(language: str, text: str) -> str:
    return translator(language).pgettext("oled", text)


def every(test: object) -> object:
    for name, values in (("language", LANGUAGES), ("state", STATES)):
        test = pytest.mark.parametrize(name, values)(test)
    return test


def told(state: str, language: str, **more: object) -> Facts:
    return replace(states()[state], language=language, **more)  # type: ignore[arg-type]


def turns(facts: Facts) -> Iterator[Screen]:
    for tick in TURNS:
        yield compose(replace(facts, tick=tick))


def top_of(screen: Screen) -> str:
    return " | ".join(written(replace(screen, clock="", lines=(), checks=(), bottom="")))


def shot(screen: Screen) -> Image.Image:
    """The picture without what moves by itself."""
    return draw(replace(screen, tick=0, shift=(0, 0), blink_on=True))


@every
@pytest.mark.parametrize("mark", MARKS)
def test_words_of_ours_are_never_cut_whatever_else_has_to_be_said(
    state: str, language: str, mark: str
) -> None:
    facts = told(state, language, **MARKS[mark])
    heat = None if facts.heat is None else "WWWWWWWW"
    for table in (1, 12, 100, 999):
        for practice in (False, True):
            for held_s in (0.0, 1.0):
                seen = replace(facts, table=table, heat=heat, practice=practice, held_s=held_s)
                for screen in turns(seen):
                    assert [text for text in written(screen) if ELLIPSIS in text] == []


@every
def test_not_saved_is_whole_in_every_state_at_least_every_other_turn(state: str, language: str) -> None:
    facts = told(state, language, table=999, not_saved=True, saved_ago_s=4000)
    shown = [word(language, "NOT SAVED") in top_of(screen) for screen in turns(facts)]
    assert shown.count(True) >= len(TURNS) // 2
    assert all(screen.blinks for screen in turns(facts))


@every
@pytest.mark.parametrize("mark", MARKS)
def test_practice_is_seen_in_every_state_of_a_run(state: str, language: str, mark: str) -> None:
    facts = told(state, language, practice=True, **MARKS[mark])
    if facts.situation.frame is None:
        return
    seen = [word(language, "PRACTICE") in top_of(screen) for screen in turns(facts) if screen.top_inverse]
    assert len(seen) == len(TURNS)
    assert any(seen)
    if mark == "none":
        assert seen.count(True) >= len(TURNS) // 2


@every
def test_the_title_of_a_state_stays_beside_practice(state: str, language: str) -> None:
    plain, practised = told(state, language), told(state, language, practice=True)
    if plain.situation.state in (State.READY, State.RUNNING):
        return
    short = {
        word(language, long): word(language, less)
        for long, less in (("LOOK, DON'T OPEN", "LOOK"), ("JOINED PIECES", "JOINED"))
    }
    for before, after in zip(turns(plain), turns(practised), strict=True):
        assert after.top in (before.top, short.get(before.top))


@every
@pytest.mark.parametrize("mark", MARKS)
def test_what_a_held_start_will_undo_is_written_whole_and_alone(state: str, language: str, mark: str) -> None:
    facts = told(state, language, held_s=1.0, **MARKS[mark])
    screen = compose(facts)
    if screen.bar is not None:
        assert (written(screen)[0], screen.top_right) == (screen.top, "")


@every
def test_a_refused_press_and_the_turns_of_the_bottom_line_leave_the_middle_as_it_is(
    state: str, language: str
) -> None:
    facts = told(state, language)
    first = compose(facts)
    if not first.clock:
        return
    middle = (0, 15, WIDTH, 34)
    kept = shot(first).crop(middle).tobytes()
    for screen in turns(facts):
        assert shot(screen).crop(middle).tobytes() == kept
    for reason in REASONS:
        refused = compose(replace(facts, refusal=Refusal(reason, 500)))
        own_question = reason == "claimed" and facts.situation.state is not State.CLAIMED
        if not own_question:  # is refused only where it is asked
            assert shot(refused).crop(middle).tobytes() == kept, reason


@pytest.mark.parametrize("clock", ["2:00:00", "31:41", "0:00", "≥ 2:00:00", "≤ 4:18", "500", "88:88"])
@pytest.mark.parametrize(
    "bottom", ["sin pausas", "gÁj", "FINISH sí · mantén START no", "START sigue con la prueba"]
)
@pytest.mark.parametrize("top", ["PAUSA 1/2", "ÁÉÑ ¡jg!"])
def test_at_least_a_row_stays_dark_between_digits_and_the_bars(clock: str, bottom: str, top: str) -> None:
    image = shot(Screen(top, top_inverse=True, clock=clock, bottom=bottom, bottom_inverse=True))
    lit = [y for y in range(HEIGHT) if image.crop((0, y, WIDTH, y + 1)).getbbox() is not None]
    dark = sorted(set(range(HEIGHT)) - set(lit))
    bar = next(y for y in range(HEIGHT - 2, 0, -1) if not image.getpixel((0, y))) + 1
    assert 14 in dark
    assert bar - 1 in dark
    assert not set(range(15, bar - 1)) <= set(dark), "the digits are between them"


def test_words_in_the_middle_keep_off_the_bar_below_them() -> None:
    screen = Screen("Mesa 1", lines=("Ágata Jiménez Yagüe", "jóvenes"), bottom="x", bottom_inverse=True)
    assert shot(screen).crop((0, 47, WIDTH, 48)).getbbox() is None


@pytest.mark.parametrize(
    "text",
    [
        "START goes on with the run",
        "pista: 1 billete · ASSIST = sí",
        "pegajoso y gris · Álbum Ñandú",
        "gggg gggg gggg · ÁÁÁÁ ÁÁÁÁ",
    ],
)
def test_no_tail_of_the_upper_row_touches_the_lower_one(text: str) -> None:
    """Where the rows are written over each other, or side by side, letters run together: fewer pieces of ink."""
    screen = Screen("", bottom=text)
    upper, lower = (Screen("", bottom=row, keeps=(text,)) for row in written(screen))
    both = shot(screen).crop((0, 15, WIDTH, 63))
    assert _pieces(both) == sum(_pieces(shot(row).crop((0, 15, WIDTH, 63))) for row in (upper, lower))


def _pieces(image: Image.Image) -> int:
    """How many separate pieces of ink there are, corners touching."""
    image, found = image.convert("L"), 0
    while (box := image.getbbox()) is not None:
        x = next(x for x in range(WIDTH) if image.getpixel((x, box[1])))
        todo, found = [(x, box[1])], found + 1
        while todo:
            x, y = todo.pop()
            if 0 <= x < image.width and 0 <= y < image.height and image.getpixel((x, y)):
                image.putpixel((x, y), 0)
                todo += [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    return found


def test_a_title_with_a_tail_beside_a_mark_stays_in_its_bar() -> None:
    for mark in ("MODO SEGURO", "NO GUARDA 0:46", "sin red 5"):
        screen = Screen("¡TIEMPO!", top_right=mark, top_inverse=True, blink_on=False)
        image = draw(screen)
        image.paste(0, (0, HEIGHT - 1, WIDTH, HEIGHT))
        box = image.getbbox()
        assert box is not None
        assert box[3] <= 14


def test_a_mark_does_not_change_its_size_while_its_seconds_count() -> None:
    def high(seconds: int) -> tuple[int, int]:
        facts = told("running", "es", table=100, not_saved=True, saved_ago_s=seconds)
        box = (
            draw(replace(compose(facts), clock="", bottom="", top_inverse=False, tick=60))
            .crop((0, 0, 60, 14))
            .getbbox()
        )
        assert box is not None
        return box[2], box[3]

    assert len({high(seconds) for seconds in range(60, 120)}) == 1


QUESTIONS = [name for name in STATES if "?" in name or name.startswith("claimed")]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", QUESTIONS)
def test_what_the_hub_asks_for_hides_no_question_and_no_answer_to_it(state: str, language: str) -> None:
    facts = told(state, language)
    for do in (Do.SHOW_TEXT, Do.IDENTIFY, Do.SELFTEST):
        called = replace(facts, called=Called(do, 1e9, "x" * 40))
        for before, after in zip(turns(facts), turns(called), strict=True):
            assert after.bottom == before.bottom
        titles = {screen.top for screen in turns(facts)}
        assert titles & {screen.top for screen in turns(called)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "state", [n for n in STATES if states()[n].situation.state not in (State.READY, State.SEALED)]
)
def test_a_text_over_a_run_does_not_say_that_a_press_only_dismisses_it(state: str, language: str) -> None:
    screen = compose(told(state, language, called=Called(Do.SHOW_TEXT, 1e9, "Heat 4 at 12:30")))
    assert word(language, "any button: seen") not in written(screen)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("call_ms", CALLS_MS)
@pytest.mark.parametrize(
    "state", ["running", "assisting", "pause ran out", "help ran out", "second puzzle", "escape"]
)
def test_ten_minutes_and_one_minute_are_called_whatever_runs_with_the_clock(
    state: str, call_ms: int, language: str
) -> None:
    facts = told(state, language)
    situation = facts.situation
    assert situation.frame is not None
    due_ms = limit_due(situation.run, situation.frame)
    for left_ms in (call_ms, call_ms - 4_999):
        near = replace(facts, situation=replace(situation, t_ms=due_ms - left_ms))
        minutes = word(language, "{minutes} MIN LEFT").format(minutes=call_ms // 60_000)
        for screen in turns(near):
            assert (screen.top, screen.top_inverse) == (minutes, True)
    late = replace(facts, situation=replace(situation, t_ms=due_ms - call_ms + 5_001))
    assert minutes not in {screen.top for screen in turns(late)}


HELD = {
    "running": ("deshacer: en central", None),
    "paused": ("soltar = sigue", "DESHACER PAUSA"),
    "pause ran out": ("soltar = enterado", "DESHACER PAUSA"),
    "claimed": ("soltar = nada", "NO COMPLETO"),
    "assisting": ("soltar = nada", "DESHACER AYUDA"),
    "preview": ("soltar = nada", "ANULAR SALIDA"),
    "counting: loose": ("deshacer: en central", None),
    "time up: nothing to count": ("soltar = siguiente", None),
    "escape": ("deshacer: en central", None),
}


@pytest.mark.parametrize("state", HELD)
def test_while_start_is_held_the_display_says_what_letting_go_and_holding_on_really_do(state: str) -> None:
    bottom, title = HELD[state]
    for held_s in (0.3, 1.0, 1.9):
        screen = compose(told(state, "es", held_s=held_s))
        assert screen.bottom == bottom
        assert (screen.bar is not None) == (title is not None), "a bar fills only where there will be an undo"
        if title is not None:
            assert screen.top == title
        else:
            assert screen.clock == compose(told(state, "es")).clock


@pytest.mark.parametrize(
    "state", [n for n in STATES if "escape" in n or n in ("paused", "assisting", "preview")]
)
def test_not_saved_says_whom_to_tell_in_turns_with_what_can_be_pressed(state: str) -> None:
    facts = told(state, "es", not_saved=True)
    bottoms = {screen.bottom for screen in turns(facts)}
    if "?" in state:
        assert bottoms == {screen.bottom for screen in turns(told(state, "es"))}
    else:
        assert "avisar a organización" in bottoms
        assert len(bottoms) > 1


def test_nothing_counts_down_to_a_start_that_cannot_be_while_nothing_is_kept() -> None:
    ordered = Ordered(27.5, judge=False)
    assert compose(told("ready", "es", ordered=ordered)).bottom == "empieza solo"
    for facts in (
        told("ready", "es", ordered=ordered, not_saved=True),
        told("ready", "es", ordered=replace(ordered, judge=True), not_saved=True),
        told("ready", "es", practice=True, not_saved=True),
    ):
        screen = compose(facts)
        assert (screen.bottom, screen.clock) == ("avisar a organización", "")


@pytest.mark.parametrize("state", ["preview", "paused"])
def test_after_a_plug_was_pulled_what_is_left_is_marked_as_at_most_that(state: str) -> None:
    assert not compose(told(state, "es")).clock.startswith("≤")
    assert compose(told(state, "es", low=True)).clock.startswith("≤ ")


def test_the_wait_for_a_solution_is_marked_as_at_most_that_too() -> None:
    facts = told("escape: solution soon", "es", low=True, tick=0)
    assert "≤ 4:5" in compose(facts).bottom
    assert compose(replace(facts, refusal=Refusal("help_too_soon"))).bottom.startswith("ayuda en ≤ 4:5")


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_keeps_a_table_from_starting_is_called_by_its_name(language: str) -> None:
    lines = [why(error, 12, language).lines for error in (NotSaved(""), JournalBusy(""), OSError(""))]
    assert len(set(lines)) == 3
    assert lines[0] == (word(language, "NOT SAVED"),)
    for error in (NotSaved(""), JournalBusy(""), OSError("")):
        assert ELLIPSIS not in "".join(written(why(error, 999, language)))


@pytest.mark.parametrize("name", ["\u200b\u2060", "", "\u0301"])
def test_c03_a_name_with_nothing_to_see_is_told_by_its_id(name: str) -> None:
    facts = told("ready", "es", entrant=name, category="Adulto")
    assert compose(facts).lines == ("e1", "Adulto")
    assert compose(replace(facts, offered=None)).lines == ("?", "Adulto")


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "ab " * 50_000, "a" * 3_000_000, "\u200b" * 100_000 + "Ana", "ñ́ " * 9_999]
)
def test_c03_a_text_of_any_length_is_measured_no_oftener_than_a_long_name(text: str) -> None:
    assert _measured(text) <= 400


def _measured(text: str) -> int:
    """How often it took a font to draw it at all places at once."""
    for cache in (lettering._width, lettering._drop, lettering._rise):
        cache.cache_clear()
    letters = [
        Screen("Mesa 1", text, lines=(text, text), bottom=text),
        Screen(text, lines=(text,), bottom="x"),
    ]
    for n, screen in enumerate(letters):  # the room differs, so that nothing is drawn by heart
        assert draw(replace(screen, top=f"{screen.top}{n}")).size == (WIDTH, HEIGHT)
    caches = (lettering._width, lettering._drop, lettering._rise)
    return sum(cache.cache_info().misses for cache in caches)


def test_a_text_as_long_as_the_hub_allows_is_whole_on_the_glass() -> None:
    text = "La mesa 12 va a organización a las 12:30"
    assert len(text) == 40
    for state in ("ready", "running"):
        screen = compose(told(state, "es", called=Called(Do.SHOW_TEXT, 1e9, text)))
        assert ELLIPSIS not in "".join(written(screen))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pieces_of_a_final_say_which_they_are(language: str) -> None:
    texts = {
        parts_text(language, states()[f"counted: {kind}"].result or _none(), kind)
        for kind in CountKind
        if kind is not CountKind.NOTHING
    }
    assert len(texts) == 3


def _none() -> Result:
    raise AssertionError("a counted run has its result")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reason_of_a_refusal_fits_on_one_row_but_for_the_answer_to_a_question(language: str) -> None:
    one_row = shot(Screen("", clock="12:34", bottom="x")).crop((0, 15, WIDTH, 46)).tobytes()
    for reason in REASONS:
        text = refusal_words(reason, translator(language))
        if reason == "claimed":
            continue
        assert shot(Screen("", clock="12:34", bottom=text)).crop((0, 15, WIDTH, 46)).tobytes() == one_row, (
            text
        )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("status", [Status.DSQ, Status.DNF, Status.VOID])
def test_a_decision_is_whole_beside_every_mark(status: Status, language: str) -> None:
    facts = told("sealed", language, table=999)
    assert facts.result is not None
    facts = replace(facts, result=replace(facts.result, status=status))
    for mark in MARKS.values():
        for practice in (False, True):
            for screen in turns(replace(facts, practice=practice, **mark)):  # type: ignore[arg-type]
                assert ELLIPSIS not in "".join(written(screen))


def test_a_long_name_of_a_heat_is_cut_beside_the_table_which_never_goes_away() -> None:
    for screen in turns(told("ready", "es", table=999, heat="Semifinal de Parejas A y B 123")):
        assert screen.top == "Mesa 999"
        assert screen.top_right.startswith("Semif")
        assert ImageChops.logical_xor(shot(screen), shot(replace(screen, top_right=""))).getbbox() is not None
