"""Virtual tables as real processes: fingers, plug, kill -9, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.debounce import Button
from device.journal import Journal
from device.simulator.supervisor import NoSuchTable, Supervisor, Tables
from device.simulator.virtual_table import DARK, VirtualTable
from shared.core.events import EventType
from tests.device.virtual import NO_HUB, children_of, is_running, journal_of, tap, until, virtual_tables
from tests.waiting import GENEROUS_S, wait_until


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """Castrillo has no preview: START starts the clock."""
    return Tables(1, tmp_path, NO_HUB, rulebook="castrillo-2023", categories=("adulto",))


@pytest.fixture
def supervisor(tables: Tables) -> Iterator[Supervisor]:
    with virtual_tables(tables) as started:
        yield started


def test_a_press_is_seen_on_the_display_and_in_the_journal(supervisor: Supervisor, tables: Tables) -> None:
    before = supervisor.view(1)
    assert "START empieza" in before.words
    tap(supervisor, Button.START, "running")
    assert supervisor.wait_for(1, lambda v: v.frame not in (DARK, before.frame), GENEROUS_S)
    assert "FINISH" in supervisor.view(1).words
    supervisor.stop()
    assert [e.type for e in journal_of(tables)] == [EventType.RUN_STARTED]


def test_start_held_for_two_seconds_takes_the_start_back(supervisor: Supervisor) -> None:
    tap(supervisor, Button.START, "running")
    supervisor.down(1, Button.START)
    assert supervisor.wait_for(1, lambda v: "ANULAR SALIDA" in v.words, GENEROUS_S)
    assert supervisor.view(1).down == {Button.START}
    until(supervisor, "ready")
    supervisor.up(1, Button.START)
    assert supervisor.view(1).down == frozenset()


def test_a_killed_app_is_back_in_the_same_boot_and_its_clock_goes_on_right(supervisor: Supervisor) -> None:
    tap(supervisor, Button.START, "running")
    before, boot = supervisor.look(1), supervisor.view(1).boot
    offset_ms = before["clock_ms"] - before["t_ms"]
    supervisor.kill(1)
    assert supervisor.wait_for(1, lambda v: v.restarts == 1 and v.alive, GENEROUS_S)
    after, view = supervisor.look(1), supervisor.view(1)
    assert (after["state"], after["low"], view.boot) == ("running", False, boot)
    assert abs(after["clock_ms"] - after["t_ms"] - offset_ms) <= 2
    assert "≥" not in view.words
    tap(supervisor, Button.FINISH, "claimed")


def test_an_app_that_ends_by_itself_is_started_again_and_that_is_said(supervisor: Supervisor) -> None:
    pid = supervisor.view(1).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert supervisor.wait_for(1, lambda v: v.trouble == "it ended with code -9", GENEROUS_S)
    assert supervisor.wait_for(1, lambda v: v.alive, GENEROUS_S)
    view = supervisor.view(1)
    assert (view.restarts, view.trouble, view.pid != pid) == (1, "", True)


_DEAF = """
import os, sys, time
os.close(0)
print('{"trouble": "deaf"}', flush=True)
time.sleep(0.5)
"""


def test_an_app_that_ends_with_a_press_it_did_not_take_is_started_again() -> None:
    table = VirtualTable(1, "t01", lambda _: [sys.executable, "-c", _DEAF], lambda _: None)
    table.start()
    try:
        for restarts in (1, 2):
            assert table.wait_for(lambda v: v.trouble == "deaf", GENEROUS_S)
            table.move(Button.START, down=restarts == 1)
            assert table.wait_for(lambda v, n=restarts: v.restarts >= n, GENEROUS_S)  # type: ignore[misc]
    finally:
        table.ask_to_stop()
        table.stop(GENEROUS_S)


def test_a_plug_pulled_in_a_run_leaves_a_lower_bound_and_buttons_that_work(
    supervisor: Supervisor, tables: Tables
) -> None:
    tap(supervisor, Button.START, "running")
    boot, pid = supervisor.view(1).boot, supervisor.view(1).pid
    assert pid is not None
    supervisor.power(1, False)
    dark = supervisor.view(1)
    assert (dark.on, dark.alive, dark.frame, dark.words) == (False, False, DARK, "")
    assert not is_running(pid)
    supervisor.press(1, Button.FINISH, 0.08)  # nobody is there
    supervisor.power(1, True)
    assert supervisor.look(1)["clock_ms"] < GENEROUS_S * 1000
    until(supervisor, "running")
    assert supervisor.view(1).boot != boot
    assert "≥ 0:0" in supervisor.view(1).words
    tap(supervisor, Button.FINISH, "claimed")
    supervisor.stop()
    booted = [e for e in journal_of(tables) if e.type == EventType.BOOT_STARTED]
    assert [e.data["previous_boot"] for e in booted] == [boot]


def test_a_table_whose_journal_another_process_writes_says_so_and_begins_when_it_is_free(
    tables: Tables,
) -> None:
    other = Journal.open(tables.data / "t01", "t01", lambda: "t01-other")
    with virtual_tables(tables) as supervisor:
        assert "another process writes the journal" in supervisor.view(1).trouble
        other.close()
        assert supervisor.wait_for(1, lambda v: v.alive and not v.trouble, GENEROUS_S)


def test_a_second_press_of_a_button_waits_for_the_first(supervisor: Supervisor, tables: Tables) -> None:
    tap(supervisor, Button.START, "running")
    for _ in range(3):
        supervisor.press(1, Button.PAUSE, 0.03)  # refused, each of them
    supervisor.press(1, Button.FINISH, 0.03)
    until(supervisor, "claimed")
    supervisor.stop()
    refused = [e for e in journal_of(tables) if e.type == EventType.PRESS_REFUSED]
    assert [e.data["reason"] for e in refused] == ["no_pauses"] * 3


def test_a_table_that_does_not_exist_is_told_apart(supervisor: Supervisor) -> None:
    with pytest.raises(NoSuchTable):
        supervisor.press(2, Button.START, 0.0)


def test_twenty_tables_start_and_end_together_and_leave_no_process(tmp_path: Path) -> None:
    tables = Tables(20, tmp_path, NO_HUB, categories=("adulto",))
    with virtual_tables(tables) as supervisor:
        pids = [supervisor.view(n).pid for n in supervisor.numbers]
        assert all(supervisor.view(n).alive for n in supervisor.numbers)
        for n in supervisor.numbers:
            supervisor.down(n, Button.START)
        for n in supervisor.numbers:
            until(supervisor, "preview", n)
    assert not [pid for pid in pids if pid is not None and is_running(pid)]


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_however_the_supervisor_ends_no_table_is_left_behind(tmp_path: Path, blow: signal.Signals) -> None:
    command = [sys.executable, "-m", "device.cli", "simulate", "--tables=2", "--port=0", f"--data={tmp_path}"]
    with subprocess.Popen([*command, f"--hub={NO_HUB}"], stdout=subprocess.PIPE) as simulation:
        assert simulation.stdout is not None
        assert simulation.stdout.readline().startswith(b"ready http://127.0.0.1:")
        tables = children_of(simulation.pid)
        assert len(tables) == 2
        simulation.send_signal(blow)
        assert simulation.wait(GENEROUS_S) == (-blow if blow is signal.SIGKILL else 0)
        wait_until(lambda: not any(map(is_running, tables)))
