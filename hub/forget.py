"""Forgets a name: in the plan, in the hub's own backups, and in the bytes that a database keeps of what was there."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hub.backup import backups_in, backups_of
from hub.store import NOBODY, Store

_BUSY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What came of it."""

    runs: int
    """In how many planned runs the name stood."""
    copies: int
    """In how many backups and databases set aside."""
    kept: tuple[Path, ...]
    """Copies that could not be changed and may still have the name."""
    whole: bool
    """Whether nothing of it is left in the database's write-ahead log."""


def forget(store: Store, database: Path, entrant: str) -> Forgotten:
    """Take an entrant's name out; results and the id in the logs stay. Raises StoreTrouble.

    With `runs` 0 nobody of this id is planned, and nothing was changed.
    """
    runs = store.forget_entrant(entrant)
    if not runs:
        return Forgotten(0, 0, (), whole=True)
    copies, kept = 0, []
    for path in _copies(database):
        try:
            copies += _forget_in(path, entrant)
        except sqlite3.Error:  # damaged, or on a disk that takes nothing
            kept.append(path)
    return Forgotten(runs, copies, tuple(kept), whole=store.empty_log())


def _copies(database: Path) -> Iterator[Path]:
    yield from backups_in(backups_of(database))
    yield from sorted(database.parent.glob(f"replaced-*/{database.name}"))


def _forget_in(path: Path, entrant: str) -> bool:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_S)) as connection:
        connection.execute("PRAGMA secure_delete = ON")  # or the old bytes stay in the file
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'plan'").fetchone():
            return False
        with connection:
            named = "UPDATE plan SET public_name = ? WHERE entrant = ? AND public_name <> ?"
            changed = connection.execute(named, (NOBODY, entrant, NOBODY)).rowcount
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return changed > 0
