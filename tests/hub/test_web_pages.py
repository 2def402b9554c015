"""The hub's pages over HTTP, from a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from zoneinfo import ZoneInfo

import httpx
import markupsafe
import pytest

from hub.web.headers import POLICY
from tests.hub.web_live import QUICK, FakeLive, a_day, category, line, serving, table

NAMES_THAT_ARE_CODE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 777 * 777 }}",
    "\u202egro.live",
    "' onclick='alert(1)",
    "a\r\ndata: b\n\nevent: beat",
]


@pytest.fixture(scope="module")
def live() -> FakeLive:
    return a_day()


@pytest.fixture(scope="module")
def address(live: FakeLive) -> Iterator[str]:
    with serving(live, replace(QUICK, zone=ZoneInfo("Europe/Madrid"))) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
def hub(address: str) -> Iterator[httpx.Client]:
    """A visitor of each test's own: the cookie of one who chose English stays with that one."""
    with httpx.Client(base_url=address) as client:
        yield client


def text_of(html: str) -> str:
    """What a reader sees, roughly."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def escaped(name: str) -> str:
    """As it stands in HTML: in an element of its own that isolates its direction."""
    return f">{markupsafe.escape(name)}</bdi>".replace("\r\n", "\n")


def row_of(html: str, name: str) -> str:
    """What a reader sees of one line."""
    return next(text_of(row) for row in re.findall(r"<tr data-key.*?</tr>", html, re.DOTALL) if name in row)


def test_the_standings_page_shows_every_category_and_its_revision(hub: httpx.Client) -> None:
    page = text_of(hub.get("/").text)
    for words in ("Adulto individual", "Parejas con escape", "Infantil 9-10", "Provisional", "revisión 42"):
        assert words in page


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Nerea G.", ["1 ", "43:21", "mesa 7"]),
        ("Íñigo L.", ["2 ", "46:01", "43:21 + 2:10 ayuda + 0:30 penalización"]),
        ("Xoán P.", ["3= ", "48:25", "47:25 + 1:00 ayuda"]),
        ("Begoña R.", ["5 ", "1:02:03 − 1:00 compensación"]),
        ("Aitor M.", ["pendiente de aceptar"]),
        ("Lucía", ["1:15:00", "el reloj marcó 1:15:25", "tiempo puesto por los jueces"]),
        ("Pilar S.", ["9 ", "2:06:10", "37 sueltas", "sin completar"]),
        ("Rubén C.", ["límite y piezas sueltas 2:15:00 + 2:00 ayuda", "90 sueltas"]),
        ("Teresa V.", ["sin completar", "pendiente de recuento"]),
        ("Hugo D.", ["descalificado"]),
        ("Sara N.", ["no presentado"]),
        ("Emilio Q.", ["retirado"]),
        ("Julia B.", ["en juego"]),
        ("Los Encajados", ["1= ", "1:54:00", "escape 46:27 + puzle 1:07:33"]),
        ("Puzle y Compañía", ["3 ", "423 de 500", "sin completar"]),
    ],
)
def test_a_line_says_what_the_result_is_made_of(hub: httpx.Client, name: str, expected: list[str]) -> None:
    row = row_of(hub.get("/?lang=es").text, name)
    for words in expected:
        assert words in row


def test_the_lines_stand_ranked_first_then_not_ranked_then_in_play(hub: httpx.Client) -> None:
    page = hub.get("/").text
    order = [page.index(name) for name in ("Nerea G.", "Rubén C.", "Teresa V.", "Emilio Q.", "Julia B.")]
    assert order == sorted(order)


def test_a_shared_first_place_asks_for_a_play_off(hub: httpx.Client) -> None:
    assert hub.get("/").text.count("Empate en el primer puesto") == 1


def test_a_category_without_runs_says_so(hub: httpx.Client) -> None:
    assert "Todavía no hay resultados" in hub.get("/").text


@pytest.mark.parametrize("name", NAMES_THAT_ARE_CODE)
def test_a_name_that_is_code_is_shown_as_written(name: str) -> None:
    live = FakeLive(
        categories=[category("c", name, name, 20, "loose", [line(1, name, 1, raw_s=60)])],
        table_list=[table(1, name, name, category_name=(name, name), heat=name)],
        tournament=name,
    )
    with serving(live) as server, httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as client:
        for path in ("/", "/tables", "/events?once", "/tables/events?once"):
            page = client.get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "' onclick='" not in page
            assert "603729" not in text_of(page)
            assert escaped(name) in page.replace("\r\n", "\n")


def test_the_tables_page_shows_every_table_by_number(hub: httpx.Client) -> None:
    page = hub.get("/tables").text
    numbers = [int(number) for number in re.findall(r"Mesa </span>(\d+)</h2>", page)]
    assert numbers == list(range(1, 13))


@pytest.mark.parametrize(
    "words",
    [
        "en pausa",
        "con ayuda",
        "¿completo? por aceptar",
        "¡tiempo! contar piezas",
        "mirar sin abrir",
        "≥ 34:10",
        "sin noticias desde 16:32",
        "sin noticias todavía",
        "5 sin enviar",
        "1:13:34",
        "se han perdido pulsaciones de esta mesa",
        "turno 2",
    ],
)
def test_the_tables_page_says_it_in_words(hub: httpx.Client, words: str) -> None:
    assert words in text_of(hub.get("/tables?lang=es").text)


def test_a_running_clock_brings_what_a_browser_needs_to_run_it_on(hub: httpx.Client) -> None:
    assert '<time data-shown-ms="4412300" data-age-ms="2000" data-direction="up">' in hub.get("/tables").text


def test_virtual_tables_are_linked_when_there_are_any() -> None:
    live = replace(a_day(), timer_pages="http://192.0.2.7:8100/")
    with serving(live) as server:
        page = httpx.get(f"http://127.0.0.1:{server.port}/tables").text
    assert 'href="http://192.0.2.7:8100/tables/12"' in page


@pytest.mark.parametrize(
    ("path", "headers", "language"),
    [
        ("/", {}, "es"),
        ("/", {"Accept-Language": "en-GB,en;q=0.9,es;q=0.8"}, "en"),
        ("/", {"Accept-Language": "fr, de;q=0.5"}, "es"),
        ("/", {"Accept-Language": "en;q=0.1, es-MX;q=0.2"}, "es"),
        ("/", {"Accept-Language": "en;q=nonsense,;;,"}, "es"),
        ("/", {"Cookie": "lang=en"}, "en"),
        ("/", {"Cookie": "lang=xx", "Accept-Language": "en"}, "en"),
        ("/?lang=es", {"Cookie": "lang=en", "Accept-Language": "en"}, "es"),
        ("/?lang=en", {"Accept-Language": "es"}, "en"),
        ("/?lang=../../etc", {}, "es"),
        ("/nowhere?lang=en", {}, "en"),
    ],
)
def test_the_language_is_as_asked_then_as_kept_then_as_the_browser_says(
    hub: httpx.Client, path: str, headers: dict[str, str], language: str
) -> None:
    hub.cookies.clear()
    answer = hub.get(path, headers=headers)
    assert f'<html lang="{language}"' in answer.text
    assert answer.headers["content-language"] == language


def test_a_language_once_chosen_is_kept(hub: httpx.Client) -> None:
    hub.cookies.clear()
    assert "did not start" in hub.get("/?lang=en").text
    assert "did not start" in hub.get("/").text
    hub.cookies.clear()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/tables",
        "/events?once",
        "/api/v1/standings",
        "/api/v1/tables",
        "/api/v1/openapi.json",
        "/healthz",
        "/favicon.ico",
        "/nowhere",
        "/static/nothing.js",
        "/api/nowhere",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
def test_every_answer_carries_the_safe_headers(hub: httpx.Client, method: str, path: str) -> None:
    answer = hub.request(method, path)
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    if path != "/favicon.ico" or method not in ("GET", "HEAD"):
        assert answer.headers["cache-control"] == "no-store"


def test_our_own_bug_gives_a_page_in_words_with_the_safe_headers() -> None:
    live = FakeLive(categories=[{"id": "no standings here"}])
    with serving(live) as server:
        answer = httpx.get(f"http://127.0.0.1:{server.port}/")
    assert answer.status_code == 500
    assert "El cronometraje sigue" in answer.text
    assert answer.headers["content-security-policy"] == POLICY


def test_the_pages_hold_no_inline_script_or_style(hub: httpx.Client) -> None:
    for path in ("/", "/tables", "/nowhere"):
        page = hub.get(path).text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)
        for attributes, script in re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL):
            assert "src=" in attributes
            assert script == ""


def test_static_files_carry_their_content_in_the_name_and_may_be_kept(hub: httpx.Client) -> None:
    addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', hub.get("/").text)
    assert len(addresses) == 3
    for address in addresses:
        answer = hub.get(address)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    for guess in ("/static/live.js", "/static/..%2fapp.py", "/static/"):
        assert hub.get(guess).status_code == 404


@pytest.mark.parametrize(
    "path", ["/", "/tables", "/events", "/tables/events", "/api/v1/standings", "/healthz", "/favicon.ico"]
)
def test_head_gives_the_headers_without_a_body_and_ends(hub: httpx.Client, path: str) -> None:
    answer = hub.head(path)
    assert answer.status_code == 200
    assert answer.content == b""


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/", "/tables", "/events", "/api/v1/standings", "/healthz", "/favicon.ico"])
def test_nothing_can_be_written(hub: httpx.Client, method: str, path: str) -> None:
    answer = hub.request(method, path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(hub: httpx.Client) -> None:
    for_people, for_programs = hub.get("/tablas"), hub.get("/api/v1/nowhere")
    assert (for_people.status_code, for_programs.status_code) == (404, 404)
    assert "Aquí no hay ninguna página así." in for_people.text
    assert for_programs.json()["error"]["status"] == 404
