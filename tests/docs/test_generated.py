"""Generated pages are what the code says now."""

from __future__ import annotations

import pytest
from PIL import Image, ImageChops

from tests.docs import display, machine, sheet
from tests.docs.__main__ import PICTURES


def test_the_page_of_the_run_machine_is_generated_from_its_table() -> None:
    assert machine.PAGE.read_text() == machine.page(), "run make docs"


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_pictures_of_every_state_are_what_the_program_shows_now(language: str) -> None:
    made = sheet.sheet(display.screens(language), language)
    with Image.open(PICTURES / f"display-{language}.png") as kept:
        assert ImageChops.difference(made, kept.convert("L")).getbbox() is None, "run make docs"
