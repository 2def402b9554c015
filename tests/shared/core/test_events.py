"""Events are validated once, when they are built; what is unknown is kept."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.events import BadEvent, Event, EventType, event_from_json

START: dict[str, Any] = {
    "v": 1,
    "device": "t01",
    "log": "log-1",
    "seq": 1,
    "type": "run_started",
    "boot": "b1",
    "mono_ms": -5,
    "wall_ms": 1_700_000_000_000,
    "run": "r1",
    "entrant": None,
    "category": "adulto",
    "table": 3,
}
RULING: dict[str, Any] = {
    "v": 1,
    "device": "hub",
    "log": "hub-1",
    "seq": 2,
    "type": "tie_broken",
    "category": "adulto",
    "order": ["a", "b"],
    "reason": "play-off",
    "by": "Ana",
}


@pytest.mark.parametrize(
    "value", [START, RULING, START | {"wall_ms": None}, START | {"type": "new", "x": [1]}]
)
def test_an_event_comes_out_as_it_went_in(value: dict[str, Any]) -> None:
    event = event_from_json(value)
    expected = {k: v for k, v in value.items() if not (k == "wall_ms" and v is None)}
    assert event.as_json() == expected
    assert event.key == (value["log"], value["seq"])


def test_a_known_type_becomes_its_word_and_unknown_fields_are_kept() -> None:
    event = event_from_json(START | {"colour": "red"})
    assert event.type is EventType.RUN_STARTED
    assert event.data["colour"] == "red"


def test_the_hub_has_no_boot() -> None:
    event = event_from_json(RULING | {"boot": "b1", "mono_ms": 5})
    assert (event.boot, event.mono_ms) == (None, None)
    assert event == Event("hub", "hub-1", 2, "tie_broken", data=event.data)


def test_an_optional_field_may_be_null() -> None:
    assert event_from_json(START | {"heat": None}).data["heat"] is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([], "not a JSON object"),
        (START | {"v": 2}, "field v must be 1"),
        (START | {"v": True}, "field v must be 1"),
        (START | {"device": 7}, "field device must be text"),
        (START | {"log": ""}, "field log must be text"),
        (START | {"log": "x" * 501}, "field log must be text"),
        ({k: v for k, v in START.items() if k != "type"}, "field type must be text"),
        (START | {"seq": 0}, "field seq must be an integer >= 1"),
        (START | {"seq": True}, "field seq must be an integer >= 1"),
        (START | {"seq": 2**53}, "field seq must be an integer >= 1"),
        (START | {"boot": None}, "fields boot and mono_ms must be text and integer"),
        (START | {"mono_ms": 1.5}, "fields boot and mono_ms must be text and integer"),
        (START | {"wall_ms": "now"}, "field wall_ms must be an integer or null"),
        (START | {"run": 5}, "field run must be text"),
        ({k: v for k, v in START.items() if k != "run"}, "run_started needs field run"),
        (START | {"run": None}, "field run of run_started must be text"),
        ({k: v for k, v in START.items() if k != "table"}, "run_started needs field table"),
        (START | {"table": "3"}, "field table of run_started must be integer"),
        (START | {"category": None}, "field category of run_started must be text"),
        (START | {"practice": 1}, "field practice of run_started must be true or false"),
        (START | {"entrant": 5}, "field entrant of run_started must be text or null"),
        (
            START | {"type": "pieces_counted", "pieces": -1},
            "field pieces of pieces_counted must be integer >= 0",
        ),
        (RULING | {"order": ["a", 5]}, "field order of tie_broken must be list of texts"),
        ({k: v for k, v in RULING.items() if k != "by"}, "tie_broken needs field by"),
    ],
)
def test_what_is_no_event_is_refused_with_the_reason(value: object, why: str) -> None:
    with pytest.raises(BadEvent) as caught:
        event_from_json(value)
    assert str(caught.value) == why
