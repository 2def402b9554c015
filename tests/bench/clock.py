"""The hub's clock on this machine, where its true reading is known: after reboots in a run, at a common start."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from hub.store import Store
from shared.clock import wall_ms
from shared.core.events import HUB_DEVICE, Event, EventType
from tests.bench.figures import Figure, figure
from tests.system.hall import START_S, Hall, a_hall
from tests.waiting import wait_until

TABLES = 24
REBOOTS = 5
PREVIEW = "MIRAR SIN ABRIR"


def clocks(folder: Path) -> list[Figure]:
    """Virtual tables in a process each, mosquitto, a hub."""
    for name in ("reboots", "starts"):
        (folder / name).mkdir()
    with a_hall(folder / "reboots", 1) as hall:
        errors = _reboots(hall)
    with a_hall(folder / "starts", TABLES) as hall:
        ready_s = _ready(hall)
        off = _common_start(hall)
    return [
        figure("clock error after a reboot in a run", "ms", errors, target=10),
        figure(f"common start of {TABLES} tables, off the order", "ms", [abs(ms) for ms in off]),
        figure(f"spread of a common start over {TABLES} tables", "ms", [max(off) - min(off)], target=20),
        figure(f"{TABLES} tables switched on at once: until READY", "s", ready_s, target=60),
    ]


def _reboots(hall: Hall) -> list[float]:
    """What each new boot of a running table believes of the hub's clock, against the truth."""
    _ready(hall)
    hall.start(1)
    hall.until_screen(1, PREVIEW)
    errors = []
    for _ in range(REBOOTS):
        known = len(_events(hall, EventType.CLOCK_ANCHORED))
        hall.power(1, on=False)
        hall.power(1, on=True)
        wait_until(lambda known=known: len(_events(hall, EventType.CLOCK_ANCHORED)) > known)  # type: ignore[misc]
        anchor = _events(hall, EventType.CLOCK_ANCHORED)[-1]
        errors.append(abs(anchor.data["hub_ms"] - _hub_ms(hall, 1, anchor)))
    return errors


def _common_start(hall: Hall) -> list[float]:
    """By how much the start of each table is off the ordered instant, in truth."""
    hall.command("start", "1", "--in", "10s")
    wait_until(lambda: len(_events(hall, EventType.RUN_STARTED)) == hall.tables, START_S)
    begun = _events(hall, EventType.RUN_STARTED)
    starts_ms = [_hub_ms(hall, event.data["table"], event) for event in begun]
    middle_ms = sorted(starts_ms)[len(starts_ms) // 2]
    return [ms - middle_ms for ms in starts_ms]


def _ready(hall: Hall) -> list[float]:
    """Switch everything on; seconds until each table shows whom START would start."""
    tables = range(1, hall.tables + 1)
    hall.load(f"1,1,{n},e{n},adulto,Participante {n}" for n in tables)
    hall.start_hub()
    began = time.monotonic()
    hall.timers.start()
    return [_until_ready(hall, n, began) for n in tables]


def _until_ready(hall: Hall, table: int, began: float) -> float:
    wait_until(partial(_offers, hall, table), START_S)
    return time.monotonic() - began


def _offers(hall: Hall, table: int) -> bool:
    return f"Participante {table}\n" in hall.screen(table)


def _hub_ms(hall: Hall, table: int, event: Event) -> float:
    """What the hub's clock really read at an event of the boot that a table is in."""
    assert event.mono_ms is not None, "events of tables carry mono_ms"
    words = Path(f"/proc/{hall.app_pid(table)}/cmdline").read_bytes().decode().split("\0")
    zero_s = float(next(w for w in words if w.startswith("--zero-s=")).partition("=")[2])
    asleep_s = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    return (zero_s + asleep_s) * 1000 + event.mono_ms


def _events(hall: Hall, kind: EventType) -> list[Event]:
    store = Store.open(hall.folder / "hub" / "hub.sqlite3", wall_ms)
    try:
        return [
            event for event in store.events_in_order() if event.type == kind and event.device != HUB_DEVICE
        ]
    finally:
        store.close()
