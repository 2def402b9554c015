"""What a table says of its disk and its buttons is told to the organisers in words."""

from __future__ import annotations

from typing import Any

import pytest

from hub.link_watch import Told
from hub.web.problem_words import problem_words
from shared.texts import translator


def sentences(told: Told, hand_s: float = 0.0) -> list[str]:
    return [problem_words(problem, translator("en")) for problem in told.troubles("t07", hand_s)]


def status(*problems: Any) -> dict[str, Any]:
    return {"session": 1, "online": True, "health": {"problems": list(problems)}}


def test_not_saved_is_told_with_the_age_of_the_last_good_write() -> None:
    """A01: on the organiser's page too, and the age goes on while the table is silent."""
    told = Told()
    told.hear_state({"not_saved": True, "not_saved_s": 65}, hand_s=100.0, now_ms=0)
    assert sentences(told, hand_s=110.0) == ["NOT SAVED for 1:15: the table's card takes nothing"]
    told.hear_state({"not_saved": False, "not_saved_s": None}, hand_s=120.0, now_ms=0)
    assert sentences(told, hand_s=121.0) == []


def test_noisy_and_stuck_buttons_are_named() -> None:
    """B04."""
    told = Told()
    told.hear_status(
        status({"code": "button_noisy", "button": "pause"}, {"code": "button_stuck", "button": "finish"}), 0
    )
    assert sentences(told) == [
        "PAUSE flickers: a loose lead, or interference; it still works",
        "FINISH is stuck; the other buttons work",
    ]


@pytest.mark.parametrize("health", [None, [], {"problems": 7}, {"problems": [1, {"code": 2}, {}]}])
def test_nonsense_for_health_is_no_trouble(health: Any) -> None:
    told = Told()
    told.hear_status({"session": 1, "online": True, "health": health}, 0)
    assert sentences(told) == []


@pytest.mark.parametrize(("seconds", "words"), [(None, "…"), (-1, "…"), ("9", "…"), (0, "0:00")])
def test_an_age_that_is_none_is_not_told(seconds: Any, words: str) -> None:
    told = Told()
    told.hear_state({"not_saved": True, "not_saved_s": seconds}, hand_s=1.0, now_ms=0)
    assert f"NOT SAVED for {words}:" in sentences(told, hand_s=1.0)[0]
