"""Logging in, ruling, dismissing: what judges and organisers do over HTTP, and what nobody else can (A11, F01).

Long because every way in and every refusal is tried from one kind of phone.
"""

from __future__ import annotations

import http.client
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from urllib.parse import urlencode

import pytest

from hub.people import SESSION_S, People
from hub.ruling_check import CannotRule, Ruling
from hub.store import PlanRow, Store
from hub.throttle import FREE_TRIES
from hub.web.access import Access, GuardedRoute
from hub.web.app import create_app
from hub.web.routes import ROUTES
from hub.web.server import Server
from hub.web.settings import WebSettings
from shared.core.events import EventType
from tests.builders import TableLog
from tests.hub.web_office import NOW_MS, ORGANISER, PASSWORD, Hall, a_run, fields_of, hall, send, token_in

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
RUN = "/judge/run?id=t01%2Fr1"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hall]:
    with hall(tmp_path) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G.")])
        yield here


def official(hub: Hall) -> str:
    """Of the run, as the public standings show it."""
    adults = next(c for c in hub.view.standings()["categories"] if c["id"] == "adulto")
    return str(adults["standings"][0]["official"])


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


# Who may --------------------------------------------------------------------------------------------


def test_a_visitor_reads_what_is_public_and_nothing_else(hub: Hall) -> None:
    hub.organiser()
    before = (list(hub.store.events_in_order()), hub.store.people.all())
    for route, method in product(ROUTES, METHODS):
        answer = hub.phone("192.168.1.66").request(method, address_of(route))
        reads = method in ("GET", "HEAD") and route.access is Access.PUBLIC
        wanted = (200, 404, 503) if reads else (403, 405, 415)
        assert answer.status_code in wanted, (method, route.path, answer.status_code)
    assert (list(hub.store.events_in_order()), hub.store.people.all()) == before


def contents(database: Path) -> list[str]:
    """Everything in a database, as SQL."""
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


def test_looking_changes_nothing_whoever_looks(hub: Hall, tmp_path: Path) -> None:
    hub.hears(a_run())
    organiser, judge, here = hub.organiser(), hub.judge(), hub.here()
    fields = "deed=let_in&name=Eva&kind=disqualified&reason=r&sure=1&id=t01/r1&table=1&pin=1&secret=x&once"
    before = contents(tmp_path / "hub.sqlite3")
    for browser, route, method in product((organiser, judge, here), ROUTES, ("GET", "HEAD")):
        browser.request(method, f"{route.path.replace('{file}', 'x')}?{fields}")
    assert contents(tmp_path / "hub.sqlite3") == before


def test_a_judge_does_nothing_that_is_only_for_organisers(hub: Hall) -> None:
    hub.office.people.set_up(ORGANISER, PASSWORD)
    judge = hub.judge()
    for route, method in product(ROUTES, ("GET", "POST")):
        if route.access in (Access.ORGANISER, Access.HERE):
            assert judge.request(method, address_of(route)).status_code == 403, (method, route.path)


def address_of(route: GuardedRoute) -> str:
    """An address that a route answers at, for one that ends."""
    return route.path.replace("{file}", "x") + "?once"


def test_at_the_hub_itself_one_may_look_without_a_name_but_do_nothing(hub: Hall) -> None:
    hub.organiser()
    assert hub.here().get("/tables").status_code == 200
    assert hub.here().get("/judge").status_code == 403
    assert hub.here().get("/audit").status_code == 403


def test_who_is_logged_in_sees_the_tables_from_any_phone(hub: Hall) -> None:
    hub.office.people.set_up(ORGANISER, PASSWORD)
    judge = hub.judge()
    assert judge.get("/tables").status_code == 200
    assert 'href="/tables"' in judge.get("/").text
    assert 'href="/people"' not in judge.get("/").text


def test_who_is_refused_is_shown_where_to_log_in_and_comes_back_there(hub: Hall) -> None:
    hub.organiser()
    phone = hub.phone()
    page = phone.get(RUN)
    assert 'href="/login?to=/judge/run%3Fid%3Dt01%252Fr1"' in page.text
    answer = send(phone, "/login", name=ORGANISER, secret=PASSWORD, to=RUN)
    assert answer.headers["location"] == RUN


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "", "judge"])
def test_logging_in_leads_to_no_other_server(hub: Hall, to: str) -> None:
    hub.organiser()
    answer = send(hub.phone(), "/login", name=ORGANISER, secret=PASSWORD, to=to)
    assert answer.headers["location"] == "/judge"


# First password, login, session ---------------------------------------------------------------------


def test_the_first_password_is_set_at_the_hub_itself_only(hub: Hall) -> None:
    assert "timer-hub password" in hub.phone().get("/login").text
    assert hub.phone().get("/setup").status_code == 403
    here = hub.here()
    assert here.get("/login").headers["location"] == "/setup"
    different = send(here, "/setup", name="Marta", secret=PASSWORD, again="otra cosa")
    assert "no son iguales" in different.text
    short = send(here, "/setup", name="Marta", secret="corta", again="corta")
    assert "al menos 8" in short.text
    assert (
        send(here, "/setup", name="Marta", secret=PASSWORD, again=PASSWORD).headers["location"] == "/people"
    )
    assert here.get("/people").status_code == 200
    assert hub.here().get("/setup").headers["location"] == "/login"


def test_the_session_cookie_is_for_this_server_alone_and_encrypted_where_the_browser_is(hub: Hall) -> None:
    hub.organiser()
    for headers, secure in (({}, False), ({"X-Forwarded-Proto": "https"}, True)):
        phone = hub.phone()
        token = token_in(phone.get("/login").text)
        answer = phone.post(
            "/login", data={"token": token, "name": ORGANISER, "secret": PASSWORD}, headers=headers
        )
        cookie = next(c for c in answer.headers.get_list("set-cookie") if c.startswith("session="))
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert ("Secure" in cookie) is secure


def test_wrong_passwords_are_refused_then_slowed_down(hub: Hall) -> None:
    hub.organiser()
    phone = hub.phone("192.168.1.66")
    for _ in range(FREE_TRIES):
        assert send(phone, "/login", name=ORGANISER, secret="adivina").status_code == 403
    slowed = send(phone, "/login", name=ORGANISER, secret=PASSWORD)
    assert slowed.status_code == 429
    assert "espere 2 s" in slowed.text
    hub.now_s += 2
    assert send(phone, "/login", name=ORGANISER, secret=PASSWORD).status_code == 303


def test_a_judge_dismissed_while_a_form_is_on_its_way_rules_nothing(hub: Hall) -> None:
    hub.hears(a_run())
    hub.organiser()
    judge, path = hub.judge(), "/judge/run?id=t01%2Fr1"
    data = {**fields_of(judge.get(path).text, 'value="penalty_given"'), "number": "10", "reason": "tarde"}
    body = urlencode(data).encode()

    async def slowly() -> AsyncIterator[bytes]:
        yield body[:20]
        [luis] = hub.office.people.judges()
        hub.office.people.dismiss(luis.id, by=ORGANISER)
        yield body[20:]

    before = sum(1 for _ in hub.store.events_in_order())
    headers = {"Origin": judge.origin, "Content-Type": "application/x-www-form-urlencoded"}
    assert judge.post(path, content=slowly(), headers=headers).status_code == 403
    assert sum(1 for _ in hub.store.events_in_order()) == before


def test_a_judge_dismissed_while_a_ruling_waits_its_turn_rules_nothing(hub: Hall) -> None:
    hub.hears(a_run())
    luis, _ = hub.office.people.let_in("Luis", by=ORGANISER)
    sheet = hub.office.commands.run("t01/r1")
    assert sheet is not None
    data = {"seconds": 10}
    ruling = Ruling(EventType.PENALTY_GIVEN, "tarde", luis, sheet.version, "t01/r1", data)
    hub.office.commands.preview(ruling)
    hub.office.people.dismiss(luis.id, by=ORGANISER)
    with pytest.raises(CannotRule, match="dismissed"):
        hub.office.commands.rule(ruling)


def test_logging_out_ends_the_session(hub: Hall) -> None:
    phone = hub.organiser()
    assert send(phone, "/me", deed="log_out").headers["location"] == "/"
    assert phone.get("/people").status_code == 403


def test_another_password_logs_out_all_devices(hub: Hall) -> None:
    first, second = hub.organiser(), hub.organiser()
    wrong = send(
        first, "/me", deed="password", old="no es", secret="otra contraseña", again="otra contraseña"
    )
    assert wrong.status_code == 403
    done = send(
        first, "/me", deed="password", old=PASSWORD, secret="otra contraseña", again="otra contraseña"
    )
    assert done.status_code == 303
    assert [phone.get("/people").status_code for phone in (first, second)] == [403, 403]


# Forms ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://hub.example:9000"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_from_a_foreign_page_changes_nothing(hub: Hall, headers: dict[str, str]) -> None:
    phone = hub.organiser()
    token = token_in(phone.get("/people").text)
    answer = phone.post("/people", data={"token": token, "deed": "let_in", "name": "Eva"}, headers=headers)
    assert answer.status_code == 403
    assert hub.office.people.judges() == []


@pytest.mark.parametrize("token", [None, "", "0" * 64, "ñ"])
def test_a_form_without_the_pages_token_changes_nothing(hub: Hall, token: str | None) -> None:
    phone = hub.organiser()
    data = {"deed": "let_in", "name": "Eva"} | ({} if token is None else {"token": token})
    assert phone.post("/people", data=data).status_code == 403
    assert hub.office.people.judges() == []


def test_the_token_of_somebody_else_is_not_taken(hub: Hall) -> None:
    theirs = token_in(hub.organiser().get("/people").text)
    answer = hub.organiser().post("/people", data={"token": theirs, "deed": "let_in", "name": "Eva"})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"", "", 415),
        (b"x=" + b"y" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"&".join([b"a=1"] * 60), "application/x-www-form-urlencoded", 400),
        (b"a=\xff", "application/x-www-form-urlencoded", 400),
    ],
)
def test_what_is_no_form_of_ours_is_refused_in_words(
    hub: Hall, content: bytes, kind: str, status: int
) -> None:
    answer = hub.organiser().post("/people", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert "<main>" in answer.text


# Judges ---------------------------------------------------------------------------------------------


def test_a_judge_is_let_in_by_a_printed_card_that_logs_in_at_one_press(hub: Hall) -> None:
    page = send(hub.organiser(), "/people", deed="let_in", name="Eva").text
    found = re.search(r"PIN <strong>(\d{8})</strong>", page)
    assert found
    assert "<svg" in page
    phone = hub.phone("192.168.1.30")
    form = phone.get(f"/login?name=Eva&pin={found[1]}").text
    assert f'value="{found[1]}"' in form
    answer = phone.post("/login", data={"token": token_in(form), "name": "Eva", "secret": found[1]})
    assert answer.headers["location"] == "/judge"


def test_opening_the_printed_address_alone_logs_nobody_in(hub: Hall) -> None:
    hub.organiser()
    _, pin = hub.office.people.let_in("Eva", by=ORGANISER)
    phone = hub.phone()
    phone.get(f"/login?name=Eva&pin={pin}")
    assert phone.get("/judge").status_code == 403


def test_a_dismissed_judge_is_out_at_once(hub: Hall) -> None:
    organiser, judge = hub.organiser(), hub.judge("Eva")
    (eva,) = hub.office.people.judges()
    assert judge.get("/judge").status_code == 200
    assert send(organiser, "/people", deed="dismiss", judge=eva.id).status_code == 303
    assert judge.get("/judge").status_code == 403
    assert "no puede entrar" in text_of(organiser.get("/people").text)


@pytest.mark.parametrize("fields", [{"deed": "let_in", "name": " "}, {"deed": "renew", "judge": "x"}, {}])
def test_what_cannot_be_done_about_judges_is_said(hub: Hall, fields: dict[str, str]) -> None:
    assert send(hub.organiser(), "/people", **fields).status_code == 400


# Rulings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "number", "shown"),
    [
        ("penalty_given", "1:30", "44:51"),
        ("penalty_given", "-0:21", "43:00"),
        ("penalty_given", "30", "43:51"),
        ("time_set", "1:02:03", "1:02:03"),
    ],
)
def test_a_ruling_is_in_the_standings_at_once(hub: Hall, kind: str, number: str, shown: str) -> None:
    hub.hears(a_run())
    hub.office.people.set_up(ORGANISER, PASSWORD)
    assert official(hub) == "43:21"
    answer = send(hub.judge(), RUN, kind=kind, number=number, reason="pieza prestada", sure="1")
    assert answer.status_code == 303
    assert official(hub) == shown


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("disqualified", "DSQ"),
        ("did_not_finish", "DNF"),
        ("run_voided", "VOID"),
        ("incident_noted", "FINISHED"),
    ],
)
def test_a_status_is_ruled_with_a_reason_and_a_name(hub: Hall, kind: str, status: str) -> None:
    hub.hears(a_run())
    hub.office.people.set_up(ORGANISER, PASSWORD)
    judge = hub.judge("Iñigo <b>")
    send(judge, RUN, kind=kind, reason="abrió la caja & miró", sure="1")
    adults = next(c for c in hub.view.standings()["categories"] if c["id"] == "adulto")
    assert adults["standings"][0]["status"] == status
    *_, event = hub.store.events_in_order()
    assert (event.data["by"], event.data["reason"]) == ("Iñigo <b>", "abrió la caja & miró")
    page = judge.get(RUN).text
    assert "Iñigo &lt;b&gt;" in page
    assert "abrió la caja &amp; miró" in page


def test_pieces_are_counted_on_the_judges_phone(hub: Hall) -> None:
    log = a_run()[:1]
    hub.hears(log)
    hub.view.hear("t01", "state", {}, 0.0)
    hub.office.people.set_up(ORGANISER, PASSWORD)
    judge = hub.judge()
    assert send(judge, RUN, kind="pieces_corrected", number="201", reason="recuento").status_code == 400
    assert send(judge, RUN, kind="pieces_corrected", number="37", reason="recuento").status_code == 303


def test_a_ruling_is_taken_back_by_another_one(hub: Hall) -> None:
    hub.hears(a_run())
    organiser = hub.organiser()
    send(organiser, RUN, kind="penalty_given", number="60", reason="se equivocó")
    page = organiser.get(RUN).text
    assert "Retirar" in page
    assert send(organiser, RUN, kind="ruling_revoked", number="1", reason="era otra mesa").status_code == 303
    assert official(hub) == "43:21"
    after = organiser.get(RUN).text
    assert "<s>penalización</s>" in after
    assert "Retirar" not in after
    again = send(organiser, RUN, kind="ruling_revoked", number="1", reason="otra vez")
    assert again.status_code == 400


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "penalty_given", "number": "30", "reason": "  "}, "escriba el motivo"),
        ({"kind": "penalty_given", "number": "30", "reason": "x" * 501}, "demasiado largo"),
        ({"kind": "penalty_given", "number": "mucho", "reason": "r"}, "no se entiende"),
        ({"kind": "penalty_given", "number": "0", "reason": "r"}, "no se entiende"),
        ({"kind": "time_set", "number": "-1", "reason": "r"}, "no se entiende"),
        ({"kind": "tie_broken", "reason": "r"}, "cada uno de los empatados"),
        ({"kind": "run_started", "reason": "r"}, "no se entiende"),
        ({"kind": "nada", "reason": "r"}, "no se entiende"),
        ({}, "no se entiende"),
    ],
)
def test_what_is_no_ruling_is_said_and_changes_nothing(hub: Hall, fields: dict[str, str], words: str) -> None:
    hub.hears(a_run())
    answer = send(hub.organiser(), RUN, **fields)
    assert answer.status_code == 400
    assert words in answer.text
    assert len(list(hub.store.events_in_order())) == 3


def test_who_looked_before_something_changed_is_told_and_keeps_what_was_typed(hub: Hall) -> None:
    run = a_run()
    hub.hears(run[:2])
    hub.office.people.set_up(ORGANISER, PASSWORD)
    luis, eva = hub.judge("Luis"), hub.judge("Eva")
    page = eva.get(RUN).text
    seen = re.search(r'name="seen" value="([0-9a-f]+)"', page)
    assert seen
    send(luis, RUN, kind="penalty_given", number="60", reason="se equivocó")
    data = {
        "token": token_in(page),
        "seen": seen[1],
        "kind": "penalty_given",
        "number": "60",
        "reason": "error",
    }
    answer = eva.post(RUN, data=data)
    assert answer.status_code == 409
    assert "se equivocó" in answer.text
    assert 'value="error"' in answer.text
    data["seen"] = str(re.findall(r'name="seen" value="([0-9a-f]+)"', answer.text)[0])
    hub.hears(run[2:])
    assert eva.post(RUN, data=data).status_code == 409


def test_a_form_sent_twice_rules_once(hub: Hall) -> None:
    hub.hears(a_run())
    judge = hub.organiser()
    page = judge.get(RUN).text
    seen = re.findall(r'name="seen" value="([0-9a-f]+)"', page)[0]
    data = {"token": token_in(page), "seen": seen, "kind": "penalty_given", "number": "60", "reason": "error"}
    assert [judge.post(RUN, data=data).status_code for _ in range(2)] == [303, 409]
    assert official(hub) == "44:21"


def test_a_run_is_shown_press_by_press(hub: Hall) -> None:
    hub.hears(a_run())
    page = text_of(hub.organiser().get(RUN).text)
    for words in ("Ana G.", "0:00 inicio", "45:21 fin", "45:22 fin aceptado", "43:21"):
        assert words in page


def test_tables_and_their_runs_lead_to_the_run(hub: Hall) -> None:
    hub.hears(a_run())
    organiser = hub.organiser()
    for page in ("/judge", "/judge?table=1"):
        assert 'href="/judge/run?id=t01/r1"' in organiser.get(page).text
    assert "Todavía no hay pruebas" in organiser.get("/judge?table=9").text


@pytest.mark.parametrize("run", ["", "nada", "x" * 3000, "%00", "../../etc/passwd"])
def test_a_run_that_is_not_there_is_said(hub: Hall, run: str) -> None:
    assert hub.organiser().get(f"/judge/run?id={run}").status_code == 404


# Audit ----------------------------------------------------------------------------------------------


def test_the_audit_tells_every_press_and_ruling_with_who_and_when(hub: Hall) -> None:
    hub.hears(a_run())
    organiser = hub.organiser()
    send(organiser, RUN, kind="penalty_given", number="60", reason="se equivocó")
    page = text_of(organiser.get("/audit").text)
    assert "2026-06-27" in page
    for words in ("Marta penalización +1:00 se equivocó", "t01 · 1 inicio", "t01 · 2 fin"):
        assert words in page
    people = text_of(organiser.get("/audit?of=people").text)
    assert "Marta organización dada de alta Marta" in people


def test_the_audit_is_asked_for_a_table_or_a_name(hub: Hall) -> None:
    hub.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G."), PlanRow("1", 1, 2, "e2", "adulto", "Bea R.")])
    hub.hears(a_run())
    hub.hears(a_run(2, device="t02", entrant="e2"))
    organiser = hub.organiser()
    for query, device in (("table=1", "t01"), ("entrant=Bea%20R.", "t02"), ("entrant=e2", "t02")):
        page = organiser.get(f"/audit?{query}").text
        assert {"t01", "t02"} & set(re.findall(r"(t0\d) · \d", page)) == {device}
    assert "Todavía nada" in organiser.get("/audit?entrant=nadie").text


def test_a_long_audit_goes_on_at_earlier_entries(hub: Hall) -> None:
    log = TableLog("adulto", "r", log="t01-l", device="t01", boot="b", entrant=None)
    for at_ms in range(250):
        log.write("press_refused", at_ms, act="pause", reason="no_pauses")
    hub.hears(log.events)
    organiser = hub.organiser()
    first = organiser.get("/audit").text
    assert "t01 · 250" in first
    assert "t01 · 50<" not in first
    earlier = re.search(r'href="(/audit\?before=\d+)"', first)
    assert earlier
    assert "t01 · 50<" in organiser.get(earlier[1]).text


@pytest.mark.parametrize("path", ["/login", "/judge", "/people", "/audit", "/me", RUN])
def test_pages_of_the_office_speak_both_languages_and_keep_what_was_asked(hub: Hall, path: str) -> None:
    hub.hears(a_run())
    page = hub.organiser().get(path).text
    other = re.search(r'href="(\?[^"]*lang=en)"', page)
    assert other
    assert ("id=t01%2Fr1" in other[1]) is (path == RUN)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script", page)


# Live pages -----------------------------------------------------------------------------------------


@contextmanager
def watching(port: int, session: str) -> Iterator[http.client.HTTPResponse]:
    """The tables page's stream, watched from elsewhere by who has a session."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(
        "GET", "/tables/events", headers={"Host": "hub.example", "Cookie": f"session={session}"}
    )
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


@pytest.mark.parametrize("end", ["logs out", "other password", "other process", "dismissed", "in time"])
def test_a_live_page_of_staff_ends_when_its_login_does(hub: Hall, tmp_path: Path, end: str) -> None:
    people = hub.office.people
    marta = people.set_up(ORGANISER, PASSWORD)
    eva, pin = people.let_in("Eva", by=ORGANISER)
    name, secret = ("Eva", pin) if end == "dismissed" else (ORGANISER, PASSWORD)
    session = people.log_in(name, secret, "192.168.1.20")
    app = create_app(hub.view, hub.office, settings=WebSettings(recheck_s=0.1, heartbeat_s=0.1))
    server = Server(app, host="127.0.0.1", port=0)
    server.start()
    try:
        with watching(server.port, session) as stream:
            assert stream.status == 200
            assert stream.readline() == b"event: snapshot\n"
            if end == "logs out":
                people.log_out(session)
            elif end == "other password":
                people.change_password(marta, PASSWORD, "otra contraseña", "192.168.1.20")
            elif end == "other process":
                other = Store.open(tmp_path / "hub.sqlite3", lambda: NOW_MS)
                People(other, wall=lambda: NOW_MS, hand=lambda: 0.0).force_password(ORGANISER, PASSWORD)
                other.close()
            elif end == "dismissed":
                people.dismiss(eva.id, by=ORGANISER)
            else:
                hub.now_ms += (SESSION_S + 1) * 1000
            stream.read()  # comes back when the hub ends the stream
        with watching(server.port, session) as again:
            assert again.status == 403
    finally:
        server.stop()
