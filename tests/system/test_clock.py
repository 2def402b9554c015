"""The hub's clock on real processes: plugs pulled in a run, common starts, two devices on one seat."""

from __future__ import annotations

import time
from pathlib import Path

from tests.system.hall import START_S, Hall, a_hall
from tests.waiting import wait_until

COUNTDOWN = "empieza solo"
PREVIEW = "MIRAR SIN ABRIR"


def ready(hall: Hall, tables: int) -> None:
    hall.load(f"1,1,{n},e{n},adulto,Participante {n}" for n in range(1, tables + 1))
    hall.start_hub()
    hall.start_tables()
    for n in range(1, tables + 1):
        hall.until_screen(n, f"Participante {n}")


def anchored(hall: Hall) -> None:
    """Until the hub has the anchor of the only table, which is the first event of a boot."""
    wait_until(lambda: (hall.health() or {}).get("accepted", 0) >= 1)


def running(hall: Hall, table: int) -> None:
    hall.start(table)
    hall.until_screen(table, "P2 · A3 10:00")


def finished(hall: Hall, table: int) -> None:
    def final() -> bool:
        hall.press(table, "finish")
        return "FINAL" in hall.screen(table)

    wait_until(final)


def test_a_pulled_plug_in_a_run_costs_nothing_when_the_hub_is_there(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        ready(hall, 1)
        anchored(hall)
        before_s, after_s = hall.start(1)
        hall.until_screen(1, "P2 · A3 10:00")
        hall.power(1, on=False)
        hall.power(1, on=True)
        hall.until_screen(1, "P2 · A3 10:00")
        wait_until(lambda: "≥" not in hall.screen(1))
        earliest_s = time.monotonic()
        finished(hall, 1)
        latest_s = time.monotonic()
        line = hall.until_line("e1", rank=1, marks=[])
        assert (earliest_s - after_s) * 60 - 120 - 1 <= line["raw_s"] <= (latest_s - before_s) * 60 - 120 + 1
        assert line["official"] in hall.screen(1)


def test_a_run_whose_first_boot_never_met_the_hub_stays_interrupted(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        hall.start_tables()
        running(hall, 1)
        hall.power(1, on=False)
        hall.power(1, on=True)
        hall.until_screen(1, "≥ ")
        hall.start_hub()
        wait_until(lambda: "sin red" not in hall.screen(1))
        assert "RELOJ" in hall.screen(1)
        finished(hall, 1)
        wait_until(lambda: [x["rank"] for x in hall.lines().values()] == [1])
        (line,) = hall.lines().values()
        assert line["marks"] == ["interrupted"]
        assert f"≥ {line['official']}" in hall.screen(1)


def test_tables_start_together_by_order_also_a_late_one_and_over_a_killed_hub(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=4) as hall:
        ready(hall, 4)
        hall.power(4, on=False)
        hall.command("start", "1", "--in", "10s")
        for table in (1, 2, 3):
            hall.until_screen(table, COUNTDOWN)
        hall.hub.kill()
        for table in (1, 2, 3):
            hall.until_screen(table, PREVIEW)
        hall.hub.start()
        wait_until(lambda: (hall.health() or {}).get("start", {}).get("tables") == 3, START_S)
        hall.power(4, on=True)
        hall.until_screen(4, PREVIEW)
        wait_until(lambda: (hall.health() or {})["start"]["tables"] == 4)
        spread_ms = (hall.health() or {})["start"]["spread_ms"]
        assert spread_ms < 250, "each table takes the instant itself, however late it hears of it"
        assert {line["status"] for line in hall.lines().values()} == {"RUNNING"}


def test_a_cancelled_start_starts_nobody(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1) as hall:
        ready(hall, 1)
        hall.command("start", "1", "--in", "2m")
        hall.until_screen(1, COUNTDOWN)
        hall.command("start", "--cancel")
        hall.until_screen(1, "START empieza")


def test_a10_two_devices_on_one_seat_name_each_other_and_one_that_goes_gives_it_back(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1) as hall:
        ready(hall, 1)
        with a_hall(tmp_path / "others", tables=1, beside=hall) as others:
            others.start_tables()
            assert "x01" in hall.until_screen(1, "mesa ocupada por")
            assert "t01" in others.until_screen(1, "mesa ocupada por")
            problems = {line["device"]: line["problems"] for line in hall.table_lines()}
            assert {p["code"] for found in problems.values() for p in found} == {"seat_shared"}
            assert len(problems) == 2
        hall.until_screen(1, "Participante 1")


def test_a_spare_goes_on_with_the_run_of_a_broken_timer_to_an_exact_result(tmp_path: Path) -> None:
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        ready(hall, 1)
        anchored(hall)
        running(hall, 1)
        hall.power(1, on=False)
        with a_hall(tmp_path / "others", tables=1, speed=60, beside=hall) as others:
            others.start_tables()
            hall.command("seat", "1", "x01")
            others.until_screen(1, "START sigue con la prueba")
            assert "Participante 1" in others.screen(1)
            others.start(1)
            assert "≥" not in others.until_screen(1, "P2 · A3 10:00")
            finished(others, 1)
            line = hall.until_line("e1", rank=1, marks=[])
            assert line["official"] in others.screen(1)
