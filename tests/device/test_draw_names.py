"""Names that are code, very long, in other scripts or two ways of writing accents: the display shows letters."""

from __future__ import annotations

import pytest

from device.draw import HEIGHT, WIDTH, draw
from device.lettering import printable
from device.screen import Screen

NAMES = [
    "<script>alert(1)</script>",
    "{{ 7 * 7 }} %s {0}",
    "\u202eal revés\u202c",
    "\u200f\u0639\u0631\u0628\u064a",
    "I\u0301n\u0303igo",
    "🧩" * 20,
    "x" * 300,
    "a\r\nb\x00c",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_a_picture_of_the_display(name: str) -> None:
    assert draw(Screen("Mesa 12", "Turno 3", lines=(name, "Adulto"), bottom=name)).size == (WIDTH, HEIGHT)


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_name_that_is_code_keeps_every_letter(name: str) -> None:
    assert printable(name) == name


def test_two_ways_of_writing_an_accent_are_one_picture() -> None:
    composed, decomposed = (Screen("Mesa 1", lines=(name,)) for name in ("Íñigo", "I\u0301n\u0303igo"))
    assert draw(composed).tobytes() == draw(decomposed).tobytes()


def test_marks_that_turn_the_direction_of_writing_turn_nothing() -> None:
    assert "al revés" in printable("\u202eal revés\u202c")
