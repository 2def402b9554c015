"""Whatever a table sends and whatever stands in a settings file: taken or refused, and every page is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from device.config import load_settings as load_table
from hub.arrivals import Incoming
from hub.config import load_settings as load_hub
from hub.store import PlanRow
from shared import wire
from shared.checked_toml import BadFile
from shared.core.events import FIELDS, EventType, Kind
from tests.hub.web_office import Browser, Hall, a_run, hall

# What was sent before is still there: a smaller example would be another one.
SOME = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
NASTY = ["<script>", "\u202e", "x" * 300, "I\u0301", "Í", "{{ 7*7 }}", "adulto", "e1", "t01/r1", "%(n)s", ""]
TEXT = st.text(max_size=12) | st.sampled_from(NASTY)
SCALAR = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | TEXT
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
INTS = st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(-2, 9)
OF_KIND: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.TEXT: TEXT,
    Kind.INT: INTS,
    Kind.COUNT: INTS.map(abs),
    Kind.BOOL: st.booleans(),
    Kind.TEXT_OR_NULL: st.none() | TEXT,
    Kind.TEXTS: st.lists(TEXT, max_size=3),
}


def events(kind: EventType) -> st.SearchStrategy[dict[str, Any]]:
    """Events of a type that can be read, with any values; now and then one value is of the wrong type."""
    fields = {field.name: OF_KIND[field.kind] for field in FIELDS[kind]}
    required = {field.name: fields[field.name] for field in FIELDS[kind] if field.required}
    envelope = {"v": 1, "device": "t01", "log": "t01-l2", "type": str(kind)}
    more = {"boot": st.sampled_from(["b-t01", "b2", "x" * 300]), "mono_ms": INTS | st.integers(0, 9_000_000)}
    if "run" in fields:
        required["run"] = fields["run"] = st.sampled_from(["t01/r1", "r9"]) | TEXT.filter(bool)
    further = {name: values for name, values in fields.items() if name not in required}
    whole = st.fixed_dictionaries(
        {**required, **more}, optional={**further, "wall_ms": st.none() | INTS, "colour": JSON}
    )
    spoilt = st.tuples(whole, st.sampled_from([*required, "boot"]), JSON).map(lambda t: t[0] | {t[1]: t[2]})
    return st.one_of([whole, whole, whole, spoilt]).map(lambda event: envelope | event)


EVENT = st.sampled_from(EventType).flatmap(events)
WORDS = (
    "state run entrant category heat table unsent boot mono_ms shown_ms running direction low not_saved "
    "not_saved_s online session health versions clock_error_ms log"
)
STATE = st.dictionaries(st.sampled_from(WORDS.split()), JSON)
PAGES = ["/", "/tables", "/judge", "/organiser", "/audit", "/judge?table=1", "/judge/run?id=t01%2Fr1"]
DATA = [
    "/api/v1/standings",
    "/api/v1/tables",
    "/audit.csv",
    "/audit.jsonl",
    "/events?once",
    "/tables/events?once",
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hub")) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G.")])
        here.hears(a_run())
        yield here


@pytest.fixture(scope="module")
def organiser(hub: Hall) -> Browser:
    return hub.organiser()


@SOME
@given(
    sent=st.lists(EVENT, min_size=1, max_size=4),
    told=STATE,
    kind=st.sampled_from(["state", "status", "reply"]),
)
def test_whatever_a_table_sends_every_page_is_shown(
    hub: Hall, organiser: Browser, sent: list[dict[str, Any]], told: dict[str, Any], kind: str
) -> None:
    first = 1 + max((c.last_seq for c in hub.store.cursors() if c.log == "t01-l2"), default=0)
    numbered = [{**event, "seq": first + n} for n, event in enumerate(sent)]
    with suppress(wire.BadPayload):
        read = wire.parse_batch(json.dumps({"events": numbered}).encode())
        committed = hub.store.append_batch([Incoming("puzzle/1/t01/up/event", "t01", list(read))])
        hub.view.apply(committed.accepted)
    with suppress(wire.BadPayload):
        hub.view.hear("t01", kind, wire.parse_object(json.dumps(told).encode()), 0.0)
    for path in PAGES + DATA:
        answer = organiser.get(path)
        assert answer.status_code == 200, path
        assert "Traceback" not in answer.text
        assert "<script>" not in answer.text or path in DATA, path


HUB_TOML = """rulebook = "torneo-puzzles-2026"
data_dir = "x"
[web]
port = 8000
open = true
[broker]
kind = "mosquitto"
port = 1883
"""
TABLE_TOML = """device = "t07-k3f9"
table = 7
[hub]
host = "192.168.4.1"
port = 8883
[display]
driver = "sh1106"
[buttons]
start = 17
"""
VALUES = ["-1", "1e999", "9" * 20, '"x"', "[]", "{}", "true", "1979-05-27", "nan", '"\\u202e"', '"../../etc"']


@SOME
@given(
    text=st.sampled_from([HUB_TOML, TABLE_TOML]),
    line=st.integers(0, 8),
    value=st.sampled_from(VALUES) | st.text(max_size=20),
    cut=st.integers(0, 200),
)
def test_no_settings_file_makes_anything_but_settings_or_their_problems(
    tmp_path_factory: pytest.TempPathFactory, text: str, line: int, value: str, cut: int
) -> None:
    lines = text.splitlines()
    at = line % len(lines)
    lines[at] = f"{lines[at].partition('=')[0]}= {value}"
    path = tmp_path_factory.mktemp("settings") / "x.toml"
    for content in ("\n".join(lines), text[:cut], value):
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
        for load in (load_hub, load_table):
            with suppress(BadFile):
                load(path)
