"""The virtual tables put together: processes, pages and, if asked for, the scripted judge; until stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from device.app import on_thread_death
from device.simulator.feed import Feed
from device.simulator.judge import ScriptedJudge
from device.simulator.server import Server, listen
from device.simulator.supervisor import Supervisor, Tables
from device.simulator.web import create_app

READY_S: Final = 20.0
"""Tables that have shown nothing by then are left to their pages to explain."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What `table-timer simulate` is told."""

    tables: Tables
    port: int
    open_to_all: bool = False
    hub_page: str | None = None
    autoplay: bool = False
    seed: int = 0


def simulate(simulation: Simulation, stop: threading.Event, ready: Callable[[int], None]) -> bool:
    """Run until `stop` is set; `ready` is told the port once every table shows something.

    False when a part broke of itself. Raises CannotListen before anything is started; no process is left
    when it returns.
    """
    listening = listen("" if simulation.open_to_all else "127.0.0.1", simulation.port)
    broken = threading.Event()

    def broke() -> None:
        broken.set()
        stop.set()

    on_thread_death(broke)
    feed = Feed()
    supervisor = Supervisor(simulation.tables, changed=feed.changed)
    app = create_app(supervisor, feed, hub_page=simulation.hub_page, open_to_all=simulation.open_to_all)
    server = Server(app, listening, feed, broke)
    judge = ScriptedJudge(Random(simulation.seed), supervisor, supervisor.numbers)
    port: int = listening.getsockname()[1]
    try:
        supervisor.start()
        server.start()
        supervisor.wait_ready(READY_S)
        ready(port)
        if simulation.autoplay:
            judge.start()
        stop.wait()
    finally:
        judge.stop()
        supervisor.stop()
        server.stop()
    return not broken.is_set()
