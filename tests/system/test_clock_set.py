"""Wall clocks that are set while everything runs, and everybody who comes back at once."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from shared.broker import Version
from tests.chaos.arena import Arena, device
from tests.chaos.proxy import Way
from tests.chaos.stepclock import HOUR_S, YEAR_S, can_step
from tests.chaos.verdict import stored
from tests.system.hall import a_hall
from tests.system.test_hub_dies import PLAN
from tests.system.test_road import Table
from tests.system.test_viewers import viewer
from tests.waiting import wait_until

BACK_S = 60.0
MANY, VIEWERS = 40, 100
A_WHILE_S = 5.0
"""A processor that is busy for less is no trouble."""


def goes_on(arena: Arena) -> None:
    """Wait until the hub has taken something new of each table."""
    ends = {table: newest(arena, table) for table in arena.tables}
    wait_until(lambda: all(newest(arena, table) > end for table, end in ends.items()), BACK_S)


def newest(arena: Arena, table: int) -> int:
    """How many events of a table the hub has."""
    return sum(key[0].startswith(f"{device(table)}-") for key in stored(arena.database))


@pytest.mark.skipif(not can_step(), reason="gcc is not there")
@pytest.mark.parametrize(
    "apart", [False, pytest.param(True, marks=pytest.mark.long)], ids=["connected", "disconnected"]
)
def test_clocks_that_are_set_by_hours_and_years_break_no_connection_for_long(
    tmp_path: Path, apart: bool
) -> None:
    """D10: of the tables, of the hub and of the broker."""
    arena = Arena(tmp_path / "arena", 2, 1, small_disks=False)
    names = ["hub", *map(device, arena.tables)]
    try:
        arena.open()
        for ahead_s in (8 * HOUR_S, -HOUR_S, -2 * YEAR_S):
            if apart:
                arena.proxy.set(names, Way(open=False))
                wait_until(lambda: not (arena.health() or {}).get("connected"))
            for clock in arena.clocks.values():
                clock.set(ahead_s)
            if apart:
                arena.proxy.set(names, Way())
            goes_on(arena)
        assert not any(service.falls for service in (arena.hub, arena.timers, arena.broker))
    finally:
        arena.close()


def cpu_s(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_forty_tables_and_a_hundred_viewers_are_back_a_minute_after_the_broker(tmp_path: Path) -> None:
    """D10: and the hub is not at its limit meanwhile."""
    with a_hall(tmp_path, tables=1) as hall, ExitStack() as stack:
        hall.load(PLAN[:1])
        hall.start_hub()
        tables = [Table(hall.broker.port, tmp_path / f"x{n:02}", f"x{n:02}", Version.V5) for n in range(MANY)]
        for table in tables:
            stack.callback(table.stop)
            table.link.start()
        for _ in range(VIEWERS):
            stack.enter_context(viewer(hall.web_port))
        wait_until(lambda: all(table.link.hub_online for table in tables), BACK_S)
        for _ in range(3):
            hall.broker.kill()
            for table in tables:
                table.press(25)
            wait_until(lambda: not any(table.link.connected for table in tables), BACK_S)
            began_s, used_s = time.monotonic(), cpu_s(hall.hub.pid)
            hall.broker.start()
            wait_until(lambda: all(t.link.hub_online and not t.link.unsent for t in tables), BACK_S)
            took_s = time.monotonic() - began_s
            assert (cpu_s(hall.hub.pid) - used_s) / max(took_s, A_WHILE_S) < 0.8
