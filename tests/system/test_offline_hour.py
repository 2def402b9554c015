"""Results of an hour without a network: kept by the table alone, sent in order, in small windows."""

from __future__ import annotations

import sqlite3
import tracemalloc
from pathlib import Path

import pytest

from shared.broker import Version
from tests.brokers import Mosquitto
from tests.system.hall import Hall, a_hall
from tests.system.test_hall import finished, started
from tests.system.test_road import Hub, Table, ended
from tests.waiting import wait_until

RUNS = range(1, 6)
A_DAY = 2_000
"""Events of a table that nobody heard for a day."""
MOST_BYTES = 8_000_000


def next_run(hall: Hall, name: str) -> None:
    """START on a sealed run, which is too soon right after it was sealed."""

    def there() -> bool:
        screen = hall.screen(1)
        if "FINAL" in screen:
            hall.press(1, "start")
        return name in screen

    wait_until(there)


@pytest.mark.long
def test_five_results_of_an_offline_hour_survive_a_pulled_plug_and_arrive_in_order(tmp_path: Path) -> None:
    """D03: the journal is the only source of what is sent."""
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        hall.load(f"{n},{n},1,e{n},adulto,Participante {n}" for n in RUNS)
        hall.start_hub()
        hall.start_tables()
        hall.until_screen(1, "Participante 1")
        hall.hub.stop()
        hall.broker.stop()
        for n in RUNS:
            next_run(hall, f"Participante {n}")
            started(hall, 1)
            finished(hall, 1)
        hall.power(1, on=False)
        hall.power(1, on=True)
        hall.start_hub()
        wait_until(lambda: len(hall.lines()) == len(RUNS))
        assert all(line["status"] == "FINISHED" for line in hall.lines().values())
        wait_until(lambda: hall.table_lines()[0]["unsent"] == 0)
        found = sqlite3.connect(tmp_path / "hub" / "hub.sqlite3")
        starts = found.execute(
            "select json_extract(payload, '$.entrant') from events where type = 'run_started' order by n"
        ).fetchall()
        found.close()
        assert [entrant for (entrant,) in starts] == [f"e{n}" for n in RUNS]


def test_two_thousand_events_of_a_day_offline_take_no_memory_and_arrive_without_a_gap(tmp_path: Path) -> None:
    """D03."""
    broker = Mosquitto(tmp_path)
    table = Table(broker.port, tmp_path / "t01", "t01", Version.V5)
    table.link.start()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        table.press(A_DAY)
        assert tracemalloc.get_traced_memory()[0] - before < MOST_BYTES
    finally:
        tracemalloc.stop()
    broker.start()
    hub = Hub(broker.port, tmp_path / "hub.db", Version.V5)
    try:
        with ended(hub, table):
            wait_until(lambda: table.link.unsent == 0, 60.0)
            assert [event.seq for event in hub.store.events_in_order()] == list(range(1, A_DAY + 1))
    finally:
        broker.stop()
