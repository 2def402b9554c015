"""Sheets to print: a QR code for each table's judge, and one for the public."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.store import PlanRow
from hub.web.qr import qr_svg, wifi_text
from hub.web.sheets import DOT, MOST, numbers_in
from tests.hub.test_web_office import text_of
from tests.hub.web_office import Hall, hall


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hall]:
    with hall(tmp_path) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G.")])
        yield here


def test_every_known_table_has_a_sheet_with_its_number_and_where_its_judge_logs_in(hub: Hall) -> None:
    page = hub.organiser().get("/sheets").text
    assert re.findall(r'class="number">(\d+)<', page) == ["1", "2"]
    for table in (1, 2):
        link = f"http://hub.example:8000/judge?table={table}"
        assert link in html.unescape(page)
        assert str(qr_svg(link, DOT)) in page
    assert "<bdi>t01</bdi>" in page


def test_the_link_of_a_tables_sheet_leads_a_judge_to_the_table(hub: Hall) -> None:
    hub.organiser()
    assert hub.judge().get("/judge?table=1").status_code == 200
    asked = hub.phone().get("/judge?table=1")
    assert asked.status_code == 403
    assert "judge?table=1" in html.unescape(asked.text).replace("%3F", "?").replace("%3D", "="), (
        "and back here"
    )


def test_the_publics_sheet_has_address_and_wifi_as_codes(hub: Hall) -> None:
    """F06: an address with numbers, as the page was opened, works where names do not."""
    organiser = hub.organiser()
    page = organiser.get("/sheets", params={"wifi": "Público", "key": "a;b", "tables": "3"}).text
    assert str(qr_svg("http://hub.example:8000/", DOT)) in page
    assert str(qr_svg("WIFI:T:WPA;S:Público;P:a\\;b;;", DOT)) in page
    assert re.findall(r'class="number">(\d+)<', page) == ["3"]


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("hall", "", "WIFI:T:nopass;S:hall;;"),
        ("hall", "secret99", "WIFI:T:WPA;S:hall;P:secret99;;"),
        ('a"b\\c', "x:y,z", 'WIFI:T:WPA;S:a\\"b\\\\c;P:x\\:y\\,z;;'),
    ],
)
def test_a_wifi_is_written_as_phones_read_it(name: str, key: str, text: str) -> None:
    assert wifi_text(name, key) == text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("7", [7]),
        ("1-3, 9", [1, 2, 3, 9]),
        ("3–4,3", [3, 4]),
        ("0", None),
        ("5-2", None),
        ("1-999", None),
        ("x", None),
        ("1,,2", None),
        ("٣", None),
        (f"1-{MOST}", list(range(1, MOST + 1))),
    ],
)
def test_tables_are_typed_as_numbers_and_ranges(text: str, numbers: list[int] | None) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize("query", [{"tables": "all"}, {"wifi": "x" * 33}, {"wifi": "w", "key": "k" * 64}])
def test_what_cannot_be_printed_gets_a_sentence(hub: Hall, query: dict[str, str]) -> None:
    answer = hub.organiser().get("/sheets?lang=en", params={"lang": "en", **query})
    assert answer.status_code == 400
    assert "Write tables as 1-12, 15" in text_of(answer.text)
