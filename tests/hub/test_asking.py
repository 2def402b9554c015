"""What people at the hub ask of a table goes one way, once, and its answer is shown in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.asking import LASTS_S, LONGEST_TEXT, Asking, CannotAsk
from hub.store import Store
from hub.table_answer import Answer, answer_from
from hub.web.condition_words import answer_words, condition_words, finding_words
from shared.clock import HubClock
from shared.texts import translator
from shared.wire import Do
from tests.hub.test_web_office import text_of
from tests.hub.web_office import ORGANISER, Hall, hall

T = translator("en")


class Clock:
    """A hub's clock that a test moves."""

    def __init__(self) -> None:
        self.s, self.base = 1000, "boot-1"

    def now(self) -> HubClock:
        return HubClock(lambda: self.s * 1_000_000, self.base)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "hub.sqlite3", lambda: 5)
    yield opened
    opened.close()


def test_what_is_asked_is_there_for_the_hub_as_long_as_it_is_fresh(store: Store) -> None:
    """D07: a hub that was away, or was switched off meanwhile, says nothing old."""
    clock = Clock()
    command = Asking(store, clock.now(), lambda: 5).ask("t01", Do.IDENTIFY, ORGANISER)
    assert Asking(store, clock.now(), lambda: 5).asked() == {"t01": command}
    clock.s += LASTS_S + 1
    assert Asking(store, clock.now(), lambda: 5).asked() == {}
    clock.s, clock.base = 10, "boot-2"
    assert Asking(store, clock.now(), lambda: 5).asked() == {}


def test_only_the_answer_to_this_question_counts(store: Store) -> None:
    asking = Asking(store, Clock().now(), lambda: 5)
    first = asking.ask("t01", Do.IDENTIFY, ORGANISER)
    asking.answered("t01", Answer("another", "identify", "done"))
    assert asking.answer("t01", first) is None
    asking.answered("t01", Answer(first.id, "identify", "done"))
    assert asking.answer("t01", first) == Answer(first.id, "identify", "done")


@pytest.mark.parametrize("text", ["", "  ", "x" * (LONGEST_TEXT + 1)])
def test_a_text_that_no_display_holds_is_not_asked(store: Store, text: str) -> None:
    asking = Asking(store, Clock().now(), lambda: 5)
    with pytest.raises(CannotAsk):
        asking.ask("t01", Do.SHOW_TEXT, ORGANISER, text)
    assert (asking.asked(), store.audit.deeds(None, 9)) == ({}, [])


@pytest.mark.parametrize(
    "kept", ["", "7", "[]", '{"id":1}', '{"id":"a","do":"burn","expires_ms":1,"base":"b"}']
)
def test_nonsense_in_the_database_is_no_question(store: Store, kept: str) -> None:
    store.keep_note("asked-t01", kept)
    assert Asking(store, Clock().now(), lambda: 5).asked() == {}


@pytest.mark.parametrize(
    "payload", [{}, {"id": 7, "result": "done"}, {"id": "a"}, {"id": "a", "result": ["done"]}]
)
def test_a_reply_that_is_none_is_no_answer(payload: dict[str, Any]) -> None:
    assert answer_from(payload) is None


def test_of_a_reply_only_what_a_page_can_hold_is_kept() -> None:
    findings: list[Any] = [{"part": "x" * 900, "ok": 1, "ms": "9", "more": 1}, 7, {"ok": True}] * 30
    answer = answer_from({"id": "a", "do": 7, "result": "r" * 900, "why": 7, "findings": findings})
    assert answer is not None
    assert (answer.do, answer.why, len(answer.result)) == ("", "", 100)
    assert answer.findings[0] == {"part": "x" * 500, "ok": False}
    assert len(answer.findings) == 10


CONDITION = {
    "software": "0.1.0",
    "python": "3.11.2",
    "os": "Debian 12",
    "display": "ok",
    "temperature_c": 51,
    "free_mb": 12_345,
    "throttled": "0x50000",
    "clock_error_ms": 3,
}


def test_how_the_parts_of_a_table_are_is_told_in_words() -> None:
    """E11: what was since power-on is told apart from what is now."""
    assert condition_words(CONDITION, [], "en", T) == (
        "display works",
        "buttons work",
        "clock within 3 ms of the hub's",
        "supply: too weak since power-on, slowed down since power-on",
        "51 °C",
        "12.3 GB free on the card",
        "software 0.1.0, Python 3.11.2, Debian 12",
    )
    assert "12,3 GB libres" in " ".join(condition_words(CONDITION, [], "es", translator("es")))


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        ("0x0", "supply good since power-on"),
        ("0x50005", "supply: now too weak, now slowed down"),
        ("0x1", "supply: now too weak"),
        ("0x20000", "supply: slowed down since power-on"),
        ("weak", "supply unknown"),
    ],
)
def test_the_firmwares_bits_are_words(bits: str, words: str) -> None:
    """E11."""
    assert words in condition_words(CONDITION | {"throttled": bits}, [], "en", T)


def test_of_what_a_table_does_not_tell_nothing_is_told() -> None:
    assert condition_words(None, [], "en", T) == ()
    nothing = dict.fromkeys(CONDITION)
    assert condition_words(nothing, [], "en", T) == ("clock not compared with the hub's",)
    stuck = [{"code": "button_stuck"}]
    assert "buttons work" not in condition_words(CONDITION, stuck, "en", T)


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        ({"part": "disk", "code": "disk_writes", "ms": 812}, "slowest of 20 writes to the card: 812 ms"),
        ({"part": "buttons", "code": "buttons_down", "names": "START"}, "pressed or stuck: START"),
        ({"part": "board", "code": "supply_weak"}, "the table's supply is too weak: change cable or supply"),
        (
            {"part": "new", "code": "of_a_newer_version", "text": "as the table said it"},
            "as the table said it",
        ),
        ({"part": "new"}, "new"),
    ],
)
def test_a_finding_is_told_in_words(finding: dict[str, Any], words: str) -> None:
    assert finding_words(finding, T) == words


def test_of_a_self_test_that_is_not_well_the_faults_are_told() -> None:
    answer = {
        "do": "selftest",
        "result": "faults",
        "why": "",
        "findings": [
            {"part": "display", "ok": True, "code": "display_answers"},
            {"part": "network", "ok": False, "code": "network_none"},
        ],
    }
    assert answer_words(answer, T) == ("self-test: not all is well", "the broker does not answer")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hall]:
    with hall(tmp_path) as here:
        status = {"session": 1, "online": True, "table": 1, "health": {"display": "ok", "problems": []}}
        here.view.hear("t01", "status", status, 0.0)
        yield here


def test_a_judge_asks_a_table_and_the_audit_knows_it(hub: Hall) -> None:
    hub.organiser()
    judge = hub.judge("Luis")
    assert send_deed(judge, "identify").headers["location"] == "/tables"
    (command,) = hub.office.asking.asked().values()
    assert command.do is Do.IDENTIFY
    assert send_deed(judge, "show_text", text=" Ven  a la mesa ").status_code == 303
    assert hub.office.asking.asked()["t01"].text == "Ven a la mesa"
    deeds = [(d.by, d.deed, d.about) for d in hub.store.audit.deeds(None, 9) if d.deed.startswith("table_")]
    assert deeds == [("Luis", "table_show_text", "t01 Ven a la mesa"), ("Luis", "table_identify", "t01")]


def send_deed(browser: Any, deed: str, device: str = "t01", **fields: str) -> Any:
    """Press a button of the form on the page of the tables."""
    page = browser.get("/tables")
    token = page.text.split('name="token" value="')[1].split('"')[0]
    data = {"token": token, "device": device, "deed": deed, **fields}
    return browser.post("/tables/ask", data=data, headers={"Origin": browser.origin})


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"deed": "reload"}, 400),
        ({"deed": "burn"}, 400),
        ({"deed": "identify", "device": "t99"}, 400),
        ({"deed": "show_text"}, 400),
        ({"deed": "show_text", "text": "x" * 41}, 400),
        ({"deed": "identify", "token": "0"}, 403),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence_and_nothing_is_asked(
    hub: Hall, fields: dict[str, str], status: int
) -> None:
    judge = (hub.organiser(), hub.judge())[1]
    answer = send_deed(judge, **fields)
    assert answer.status_code == status
    assert "Nothing was" in text_of(judge.post("/tables/ask?lang=en", data=fields).text)
    assert hub.office.asking.asked() == {}


def test_nobody_asks_who_is_not_logged_in(hub: Hall) -> None:
    hub.organiser()
    assert "/tables/ask" not in hub.here().get("/tables").text
    for browser in (hub.here(), hub.phone()):
        assert browser.post("/tables/ask", data={"deed": "identify", "device": "t01"}).status_code == 403
    assert hub.office.asking.asked() == {}


def test_the_page_of_the_tables_shows_how_a_table_is_and_what_it_answered(hub: Hall) -> None:
    organiser = hub.organiser()
    reply = {"id": "c1", "do": "selftest", "result": "faults", "findings": [{"part": "<b>", "ok": False}]}
    hub.view.hear("t01", "reply", reply, 0.0)
    page = organiser.get("/tables?lang=en")
    assert "display works · buttons work" in text_of(page.text)
    assert "self-test: not all is well" in text_of(page.text)
    assert "&lt;b&gt;" in page.text
    line = json.loads(organiser.get("/api/v1/tables").text)["tables"][0]
    assert line["answer"]["result"] == "faults"
    assert line["condition"]["display"] == "ok"
