"""A hub whose database is damaged: it says so, offers the newest good backup, and starts when that is in place."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hub.backup import damage_of
from hub.config import HubFile
from hub.restore import newest_usable
from hub.web.rescue import create_rescue_app
from hub.web.server import Server
from shared.clock import monotonic
from shared.notify import Notify

LOOK_EVERY_S: Final = 1.0


def wait_for_rescue(
    damage: str, settings: HubFile, config: Path, stopped: threading.Event, say: Callable[[str], None]
) -> None:
    """Say and show what is wrong until another, whole database is in its place, or `stopped` is set.

    Raises CannotListen.
    """
    database = settings.database
    commands = tuple(commands_for(database, config))
    say(f"{database} is damaged: {damage}")
    say("The tables keep everything and time on. To go on, type in another window:")
    for command in commands:
        say(f"  {command}")
    say("The hub starts by itself when the database is whole again.")
    server = Server(
        create_rescue_app(commands), host="" if settings.web.open else "127.0.0.1", port=settings.web.port
    )
    server.start()
    notify = Notify()
    notify.ready("the database is damaged")
    seen = _mark(database)
    try:
        while not stopped.wait(LOOK_EVERY_S):
            notify.alive(monotonic())
            if seen != (seen := _mark(database)) and damage_of(database, at_start=True) is None:
                say("the database is whole again")
                return
    finally:
        server.stop()


def commands_for(database: Path, config: Path) -> list[str]:
    """What to type: the newest good backup, else an empty database; then journals for what no table brings."""
    backup = newest_usable(database)
    closed = config.exists() and not config.stat().st_mode & stat.S_IROTH  # as installed: it holds a password
    sudo = "sudo " if closed else ""
    if backup is not None:
        first = f"{sudo}timer-hub restore {backup} --config {config}"
    else:
        first = (
            f"{sudo}mv {database} {database}.damaged   # there is no good backup; then load the plan again"
        )
    return [
        first,
        f"{sudo}timer-hub refill /media/CARD/*.journal --config {config}   # only for tables that are gone",
    ]


def _mark(database: Path) -> tuple[int, int, int] | None:
    try:
        found = database.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
