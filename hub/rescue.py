"""A hub whose database is damaged, or gone though backups are there: it offers the newest and waits for it."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hub.backup import backups_in, backups_of, damage_of, is_gone
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
    say(f"{database} cannot be used: {damage}")
    say("The tables keep everything and time on. To go on, type in another window:")
    for command in commands:
        say(f"  {command}")
    say("The hub starts by itself when the database is whole again.")
    server = Server(
        create_rescue_app(commands, gone=is_gone(database)),
        host="" if settings.web.open else "127.0.0.1",
        port=settings.web.port,
    )
    server.start()
    notify = Notify()
    notify.ready("the database is damaged")
    seen = _mark(database)
    try:
        while not stopped.wait(LOOK_EVERY_S):
            notify.alive(monotonic())
            if seen != (seen := _mark(database)) and flaw_of(database) is None:
                say("the database is whole again")
                return
    finally:
        server.stop()


def flaw_of(database: Path) -> str | None:
    """Why no hub can start on a database; None for a whole one, and where there was never one."""
    if is_gone(database):
        return f"it is missing or empty, but there are {len(backups_in(backups_of(database)))} backups of it"
    return damage_of(database, at_start=True)


def commands_for(database: Path, config: Path) -> list[str]:
    """What to type: the newest good backup, else an empty database; then journals for what no table brings."""
    gone, backups = is_gone(database), backups_of(database)
    backup = newest_usable(database)
    closed = config.exists() and not config.stat().st_mode & stat.S_IROTH  # as installed: it holds a password
    sudo = "sudo " if closed else ""
    anew = f"{sudo}mv {backups} {backups}-old" if gone else f"{sudo}mv {database} {database}.damaged"
    if backup is None:
        first = [f"{anew}   # there is no good backup; then load the plan again"]
    else:
        first = [f"{sudo}timer-hub restore {backup} --config {config}"]
        if gone:
            first.append(f"{anew}   # instead, only if a new, empty hub is meant")
    return [
        *first,
        f"{sudo}timer-hub refill /media/CARD/*.journal --config {config}   # only for tables that are gone",
    ]


def _mark(database: Path) -> tuple[int, ...]:
    """What changes when somebody restores a database or moves its backups away."""
    backups = backups_of(database).exists()
    try:
        found = database.stat()
    except FileNotFoundError:
        return (backups,)
    return backups, found.st_ino, found.st_size, found.st_mtime_ns
