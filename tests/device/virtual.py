"""Virtual tables for tests: real processes, one folder, no hub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from device.debounce import Button
from device.journal import Journal
from device.simulator.feed import Feed
from device.simulator.server import Server, listen
from device.simulator.supervisor import Supervisor, Tables
from device.simulator.web import create_app
from shared.core.events import Event
from tests.waiting import GENEROUS_S

NO_HUB = "127.0.0.1:1"


@contextmanager
def virtual_tables(tables: Tables, feed: Feed | None = None) -> Iterator[Supervisor]:
    """Started, each with its first picture; stopped afterwards."""
    supervisor = Supervisor(tables) if feed is None else Supervisor(tables, changed=feed.changed)
    supervisor.start()
    try:
        assert supervisor.wait_ready(2 * GENEROUS_S)
        yield supervisor
    finally:
        supervisor.stop()


@contextmanager
def served(tables: Tables, *, open_to_all: bool = False) -> Iterator[tuple[Supervisor, httpx.Client]]:
    """Virtual tables with their pages, and a client of them."""
    feed = Feed()
    with virtual_tables(tables, feed) as supervisor:
        listening = listen("127.0.0.1", 0)
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = create_app(supervisor, feed, hub_page="http://127.0.0.1:8000/", open_to_all=open_to_all)
        server = Server(app, listening, feed, lambda: None)
        server.start()
        try:
            with httpx.Client(base_url=base, timeout=GENEROUS_S, trust_env=False) as client:
                yield supervisor, client
        finally:
            server.stop()


def tap(supervisor: Supervisor, button: Button, leads_to: str, table: int = 1) -> None:
    """Press a button and wait until the table is in that state."""
    supervisor.press(table, button, 0.08)
    until(supervisor, leads_to, table)


def until(supervisor: Supervisor, state: str, table: int = 1) -> None:
    """Wait until the table is in that state."""
    seen = supervisor.wait_for(table, lambda v: v.alive and v.table["state"] == state, GENEROUS_S)
    assert seen, f"not {state} but {supervisor.view(table)}"


def journal_of(tables: Tables, table: int = 1) -> list[Event]:
    """What a stopped table has written."""
    journal = Journal.open(tables.data / tables.device(table), tables.device(table), lambda: "none")
    try:
        return journal.events()
    finally:
        journal.close()


def is_running(pid: int) -> bool:
    """Whether a process exists and is no mere zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def children_of(pid: int) -> list[int]:
    """The processes a process has started and not yet waited for."""
    found = []
    for entry in os.scandir("/proc"):
        try:
            stat = Path(entry.path, "stat").read_text() if entry.name.isdigit() else ""
        except OSError:
            continue
        if stat and int(stat.rpartition(")")[2].split()[1]) == pid:
            found.append(int(entry.name))
    return found
