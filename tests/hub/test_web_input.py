"""Whatever is sent to the hub's pages is answered: no crash, no trace of our insides, names shown as they are."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlencode

import markupsafe
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.csv_cells import safe_cell
from hub.planning import plans_for
from hub.ruling_kinds import KINDS
from hub.store import PlanRow
from hub.web.routes import ROUTES
from shared import wire
from shared.rulebook import shipped_rulebook
from tests.hub.web_office import Browser, Hall, a_run, fill_in, hall, send, token_in

RUN = "/judge/run?id=t01%2Fr1"
SOME = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
PATHS = sorted({route.path for route in ROUTES})
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "X"]
#: What goes through a socket as a header: no line breaks.
HEADER = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)
QUERY = ["id", "table", "entrant", "before", "of", "to", "name", "pin", "lang", "once"]
HEADERS = ["Accept", "Accept-Language", "Origin", "Content-Type", "Cookie", "Host", "Range"]
HEADERS += ["X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "Sec-Fetch-Site"]
FORM = ["deed", "kind", "number", "reason", "seen", "name", "judge", "old", "again", "sure", "form", "run"]
FORM += ["heat", "category", "place1", "place2", "who", "entrant", "table", "answers", "device", "text"]
NAMES = [
    "<script>alert(1)</script>",
    "'; DROP TABLE plan; --",
    "{{ 7 * 7 }} {% raw %}",
    "\u202eal revés\u202c",
    "\u200f\u0639\u0631\u0628\u064a\u200f",
    "I\u0301n\u0303igo",
    "Íñigo",
    "🧩" * 20,
    "x" * 300,
    "=HYPERLINK(1)",
    "%s %(n)d {0}",
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hub")) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G.")])
        here.hears(a_run())
        yield here


@pytest.fixture
def calm(tmp_path: Path) -> Iterator[Hall]:
    """A hub of one's own, where nobody sends anything."""
    with hall(tmp_path) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G.")])
        here.hears(a_run())
        yield here


@pytest.fixture(scope="module")
def browsers(hub: Hall) -> list[Browser]:
    """An organiser, a judge, somebody in the hall, and the hub's own browser."""
    return [hub.organiser(), hub.judge(), hub.phone(), hub.here()]


@SOME
@given(
    who=st.integers(0, 3),
    method=st.sampled_from(METHODS),
    path=st.sampled_from(PATHS) | st.text(max_size=40).map(lambda text: "/" + quote(text)),
    more=st.text(max_size=20).map(quote),
    query=st.dictionaries(st.sampled_from(QUERY) | st.text(max_size=8), st.text(max_size=40), max_size=4),
    headers=st.dictionaries(
        st.sampled_from(HEADERS),
        HEADER
        | st.sampled_from(["[", "http://[", "a:b:c", "localhost", "session=;form", "lang=\\", "text/html"]),
        max_size=4,
    ),
    body=st.binary(max_size=200),
)
def test_any_request_is_answered_without_a_crash(
    browsers: list[Browser],
    who: int,
    method: str,
    path: str,
    more: str,
    query: dict[str, str],
    headers: dict[str, str],
    body: bytes,
) -> None:
    query.setdefault("once", "")  # or a stream would go on for ever
    address = f"{path}{more if path.endswith('}') else ''}?{urlencode(query)}"
    answer = browsers[who].request(method, address, headers=headers, content=body)
    assert answer.status_code < 500 or path == "/healthz"
    assert "Traceback" not in answer.text


@SOME
@given(
    who=st.integers(0, 1),
    path=st.sampled_from([RUN, "/organiser", "/people", "/me"]),
    form=st.dictionaries(
        st.sampled_from(FORM) | st.text(max_size=8),
        st.text(max_size=60)
        | st.sampled_from(["let_in", "renew", "dismiss", "1:30", "1", "e1", "adulto", *map(str, KINDS)]),
        max_size=6,
    ),
)
def test_any_form_of_somebody_who_is_logged_in_is_answered_without_a_crash(
    browsers: list[Browser], who: int, path: str, form: dict[str, str]
) -> None:
    page = browsers[who].get(path)
    if page.status_code == 403:
        return
    if form.get("deed") in ("log_out", "dismiss"):
        form["deed"] = "renew"  # the judge is needed once more
    answer = browsers[who].post(path, data={**form, "token": token_in(page.text)})
    assert answer.status_code < 500
    assert "Traceback" not in answer.text


ROWS = [PlanRow("1", 1, 1, "e1", "adulto", ""), PlanRow("1", 1, 3, "e3", "adulto", "")]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_literally_wherever_it_stands(calm: Hall, name: str) -> None:
    calm.plans([replace(row, public_name=name) for row in ROWS])
    calm.view.hear(
        "t01", "state", {"state": "sealed", "table": 1, "category": "adulto", "entrant": "e1"}, 0.0
    )
    organiser = calm.organiser()
    shown = str(markupsafe.escape(name))
    for path in ("/", "/tables", "/judge", "/judge?table=1", RUN):
        assert f">{shown}</bdi>" in organiser.get(path).text
    for path in ("/events?once", "/tables/events?once"):
        assert f">{shown}</bdi>" in organiser.get(path).text
    assert f"<title>\u2068{shown}\u2069" in organiser.get(RUN).text
    for path in ("/organiser", RUN):
        assert f">\u2068{shown}\u2069 (" in organiser.get(path).text
    assert f'value="{shown}"' in organiser.get("/audit?" + urlencode({"entrant": name})).text
    adults = next(
        c for c in calm.phone().get("/api/v1/standings").json()["categories"] if c["id"] == "adulto"
    )
    assert adults["standings"][0]["name"] == name
    tables = organiser.get("/api/v1/tables").json()["tables"]
    assert [table["name"] for table in tables if table["entrant"] == "e1"] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_told_literally_before_and_after_a_ruling_and_in_its_file(calm: Hall, name: str) -> None:
    calm.plans([replace(row, public_name=name) for row in ROWS])
    organiser = calm.organiser()
    preview = fill_in(organiser, RUN, "run_reassigned", entrant="e3", reason="r")
    shown = str(markupsafe.escape(name))
    assert f"<bdi>{shown}</bdi></th>" in preview.text
    assert f"\u2068{shown}\u2069 · " in preview.text
    fill_in(organiser, RUN, "penalty_given", number="1", reason="r")
    assert f"<bdi>{shown}</bdi>: " in organiser.get("/audit").text
    rows = list(csv.DictReader(io.StringIO(organiser.get("/audit.csv").text.removeprefix("\ufeff"))))
    assert rows[-1]["before"].startswith(safe_cell(f"{name}: "))
    assert not rows[-1]["before"].startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_told_to_tables_literally(name: str) -> None:
    rules = shipped_rulebook("torneo-puzzles-2026")
    plan = plans_for({1: "t01"}, [PlanRow("1", 1, 1, "e1", "adulto", name)], rules)["t01"]
    told = json.loads(wire.object_payload(plan))
    assert [run["public_name"] for run in told["runs"]] == [name]


@pytest.mark.parametrize("reason", [*NAMES, "a\r\nb"])
def test_a_reason_and_a_judges_name_are_shown_literally(calm: Hall, reason: str) -> None:
    organiser = calm.organiser()
    send(organiser, RUN, kind="incident_noted", reason=reason)
    shown = str(markupsafe.escape(" ".join(reason.split())))
    for path in (RUN, "/audit"):
        assert f"<bdi>{shown}</bdi>" in organiser.get(path).text


def test_twins_in_two_ways_of_writing_accents_are_two_lines(calm: Hall) -> None:
    composed, decomposed = "Íñigo L.", "I\u0301n\u0303igo L."
    calm.plans([PlanRow("1", 1, 1, "e1", "adulto", composed), PlanRow("1", 1, 2, "e2", "adulto", decomposed)])
    calm.hears(a_run(2, device="t02", entrant="e2"))
    page = calm.phone().get("/").text
    assert composed in page
    assert decomposed in page
