"""Reading a final result off a display."""

from __future__ import annotations

import pytest

from device.screen import Screen
from tests.chaos.eyes import Seen, seen_on


@pytest.mark.parametrize(
    ("screen", "seen"),
    [
        (
            Screen("FINAL", top_right="Turno 7", clock="0:34:10", bottom="x"),
            Seen("7", "0:34:10", bound=False),
        ),
        (Screen("FINAL", top_right="Turno 7", clock="≥ 34:10", bottom="x"), Seen("7", "34:10", bound=True)),
        (Screen("FINAL", top_right="Turno 7", clock="412", bottom="x"), Seen("7", "412", bound=False)),
        (Screen("FINAL", top_right="Turno 7", lines=("DNF",), bottom="x"), None),
        (Screen("EN MARCHA", top_right="Turno 7", clock="0:34:10", bottom="x"), None),
    ],
)
def test_only_a_final_result_is_written_down(screen: Screen, seen: Seen | None) -> None:
    assert seen_on(screen.words()) == seen


def test_a_display_that_is_off_shows_nothing() -> None:
    assert seen_on("") is None
