"""The API holds what its own description says, whatever is asked: by Schemathesis, on the real application."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from hub.store import PlanRow
from hub.web.access import READING
from hub.web.api import openapi
from hub.web.routes import ROUTES
from hub.web.visitor import SESSION_COOKIE
from tests.hub.web_office import ORGANISER, PASSWORD, Hall, a_run, hall

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
DESCRIBED = sorted(openapi()["paths"])
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hub")) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "<b>Ñandú</b> \u202e")])
        here.hears(a_run())
        here.hears(a_run(2, device="t02", entrant="e2")[:1])
        here.view.hear("t02", "state", {"state": "running", "table": 2, "category": "adulto"}, 0.0)
        yield here


@pytest.fixture(scope="module")
def schema(hub: Hall) -> Any:
    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", hub.app)


@pytest.fixture(scope="module")
def session(hub: Hall) -> str:
    hub.office.people.set_up(ORGANISER, PASSWORD)
    return hub.office.people.log_in(ORGANISER, PASSWORD, "192.168.1.20")


def test_every_route_of_the_api_is_described() -> None:
    described = {*DESCRIBED, "/api/v1/openapi.json"}
    assert {r.path for r in ROUTES if r.path.startswith("/api/")} <= described
    assert all({m.upper() for m in methods} <= READING for methods in openapi()["paths"].values())


@pytest.mark.parametrize("path", DESCRIBED)
@pytest.mark.parametrize("who", ["organiser", "anybody"])
@SOME
@given(data=st.data())
def test_every_answer_is_as_described(
    schema: Any, session: str, path: str, who: str, data: st.DataObject
) -> None:
    operation = schema[path]["GET"]
    case = data.draw(st.one_of([operation.as_strategy(generation_mode=mode) for mode in MODES]))
    cookies = {SESSION_COOKIE: session} if who == "organiser" else {}
    answer = case.call(cookies=cookies)
    case.validate_response(answer)
    refused = who == "anybody" and path == "/api/v1/tables"
    assert answer.status_code == (403 if refused else 200)
    assert "Traceback" not in answer.text
