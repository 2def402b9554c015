"""Real processes: somebody at the hub asks a table, the table does it and answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.hall import Hall, a_hall
from tests.waiting import wait_until


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with a_hall(tmp_path / "hall", tables=2) as started:
        started.start_hub()
        started.start_tables()
        wait_until(lambda: [line["online"] for line in started.table_lines()] == [True, True])
        yield started


def typed(hall: Hall, *words: str) -> tuple[int, str]:
    """`timer-hub` with these words; its exit code and what it said."""
    command = [sys.executable, "-P", "-m", "hub.cli", *words, "--config", str(hall.config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=hall.folder)
    return done.returncode, done.stdout + done.stderr


def until_clocks_are_compared(hall: Hall) -> None:
    wait_until(
        lambda: all(
            (line["condition"] or {}).get("clock_error_ms") is not None for line in hall.table_lines()
        )
    )


def test_a_table_that_is_asked_shows_which_one_it_is_and_tests_itself(hall: Hall) -> None:
    until_clocks_are_compared(hall)
    code, said = typed(hall, "identify", "2")
    assert (code, said) == (0, "table 2 (t02): shows its number for 10 seconds\n")
    assert "ESTA ES LA MESA" in hall.screen(2)
    assert "ESTA ES LA MESA" not in hall.screen(1)
    assert typed(hall, "show-text", "1", "Ven a la mesa 3")[0] == 0
    assert "Ven a la mesa 3" in hall.screen(1)
    code, said = typed(hall, "selftest", "1")
    assert "ok    network: the broker at 127.0.0.1" in said.replace("ok   ", "ok   ", 1)
    assert "disk: " in said
    hall.press(1, "pause")
    hall.until_screen(1, "START")
    hall.start(1)
    hall.until_screen(1, "MIRA")
    code, said = typed(hall, "selftest", "1")
    assert (code, said) == (1, "Error: table 1 (t01): a run is on there: nothing was done\n")
    code, said = typed(hall, "reload", "2")
    assert (code, said) == (1, "Error: table 2 (t02): nobody would start it again: restart it by hand\n")
    code, said = typed(hall, "identify", "9")
    assert (code, said) == (1, "Error: no table timer stands on table 9\n")


def test_the_check_of_the_hall_prints_a_line_for_each_table_and_fails_with_a_fault(hall: Hall) -> None:
    until_clocks_are_compared(hall)
    code, said = typed(hall, "check-hall")
    lines = said.splitlines()
    assert code == 1
    assert lines[-1].startswith("NOT READY: ")
    table = next(line for line in lines if " table 2: " in line)
    for words in ("t02, version ", "clock ±", "broker ", "card "):
        assert words in table
    assert "FAULT plan: there is none: timer-hub load plan.csv --day TODAY" in lines
    hall.power(2, on=False)
    wait_until(lambda: [line["online"] for line in hall.table_lines()] == [True, False])
    assert "FAULT table 2: t02 is not online" in typed(hall, "check-hall", "--quick")[1]
