"""Who may see what (F01)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
from starlette.requests import HTTPConnection
from starlette.responses import Response

from hub.web.access import Access, GuardedRoute
from hub.web.app import create_app
from hub.web.pages import standings
from hub.web.rescue import create_rescue_app
from hub.web.server import Server
from hub.web.visitor import is_here
from tests.hub.web_live import FakeLive, a_day, nobodys_office, serving

STAFF_PATHS = {"/tables", "/tables/events", "/api/v1/tables"}


@pytest.fixture(scope="module")
def hub() -> Iterator[Server]:
    with serving(a_day()) as server:
        yield server


def test_every_route_of_the_application_has_a_rule() -> None:
    routes = create_app(FakeLive(), nobodys_office()).routes
    assert all(isinstance(route, GuardedRoute) for route in routes)
    guarded = cast(list[GuardedRoute], routes)
    assert {route.path for route in guarded if route.access is Access.STAFF} == STAFF_PATHS


@pytest.mark.parametrize("rule", [None, "public", "", 1])
def test_a_route_without_a_rule_cannot_be_built(rule: Any) -> None:
    with pytest.raises(TypeError, match="no access rule"):
        GuardedRoute("/new", standings, rule)
    with pytest.raises(TypeError):
        GuardedRoute("/new", standings)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("client", "headers", "staff"),
    [
        ("127.0.0.1", {"host": "127.0.0.1:8000"}, True),
        ("127.0.0.1", {"host": "localhost"}, True),
        ("127.0.0.1", {"host": "LOCALHOST:8000"}, True),
        ("::1", {"host": "[::1]:8000"}, True),
        ("::ffff:127.0.0.1", {"host": "localhost:8000"}, True),
        ("192.168.1.20", {"host": "localhost:8000"}, False),
        ("::ffff:192.168.1.20", {"host": "localhost:8000"}, False),
        ("127.0.0.1", {"host": "puzzle.example:8000"}, False),
        ("127.0.0.1", {"host": "localhost.example"}, False),
        ("127.0.0.1", {"host": "127.0.0.1.example:80"}, False),
        ("127.0.0.1", {"host": "localhost:8000@puzzle.example"}, False),
        ("127.0.0.1", {"host": ""}, False),
        ("127.0.0.1", {}, False),
        ("127.0.0.1", {"host": "localhost", "x-forwarded-for": "192.168.1.20"}, False),
        ("127.0.0.1", {"host": "localhost", "forwarded": "for=192.168.1.20"}, False),
        ("127.0.0.1", {"host": "localhost", "x-forwarded-proto": "https"}, False),
        ("127.0.0.1", {"host": "localhost", "x-forwarded-anything": "1"}, False),
        ("127.0.0.1", {"host": "localhost", "x-real-ip": "192.168.1.20"}, False),
        ("127.0.0.1", {"host": "localhost", "via": "1.1 proxy"}, False),
        ("testclient", {"host": "localhost"}, False),
        (None, {"host": "localhost"}, False),
    ],
)
def test_staff_is_who_sits_at_this_machine_and_named_it(
    client: str | None, headers: dict[str, str], staff: bool
) -> None:
    scope = {
        "type": "http",
        "client": None if client is None else (client, 50000),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    assert is_here(HTTPConnection(scope)) is staff


def test_a_proxy_that_says_nothing_but_speaks_as_proxies_do_is_not_at_this_machine() -> None:
    """nginx, unless told otherwise: HTTP/1.0, and the hub's own address as Host."""
    scope = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(b"host", b"127.0.0.1:8000")]}
    assert is_here(HTTPConnection(scope | {"http_version": "1.1"}))
    assert not is_here(HTTPConnection(scope | {"http_version": "1.0"}))


def test_two_host_headers_are_nobody_of_ours() -> None:
    headers = [(b"host", b"localhost"), (b"host", b"puzzle.example")]
    assert not is_here(HTTPConnection({"type": "http", "client": ("127.0.0.1", 1), "headers": headers}))


@pytest.mark.parametrize("path", sorted(STAFF_PATHS))
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_foreign_name_for_this_machine_is_refused(hub: Server, path: str, method: str) -> None:
    address = f"http://127.0.0.1:{hub.port}{path}"
    assert httpx.request(method, address, headers={"Host": "rebound.example"}).status_code == 403


@pytest.mark.parametrize("path", sorted(STAFF_PATHS))
def test_a_claim_to_be_this_machine_is_not_believed(hub: Server, path: str) -> None:
    headers = {"X-Forwarded-For": "127.0.0.1", "Host": "localhost"}
    assert httpx.get(f"http://127.0.0.1:{hub.port}{path}", headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("es", "Esta página es solo para jueces y organización"),
        ("en", "This page is only for judges and org"),
    ],
)
def test_who_is_refused_is_told_why_in_the_own_language(hub: Server, language: str, sentence: str) -> None:
    headers = {"Host": "rebound.example", "Accept-Language": language}
    answer = httpx.get(f"http://127.0.0.1:{hub.port}/tables", headers=headers)
    assert sentence in answer.text
    assert 'href="/tables"' not in answer.text


def test_a_program_is_refused_in_json(hub: Server) -> None:
    answer = httpx.get(f"http://127.0.0.1:{hub.port}/api/v1/tables", headers={"Host": "rebound.example"})
    assert answer.json()["error"]["status"] == 403


def test_everyone_may_see_the_standings_under_any_name(hub: Server) -> None:
    answer = httpx.get(f"http://127.0.0.1:{hub.port}/", headers={"Host": "puzzle.example"})
    assert answer.status_code == 200
    assert 'href="/tables"' not in answer.text


def test_a_visitor_from_the_network_is_no_staff_even_without_a_proxy() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Connecting a datagram socket sends nothing; it tells this machine's own address.
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        own_address = probe.getsockname()[0]
    with serving(a_day(), host="0.0.0.0") as server:
        answer = httpx.get(f"http://{own_address}:{server.port}/tables", headers={"Host": "localhost"})
    assert answer.status_code == 403


def test_what_to_type_for_a_damaged_database_names_folders_at_the_hub_itself_only() -> None:
    server = Server(
        create_rescue_app(("sudo timer-hub restore /var/lib/timer-hub/x",)), host="127.0.0.1", port=0
    )
    server.start()
    try:
        here = httpx.get(f"http://127.0.0.1:{server.port}/")
        there = httpx.get(f"http://127.0.0.1:{server.port}/", headers={"Host": "puzzle.example"})
    finally:
        server.stop()
    assert (here.status_code, there.status_code) == (503, 503)
    assert "/var/lib/timer-hub/x" in here.text
    assert "/var/lib" not in there.text
    assert "dicen qué hay que escribir" in there.text


async def _nothing(_request: Any) -> Response:
    return Response()


def test_a_route_keeps_its_rule() -> None:
    assert GuardedRoute("/new", _nothing, Access.STAFF).access is Access.STAFF
