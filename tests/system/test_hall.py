"""From button to standings on real processes: mosquitto, the hub, virtual tables, Chromium."""

from __future__ import annotations

import queue
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from shared.broker import BrokerSettings, Connected
from shared.mqtt import MqttClient
from tests.browser.chromium import chromium
from tests.system.hall import Hall, a_hall
from tests.waiting import wait_until

NAMES = {n: f"Participante {n}" for n in range(1, 21)}
DEADLINE_MS = 30_000


def plan(tables: int) -> list[str]:
    return [f"1,1,{n},e{n},adulto,{NAMES[n]}" for n in range(1, tables + 1)]


@pytest.fixture
def page() -> Iterator[Page]:
    with chromium() as browser:
        yield browser.new_page(locale="es-ES")


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    """A hub and two tables whose clocks run 60 times as fast: a preview takes two seconds."""
    with a_hall(tmp_path, tables=2, speed=60) as hall:
        hall.load(plan(2))
        hall.start_hub()
        hall.start_tables()
        for table in (1, 2):
            hall.until_screen(table, NAMES[table])
        yield hall


def started(hall: Hall, table: int) -> None:
    hall.start(table)
    hall.until_screen(table, "P2 · A3 10:00")


def finished(hall: Hall, table: int) -> None:
    """FINISH until it is final: a press on a table that is starting is lost, one that is too soon is refused."""

    def final() -> bool:
        hall.press(table, "finish")
        return "FINAL" in hall.screen(table)

    wait_until(final)


def test_press_finish_and_accept_put_the_right_row_on_the_open_page_without_reload(
    hall: Hall, page: Page
) -> None:
    page.goto(f"http://127.0.0.1:{hall.web_port}/")
    page.evaluate("window.notReloaded = true")
    started(hall, 1)
    expect(page.get_by_text(NAMES[1])).to_be_visible(timeout=DEADLINE_MS)
    finished(hall, 1)
    line = hall.until_line("e1", rank=1, marks=[])
    row = page.get_by_role("row").filter(has_text=NAMES[1])
    expect(row).to_contain_text(line["official"], timeout=DEADLINE_MS)
    assert line["official"] in hall.screen(1), "the display at the stop is the result"
    assert page.evaluate("window.notReloaded")


def test_a_killed_table_program_comes_back_and_the_clock_goes_on_right(hall: Hall) -> None:
    started(hall, 1)
    hall.kill_app(1)
    hall.until_screen(1, "P2 · A3 10:00")
    assert "≥" not in hall.screen(1)
    finished(hall, 1)
    assert hall.until_line("e1", rank=1)["marks"] == []


def test_junk_from_the_network_is_kept_aside_and_counted_and_nothing_stops(hall: Hall) -> None:

    reports: queue.SimpleQueue[object] = queue.SimpleQueue()
    client = MqttClient(BrokerSettings("127.0.0.1", hall.broker.port, "vandal"), [], reports)
    client.start()
    while not isinstance(reports.get(timeout=30), Connected):
        pass
    junk = {
        "puzzle/1/t01/up/event": [
            b"{",
            b"\xff\xfe",
            b'{"events": 7}',
            b"x" * 1_000_000,
            b'{"events":[{"v":1}]}',
        ],
        "puzzle/1/t01/up/nonsense": [b"{}"],
        "puzzle/1/t01/up/state": [b"[]", b"nope"],
        "puzzle/1/t01/up/status": [b'{"online": "maybe"}'],
    }
    for topic, payloads in junk.items():
        for payload in payloads:
            assert client.publish(topic, payload, 1, retain=False)
    wait_until(lambda: (hall.health() or {}).get("kept_aside", 0) >= 9)
    client.stop()
    started(hall, 1)
    finished(hall, 1)
    hall.until_line("e1", rank=1, marks=[])
    assert (hall.health() or {})["ok"]


def test_a_whole_run_without_hub_and_broker_arrives_when_they_come(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        hall.start_tables()
        hall.until_screen(1, "sin turno")
        started(hall, 1)
        hall.press(1, "assist")
        hall.until_screen(1, "AYUDA 1/3")
        finished(hall, 1)
        found = re.search(r"sin red (\d+)", hall.screen(1))
        assert found, "the display counts what is unsent"
        hall.start_hub()
        wait_until(lambda: (hall.health() or {}).get("accepted", 0) >= int(found[1]))
        (line,) = hall.lines().values()
        assert (line["rank"], line["status"], line["table"]) == (1, "FINISHED", 1)
        wait_until(lambda: "sin red" not in hall.screen(1))


def test_twenty_tables_pressed_at_once_are_all_on_the_page(tmp_path: Path, page: Page) -> None:
    with a_hall(tmp_path, tables=20, speed=60) as hall, ThreadPoolExecutor(20) as judges:
        hall.load(plan(20))
        hall.start_hub()
        hall.start_tables()
        tables = range(1, 21)
        list(judges.map(lambda n: hall.until_screen(n, NAMES[n]), tables))
        page.goto(f"http://127.0.0.1:{hall.web_port}/")
        list(judges.map(lambda n: started(hall, n), tables))
        list(judges.map(lambda n: finished(hall, n), tables))
        wait_until(lambda: [x["marks"] for x in hall.lines().values()] == [[]] * 20)
        for line in hall.lines().values():
            row = page.get_by_role("row").filter(has=page.get_by_text(line["name"], exact=True))
            expect(row).to_contain_text(line["official"], timeout=DEADLINE_MS)
            assert line["official"] in hall.screen(line["table"])


def test_a_restarted_hub_shows_the_same_standings(hall: Hall) -> None:
    for table in (1, 2):
        started(hall, table)
        finished(hall, table)
    hall.until_line("e1", marks=[])
    hall.until_line("e2", marks=[])
    before = hall.lines()
    hall.hub.kill()
    hall.hub.start()
    wait_until(lambda: hall.lines() == before)
