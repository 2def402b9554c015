"""The API: its answers fit the models that describe it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from hub.web.api import Standings, Tables, openapi
from hub.web.data import numbers
from tests.hub.web_live import FakeLive, a_day, serving


@pytest.fixture(scope="module")
def hub() -> Iterator[httpx.Client]:
    with serving(a_day()) as server, httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as client:
        yield client


def test_the_standings_fit_their_description(hub: httpx.Client) -> None:
    standings = Standings.model_validate_json(hub.get("/api/v1/standings").content)
    assert standings.revision == 42
    assert standings.categories[0].standings[1].official == "46:01"


def test_visitors_are_told_what_is_wrong_and_not_in_which_log_or_run() -> None:
    """Ids drawn at random keep one table from naming another's run."""
    live, place = a_day(), {"log": "t01-k3f9", "seq": 7, "run": "t01-r-x1"}
    problem = {
        "code": "time_between_bounds",
        "level": "warning",
        **place,
        "low_s": 9,
        "high_s": None,
        "type": "t",
    }
    live.categories[0]["standings"][0]["problems"] = [problem]
    live.categories[0]["rankings"] = [{"id": "r", "name": {}, "standings": live.categories[0]["standings"]}]
    with serving(live) as server:
        address = f"http://127.0.0.1:{server.port}/api/v1/standings"
        public = httpx.get(address, headers={"Host": "puzzle.example"})
        staff = httpx.get(address)
    told = {"code": "time_between_bounds", "level": "warning", "low_s": 9, "high_s": None}
    [category, *_] = public.json()["categories"]
    assert category["standings"][0]["problems"] == [told]
    assert category["rankings"][0]["standings"][0]["problems"] == [told]
    assert "k3f9" not in public.text
    Standings.model_validate_json(public.content)
    assert staff.json()["categories"][0]["standings"][0]["problems"] == [problem]


def test_the_tables_fit_their_description(hub: httpx.Client) -> None:
    tables = Tables.model_validate_json(hub.get("/api/v1/tables").content)
    assert {table.table for table in tables.tables} == set(range(1, 13))


def test_the_description_names_every_path_of_the_api_and_resolves(hub: httpx.Client) -> None:
    described = hub.get("/api/v1/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    assert set(described["paths"]) == {"/api/v1/standings", "/api/v1/tables", "/healthz"}
    schemas = described["components"]["schemas"]
    references = [
        content["schema"]["$ref"]
        for path in described["paths"].values()
        for response in path["get"]["responses"].values()
        for content in response["content"].values()
    ]
    assert all(reference.rsplit("/", 1)[-1] in schemas for reference in references)
    assert described == openapi()


@pytest.mark.parametrize(("ok", "status"), [(True, 200), (False, 503), (None, 503), ("yes", 503)])
def test_health_is_a_status_for_machines(ok: object, status: int) -> None:
    live = FakeLive(report={"ok": ok, "events": 12})
    with serving(live) as server:
        answer = httpx.get(f"http://127.0.0.1:{server.port}/healthz")
    assert answer.status_code == status
    assert answer.json()["ok"] is (status == 200)


def test_health_tells_everyone_counts_and_no_words() -> None:
    report = {"ok": True, "events": 3, "store": {"path": "/var/lib", "free": 7, "late": None}, "host": "hub"}
    assert numbers(report) == {"ok": True, "events": 3, "store": {"free": 7, "late": None}}


@pytest.mark.parametrize(
    ("report", "page", "ok"),
    [
        ({"ok": True, "backup": "full"}, "el disco de las copias está lleno", True),
        ({"ok": True, "backup": "failing"}, "el disco no la admite", True),
        ({"ok": False, "database": "full"}, "El disco del ordenador central está lleno", False),
        ({"ok": False, "database": "locked"}, "Otro programa tiene bloqueada la base de datos", False),
        ({"ok": False, "connected": False}, "no llega", False),
        ({"ok": True, "send_junk": 1}, "envía mucho que nadie puede leer", True),
    ],
)
def test_what_is_wrong_with_the_hub_stands_on_the_tables_page_and_in_healthz(
    report: dict[str, Any], page: str, ok: bool
) -> None:
    live = a_day()
    live.report = report
    with serving(live) as server:
        assert page in httpx.get(f"http://127.0.0.1:{server.port}/tables").text
        health = httpx.get(f"http://127.0.0.1:{server.port}/healthz", headers={"Accept-Language": "es"})
    assert page in health.json()["message"]
    assert health.status_code == (200 if ok else 503)
    assert health.json()["backups_ok"] is ("backup" not in report)
