"""The judge's card is what the program does: its pictures, its buttons, and the committed file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from pypdf import PdfReader

from device.debounce import Button
from shared.core.events import EventType
from tests.device.rig import Rig
from tests.docs import card
from tests.docs.card_words import CARDS, EN, ES, State

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
LANGUAGES = ("es", "en")
A5_PT = (419.53, 595.28)


def read(path: Path) -> tuple[list[str], list[str]]:
    """The text of each page and what tells its pictures apart."""
    pages = PdfReader(path).pages
    pictures = [image.image for page in pages for image in page.images if image.image is not None]
    return [page.extract_text() for page in pages], [sha256(p.tobytes()).hexdigest()[:12] for p in pictures]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_committed_card_is_what_the_program_shows_now(tmp_path: Path, language: str) -> None:
    made = tmp_path / "card.pdf"
    card.make(language, made)
    assert read(card.path(language)) == read(made), "run make docs"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_card_is_two_a5_pages_with_all_its_words_and_letters(language: str) -> None:
    words, pages = CARDS[language], PdfReader(card.path(language)).pages
    assert [tuple(round(float(x), 2) for x in page.mediabox[2:]) for page in pages] == [A5_PT, A5_PT]
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    said = [
        words.title,
        words.how,
        words.last,
        *(m.text for m in words.marks),
        *(m.title for m in words.marks),
    ]
    said += [text for state in (*words.run, *words.escape) for text in state.does.values()]
    assert [s for s in said if s not in text] == []
    fonts = {str(f["/BaseFont"]) for page in pages for f in map(_got, page["/Resources"]["/Font"].values())}  # type: ignore[index]
    assert {name.partition("+")[2] for name in fonts} == {"Roboto-Bold", "Roboto-Medium"}, "embedded"


def _got(reference: object) -> dict[str, object]:
    got: dict[str, object] = reference.get_object()  # type: ignore[attr-defined]
    return got


@pytest.mark.parametrize("language", LANGUAGES)
def test_making_a_card_twice_gives_the_same_bytes(tmp_path: Path, language: str) -> None:
    for name in ("a", "b"):
        card.make(language, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_both_cards_say_the_same() -> None:
    for a, b in zip((*ES.run, *ES.escape), (*EN.run, *EN.escape), strict=True):
        assert (a.shot, set(a.does)) == (b.shot, set(b.does))
    assert [m.shot for m in ES.marks] == [m.shot for m in EN.marks]


def _running(rig: Rig) -> None:
    rig.press(START)
    rig.wait(120 + 60)


def _paused(rig: Rig) -> None:
    _running(rig)
    rig.press(PAUSE)


def _pause_over(rig: Rig) -> None:
    _paused(rig)
    rig.wait(301)


def _assisting(rig: Rig) -> None:
    _running(rig)
    rig.press(ASSIST)


def _claimed(rig: Rig) -> None:
    _running(rig)
    rig.press(FINISH)


def _counting(rig: Rig) -> None:
    _running(rig)
    rig.jump(7140)
    rig.wait(60)
    rig.press(ASSIST)


def _help_over(rig: Rig) -> None:
    _assisting(rig)
    rig.wait(601)


def _sealed(rig: Rig) -> None:
    _claimed(rig)
    rig.press(FINISH)


def _asked(rig: Rig) -> None:
    _running(rig)
    rig.press(ASSIST)


WAYS: dict[str, Callable[[Rig], None]] = {
    "ready": lambda _rig: None,
    "preview": lambda rig: rig.press(START),
    "running": _running,
    "paused": _paused,
    "pause ran out": _pause_over,
    "assisting": _assisting,
    "help used up": _help_over,
    "claimed": _claimed,
    "counting": _counting,
    "sealed": _sealed,
    "escape": _running,
    "escape: hint?": _asked,
}
ROWS = [(state, button) for state in (*EN.run, *EN.escape) for button in Button]


@pytest.fixture
def reached(tmp_path: Path) -> Iterator[Callable[[State], Rig]]:
    rigs: list[Rig] = []

    def reach(state: State) -> Rig:
        rigs.append(Rig(tmp_path, "castrillo-parejas" if state in EN.escape else "adulto"))
        WAYS[state.shot](rigs[0])
        return rigs[0]

    yield reach
    for rig in rigs:
        rig.unplug()


@pytest.mark.parametrize(("state", "button"), ROWS, ids=[f"{s.shot}-{b}" for s, b in ROWS])
def test_a_button_is_refused_exactly_where_the_card_says_that_it_does_nothing(
    reached: Callable[[State], Rig], state: State, button: Button
) -> None:
    rig = reached(state)
    before = rig.events()
    does = state.does.get(button)
    held = does is not None and does.startswith("hold")
    rig.press(button, hold=2.2 if held else 0.08)
    refused = [e for e in rig.events()[len(before) :] if e.type == EventType.PRESS_REFUSED]
    if does is None:
        assert refused, "it says why"
        assert rig.screens[-1].bottom_inverse
    elif not (state.shot in ("running", "escape", "escape: hint?") and held):  # nothing but the start to undo
        assert refused == []


@pytest.mark.parametrize(("button", "asks"), [(FINISH, FINISH), (PAUSE, None)])
def test_another_button_than_the_one_asked_for_takes_a_question_back_as_the_card_says(
    reached: Callable[[State], Rig], button: Button, asks: Button | None
) -> None:
    question = next(state for state in EN.escape if state.shot == "escape: hint?")
    rig = reached(question)
    rig.press(button)
    armed = rig.table.presses.armed
    assert (None if armed is None else armed.button) is asks
    assert rig.events(EventType.HINT_GIVEN) == []


def test_a_count_of_nothing_is_confirmed_by_holding_finish_as_the_card_says(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    _running(rig)
    rig.jump(7140)
    rig.wait(60)
    rig.press(FINISH)
    rig.press(FINISH, hold=2.2)
    rig.wait(1)
    rig.press(FINISH)
    assert [e.data["pieces"] for e in rig.events(EventType.PIECES_COUNTED)] == [0]
    rig.unplug()
