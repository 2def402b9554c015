"""The virtual tables over HTTP: what tests, scripts and pages use."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from device.debounce import Button
from device.simulator.fingers import Fingers
from device.simulator.server import CannotListen, listen
from device.simulator.supervisor import Supervisor, Tables
from tests.device.virtual import NO_HUB, served, until
from tests.waiting import GENEROUS_S, wait_until


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Supervisor, httpx.Client]]:
    tables = Tables(2, tmp_path_factory.mktemp("tables"), NO_HUB, categories=("adulto",))
    with served(tables) as both:
        yield both


@pytest.fixture
def client(web: tuple[Supervisor, httpx.Client]) -> httpx.Client:
    return web[1]


def shows(client: httpx.Client, words: str, table: int = 1) -> bool:
    return words in client.get(f"/tables/{table}/screen.txt").text


def test_a_press_over_http_changes_the_words_and_the_picture(tmp_path: Path) -> None:
    with served(Tables(1, tmp_path, NO_HUB, categories=("adulto",))) as (_, client):
        before = client.get("/tables/1/screen.png").content
        answer = client.post("/tables/1/buttons/start", json={"hold_ms": 120})
        assert answer.json() | {"boot": "", "pid": 0} == {
            "table": 1, "button": "start", "hold_ms": 120, "on": True, "alive": True, "boot": "", "pid": 0
        }  # fmt: skip
        wait_until(lambda: shows(client, "MIRAR SIN ABRIR"))
        wait_until(lambda: client.get("/tables/1/screen.png").content != before)
        client.post("/tables/1/buttons/start", json={"hold_ms": 2300})
        wait_until(lambda: shows(client, "START empieza"))


def test_the_plug_over_http_makes_a_dark_table_and_another_boot(tmp_path: Path) -> None:
    with served(Tables(1, tmp_path, NO_HUB, categories=("adulto",))) as (_, client):
        boot = client.post("/tables/1/power", json={"on": True}).json()["boot"]
        off = client.post("/tables/1/power", json={"on": False}).json()
        assert (off["on"], off["alive"], off["pid"]) == (False, False, None)
        assert client.get("/tables/1/screen.txt").text == ""
        picture = Image.open(io.BytesIO(client.get("/tables/1/screen.png").content))
        assert picture.convert("L").getextrema() == (0, 0)
        assert "Desenchufada" in client.get("/tables/1?lang=es").text
        assert client.post("/tables/1/power", json={"on": True}).json()["boot"] != boot
        wait_until(lambda: shows(client, "START empieza"))


def test_an_empty_body_is_a_tap(client: httpx.Client) -> None:
    answer = client.post("/tables/2/buttons/finish")
    assert answer.status_code == 200
    assert answer.json()["hold_ms"] == 80
    wait_until(lambda: shows(client, "aún no ha empezado", 2) or shows(client, "not started yet", 2))


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("buttons/start", b"[]", "JSON object"),
        ("buttons/start", b"{", "JSON object"),
        ("buttons/start", b"\xff", "JSON object"),
        ("buttons/start", b'{"hold_ms": 20001}', "0 to 20000"),
        ("buttons/start", b'{"hold_ms": -1}', "0 to 20000"),
        ("buttons/start", b'{"hold_ms": true}', "0 to 20000"),
        ("buttons/start", b'{"hold_ms": 1.5}', "0 to 20000"),
        ("buttons/start", b'{"hold": 80}', '"hold"'),
        ("buttons/start", b" " * 5000, "too long"),
        ("pins/start", b"", "true or false"),
        ("pins/start", b'{"down": 1}', "true or false"),
        ("power", b'{"on": null}', "true or false"),
    ],
)
def test_a_body_that_is_not_understood_is_answered_with_a_sentence(
    client: httpx.Client, path: str, body: bytes, sentence: str
) -> None:
    answer = client.post(f"/tables/1/{path}?lang=en", content=body)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]["text"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/tables/3", 404),
        ("GET", "/tables/3/screen.png", 404),
        ("GET", "/tables/3/screen.txt", 404),
        ("GET", "/tables/3/events", 404),
        ("GET", "/tables/x", 404),
        ("GET", "/static/../web.py", 404),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/nothing", 404),
        ("POST", "/tables/3/buttons/start", 404),
        ("POST", "/tables/1/buttons/stop", 404),
        ("POST", "/tables/1/pins/stop", 404),
        ("GET", "/tables/1/buttons/start", 405),
        ("GET", "/tables/1/screen.png?scale=9", 400),
    ],
)
def test_what_there_is_not_is_told_as_json(client: httpx.Client, method: str, path: str, status: int) -> None:
    content = b'{"down": true}' if "pins" in path else b'{"on": true}' if "power" in path else b""
    answer = client.request(method, path, content=content)
    assert answer.status_code == status
    assert answer.json()["error"]["status"] == status
    assert answer.json()["error"]["text"]


@pytest.mark.parametrize("table", [3])
@pytest.mark.parametrize(("path", "body"), [("pins/start", {"down": True}), ("power", {"on": True})])
def test_no_finger_and_no_plug_without_a_table(
    client: httpx.Client, table: int, path: str, body: dict[str, Any]
) -> None:
    assert client.post(f"/tables/{table}/{path}", json=body).status_code == 404


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_page_presses_nothing(client: httpx.Client, origin: str) -> None:
    answer = client.post("/tables/1/buttons/start", headers={"Origin": origin})
    assert answer.status_code == 403
    own = str(client.base_url).rstrip("/")
    assert client.post("/tables/2/buttons/finish", headers={"Origin": own}).status_code == 200


def test_a_page_whose_name_was_pointed_here_sees_nothing_unless_it_is_open(
    client: httpx.Client, tmp_path: Path
) -> None:
    foreign = {"Host": "evil.example"}
    assert client.get("/tables/1/screen.txt", headers=foreign).status_code == 403
    with served(Tables(1, tmp_path, NO_HUB), open_to_all=True) as (_, opened):
        assert opened.get("/tables/1", headers=foreign).status_code == 200
        pressed = opened.post("/tables/1/buttons/start", headers=foreign | {"Origin": "http://other.example"})
        assert pressed.status_code == 403


@pytest.mark.parametrize("path", ["/", "/tables/1", "/static/tables.js", "/nothing", "/tables/1/screen.png"])
def test_every_answer_carries_the_strict_headers(client: httpx.Client, path: str) -> None:
    for headers in ({}, {"Host": "evil.example"}):
        answer = client.get(path, headers=headers)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_pages_bring_no_script_or_style_of_their_own(client: httpx.Client) -> None:
    for path in ("/", "/tables/1"):
        html = client.get(path).text
        assert "<style" not in html
        assert "style=" not in html
        assert "onclick" not in html
        assert html.count("<script") == html.count('<script type="module" src="/static/')


def test_the_picture_is_as_small_as_the_display_or_so_many_times_larger(client: httpx.Client) -> None:
    sizes = {
        query: Image.open(io.BytesIO(client.get(f"/tables/1/screen.png{query}").content)).size
        for query in ("", "?scale=4")
    }
    assert sizes == {"": (128, 64), "?scale=4": (512, 256)}


def test_the_language_is_the_one_asked_for_then_the_one_kept_then_the_browsers(client: httpx.Client) -> None:
    def language(path: str, **headers: str) -> str:
        return client.get(path, headers={k.replace("_", "-"): v for k, v in headers.items()}).headers[
            "content-language"
        ]

    assert language("/") == "es"
    assert language("/", accept_language="en-GB,en;q=0.9,es;q=0.5") == "en"
    assert language("/", accept_language="fr, es;q=0.2, en;q=x") == "es"
    assert language("/", accept_language="en", cookie="lang=es") == "es"
    assert language("/?lang=en", cookie="lang=es") == "en"
    assert language("/?lang=xx", cookie="lang=en") == "en"
    client.cookies.clear()


def test_the_index_links_every_table_and_each_table_the_hub(client: httpx.Client) -> None:
    index = client.get("/").text
    assert all(f'href="/tables/{n}"' in index for n in (1, 2))
    assert 'href="http://127.0.0.1:8000/"' in client.get("/tables/2").text


def test_a_stream_brings_the_table_as_it_is_and_then_each_change(
    web: tuple[Supervisor, httpx.Client],
) -> None:
    supervisor, client = web
    with client.stream("GET", "/tables/2/events?lang=en") as answer:
        lines = answer.iter_lines()
        first = _next_table(lines)
        assert (first["table"], first["on"], first["alive"]) == (2, True, True)
        supervisor.down(2, Button.PAUSE)
        while "pause" not in first["down"]:
            first = _next_table(lines)
        supervisor.up(2, Button.PAUSE)
        picture = first["picture"]
        while first["picture"] == picture or first["down"]:
            first = _next_table(lines)


def _next_table(lines: Iterator[str]) -> dict[str, Any]:
    while next(lines) != "event: table":
        pass
    news: dict[str, Any] = json.loads(next(lines).removeprefix("data: "))
    return news


def test_twenty_presses_at_once_are_all_taken(tmp_path: Path) -> None:
    with served(Tables(20, tmp_path, NO_HUB, categories=("adulto",))) as (supervisor, client):
        answers: list[int] = []

        def press(table: int) -> None:
            answers.append(client.post(f"/tables/{table}/buttons/start").status_code)

        threads = [threading.Thread(target=press, args=(n,)) for n in supervisor.numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [200] * 20
        for n in supervisor.numbers:
            until(supervisor, "preview", n)


def test_a_button_held_by_a_page_that_says_nothing_more_goes_up() -> None:
    moves: list[tuple[str, int, Button]] = []

    async def story() -> None:
        released = asyncio.Event()

        def up(table: int, button: Button) -> None:
            moves.append(("up", table, button))
            released.set()

        fingers = Fingers(lambda t, b: moves.append(("down", t, b)), up, lease_s=0.05)
        fingers.hold(1, Button.START)
        fingers.hold(1, Button.START)
        await asyncio.wait_for(released.wait(), GENEROUS_S)
        fingers.hold(1, Button.PAUSE)
        fingers.release(1, Button.PAUSE)

    asyncio.run(story())
    start, pause = (1, Button.START), (1, Button.PAUSE)
    assert moves == [("down", *start), ("down", *start), ("up", *start), ("down", *pause), ("up", *pause)]


def test_a_taken_port_is_told_in_one_sentence() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port} is taken"):
            listen("127.0.0.1", port)
