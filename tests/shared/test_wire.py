"""Foreign bytes become checked values or a BadPayload with a clause, never another exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import wire
from shared.core.events import Event, EventType
from shared.wire import (
    Ack,
    BadPayload,
    HubPresence,
    RunRulings,
    StartOrder,
    StartState,
    TimeAnswer,
    Unreadable,
)
from tests.builders import hub

PARSERS: list[Callable[[bytes], object]] = [
    wire.parse_object,
    wire.parse_batch,
    wire.parse_ack,
    wire.parse_hub_presence,
    wire.parse_status,
    wire.parse_time_question,
    wire.parse_time_answer,
    wire.parse_start_order,
    wire.parse_rulings,
]


def event(seq: int, log: str = "L", **data: Any) -> Event:
    return Event("t01", log, seq, EventType.PAUSE_STARTED, boot="B", mono_ms=seq * 1000, run="R", data=data)


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def _nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner) | st.dictionaries(st.text(), inner)


SCALARS: st.SearchStrategy[object] = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(SCALARS, _nested, max_leaves=8)
FIELDS = ("events", "v", "device", "log", "seq", "type", "epoch", "online", "session", "gap", "t1", "base")
NEAR = st.dictionaries(
    st.sampled_from(FIELDS), JSON | st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON))
)


@given(st.one_of(st.binary(), JSON.map(dumped), NEAR.map(dumped)))
def test_whatever_comes_in_is_a_value_or_a_bad_payload(payload: bytes) -> None:
    for parse in PARSERS:
        with suppress(BadPayload):
            parse(payload)


@pytest.mark.parametrize(
    ("payload", "clause"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not a JSON object"),
        (b"nonsense", "not JSON"),
        (b'{"a":1', "not JSON"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "Infinity"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":[9007199254740992]}', "beyond 2\\^53"),
        (b'{"a":' + b"9" * 5000 + b"}", "beyond 2\\^53"),
        (b'{"a":"\\ud800"}', "not Unicode"),
        (b'{"\\ud800":1}', "not Unicode"),
        (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", "nested deeper"),
        (b'{"a":' + b"[" * 30000 + b"]" * 30000 + b"}", "nested deeper"),
        (b'{"a":"' + b"x" * 70000 + b'"}', "at most 65536"),
    ],
)
def test_each_kind_of_bad_payload_says_why_in_a_clause(payload: bytes, clause: str) -> None:
    with pytest.raises(BadPayload, match=clause):
        wire.parse_object(payload)


@given(st.integers(1, 16), st.integers(1, 10**6), st.dictionaries(st.text(), st.text(), max_size=3))
def test_a_batch_is_read_back_as_it_was_built(count: int, first: int, extra: dict[str, str]) -> None:
    known = {"v", "device", "log", "seq", "type", "boot", "mono_ms", "wall_ms", "run"}
    extra = {name: text for name, text in extra.items() if name not in known}
    events = [event(first + n, **extra) for n in range(count)]
    assert wire.parse_batch(wire.batch_payload(events)) == events


@pytest.mark.parametrize(
    ("events", "clause"),
    [
        (None, "list of 1 to 16"),
        ([], "list of 1 to 16"),
        ([event(n).as_json() for n in range(1, 18)], "list of 1 to 16"),
        ([event(1).as_json(), event(2, "M").as_json()], "more than one log"),
        ([event(2).as_json(), event(1).as_json()], "out of order"),
        ([event(1).as_json(), event(1).as_json()], "out of order"),
    ],
)
def test_a_message_that_is_no_batch_is_refused_as_a_whole(events: object, clause: str) -> None:
    with pytest.raises(BadPayload, match=clause):
        wire.parse_batch(dumped({"events": events}))


@pytest.mark.parametrize(
    ("spoiled", "reason", "log", "seq"),
    [
        ({"v": 2}, "field v must be 1", "L", 2),
        ({"run": 7}, "field run must be text", "L", 2),
        ({"seq": "two"}, "field seq", "L", None),
        ({"seq": 0}, "field seq", "L", None),
        ({"log": None}, "field log", None, 2),
        ({"extra": float("nan")}, "NaN", "L", 2),
        ({"extra": "\ud800"}, "not Unicode", "L", 2),
        ({"extra": 10**400}, "beyond", "L", 2),
        ({"seq": 10**40}, "beyond", "L", None),
    ],
)
def test_a_bad_event_is_told_apart_from_its_good_neighbours(
    spoiled: dict[str, Any], reason: str, log: str | None, seq: int | None
) -> None:
    values = [event(1).as_json(), event(2).as_json() | spoiled, event(3).as_json()]
    first, bad, last = wire.parse_batch(dumped({"events": values}))
    assert (first, last) == (event(1), event(3))
    assert isinstance(bad, Unreadable)
    assert reason in bad.reason
    assert (bad.log, bad.seq) == (log, seq)
    assert bad.payload


def test_an_event_that_is_no_object_is_kept_aside() -> None:
    assert wire.parse_batch(b'{"events":[7]}') == [Unreadable("not a JSON object", b"7")]


@pytest.mark.parametrize("state", StartState)
def test_a_start_order_is_read_back_as_it_was_built(state: StartState) -> None:
    order = StartOrder("s1", "3", 12_000, "base", state)
    assert wire.parse_start_order(wire.object_payload(order.as_json())) == order


@pytest.mark.parametrize(
    "spoiled", [{"id": ""}, {"heat": 3}, {"at": "now"}, {"base": None}, {"state": "maybe"}, {"state": []}]
)
def test_a_start_order_with_a_wrong_field_is_refused(spoiled: dict[str, Any]) -> None:
    order = StartOrder("s1", "3", 12_000, "base").as_json() | spoiled
    with pytest.raises(BadPayload, match=next(iter(spoiled))):
        wire.parse_start_order(dumped(order))


@pytest.mark.parametrize(
    "ack", [Ack("L", 0, "e"), Ack("L", 12, "e", gap=True), Ack("L", 12, "e", archived=True)]
)
def test_an_ack_is_read_back_as_it_was_built(ack: Ack) -> None:
    assert wire.parse_ack(wire.ack_payload(ack)) == ack


@pytest.mark.parametrize(
    "spoiled",
    [
        {"log": ""},
        {"log": 1},
        {"seq": -1},
        {"seq": True},
        {"seq": 1.0},
        {"epoch": None},
        {"gap": 1},
        {"archived": "y"},
    ],
)
def test_an_ack_with_a_field_of_the_wrong_kind_is_refused(spoiled: dict[str, Any]) -> None:
    with pytest.raises(BadPayload, match="must be"):
        wire.parse_ack(dumped({"log": "L", "seq": 1, "epoch": "e"} | spoiled))


def test_unknown_fields_are_ignored() -> None:
    assert wire.parse_ack(b'{"log":"L","seq":1,"epoch":"e","new":[1]}') == Ack("L", 1, "e")


@pytest.mark.parametrize("online", [True, False])
def test_presence_is_read_back_as_it_was_built(online: bool) -> None:
    presence = HubPresence("e1", online)
    assert wire.parse_hub_presence(wire.hub_presence_payload(presence)) == presence


def test_a_status_needs_online_and_session_and_keeps_the_rest() -> None:
    status = {"online": True, "session": 4, "health": {"disk": "ok"}}
    assert wire.parse_status(wire.object_payload(status)) == status
    for name in ("online", "session"):
        with pytest.raises(BadPayload, match=name):
            wire.parse_status(dumped({k: v for k, v in status.items() if k != name}))


def test_a_clock_exchange_is_read_back_as_it_was_built() -> None:
    answer = TimeAnswer(-5, 10, 11, "base")
    assert wire.parse_time_answer(wire.time_answer_payload(answer)) == answer
    assert wire.parse_time_question(wire.time_question_payload(-5)) == -5


def test_an_object_no_reader_would_take_is_not_built() -> None:
    with pytest.raises(ValueError, match="at most 65536"):
        wire.object_payload({"a": "x" * 70000})
    with pytest.raises(ValueError, match="JSON"):
        wire.object_payload({"a": float("nan")})


@pytest.mark.parametrize(
    ("told", "clause"),
    [
        ({}, "field rulings must be a list"),
        ({"run": "R", "rulings": {}}, "field rulings must be a list"),
        ({"run": 3, "rulings": []}, "field run must be text"),
        ({"run": "R", "rulings": [{"v": 1}]}, "a ruling that cannot be read"),
        ({"run": "R", "rulings": [event(1).as_json()]}, "pause_started of t01 is no ruling"),
    ],
)
def test_rulings_are_taken_whole_or_not_at_all(told: dict[str, Any], clause: str) -> None:
    with pytest.raises(BadPayload, match=clause):
        wire.parse_rulings(dumped(told))


def test_rulings_on_a_run_come_back_as_they_were_told() -> None:
    told = RunRulings("R", tuple(hub().penalty(30, "R").disqualify("R").events))
    assert wire.parse_rulings(wire.object_payload(told.as_json())) == told
