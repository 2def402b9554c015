"""The whole way in real processes: edge to a changed row in the browser, and what a table costs."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from threading import Event

from playwright.sync_api import Page

from tests.bench.figures import Figure, figure
from tests.browser.chromium import chromium
from tests.system.hall import Hall, a_hall
from tests.waiting import wait_until

TABLES = 20
COST_S = 20.0
_WATCH = """
() => {
  window.seenAt = {};
  const look = () => {
    for (const found of document.body.innerText.matchAll(/Participante \\d+/g)) {
      window.seenAt[found[0]] ??= performance.timeOrigin + performance.now();
    }
  };
  look();
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}
"""


def hall(folder: Path) -> list[Figure]:
    """Twenty tables, a hub, mosquitto and Chromium on this machine."""
    with a_hall(folder, TABLES) as place, chromium() as browser:
        place.load(f"1,1,{n},e{n},adulto,Participante {n}" for n in range(1, TABLES + 1))
        place.start_hub()
        place.start_tables()
        for n in range(1, TABLES + 1):
            place.until_screen(n, f"Participante {n}")
        idle = _cpu_per_hour(place)
        page = browser.new_page(locale="es-ES")
        page.goto(f"http://127.0.0.1:{place.web_port}/")
        page.evaluate(_WATCH)
        rows = [_until_row(place, page, n) for n in range(1, TABLES + 1)]
        page.close()
        running = _cpu_per_hour(place)
        table, hub = _peak_mb(place.app_pid(1)), _peak_mb(place.hub.pid)
    return [
        figure(f"edge to changed row in the browser, {TABLES} tables", "ms", rows, target=1000),
        figure("CPU of an idle table", "s/hour", idle),
        figure("CPU of a running table", "s/hour", running),
        figure("peak memory of a table", "MB", [table]),
        figure("peak memory of the hub", "MB", [hub]),
    ]


def _until_row(place: Hall, page: Page, table: int) -> float:
    name = f"Participante {table}"
    edge_ms = time.time() * 1000
    place.press(table, "start")
    page.wait_for_function("name => name in window.seenAt", arg=name, timeout=30_000)
    return float(page.evaluate("name => window.seenAt[name]", name)) - edge_ms


def _cpu_per_hour(place: Hall) -> list[float]:
    """CPU seconds per hour of each of four tables, from what they used in a while."""
    pids = [place.app_pid(n) for n in (1, 2, 3, 4)]
    before = [_cpu_s(pid) for pid in pids]
    began = time.monotonic()
    Event().wait(COST_S)
    took = time.monotonic() - began
    return [(_cpu_s(pid) - b) / took * 3600 for pid, b in zip(pids, before, strict=True)]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _other_screen(place: Hall, shown: str) -> bool:
    return place.screen(1) not in (shown, "")


def recovery(folder: Path, rounds: int = 3) -> Figure:
    """SIGKILL of a table's program in a run until its display shows the running clock again."""
    samples = []
    with a_hall(folder, 1) as place:
        place.start_tables()
        place.press(1, "start")
        place.until_screen(1, "MIRAR SIN ABRIR")
        for _ in range(rounds):
            shown = place.screen(1)
            began = time.monotonic()
            place.kill_app(1)
            wait_until(partial(_other_screen, place, shown))
            samples.append(time.monotonic() - began)
    return figure("kill -9 to the running clock again", "s", samples, target=5)
