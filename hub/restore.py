"""The hub's database from a backup: the old one is set aside, and the tables send again what the backup lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hub.backup import BackupFailed, backups_in, backups_of, newest_good, place_copy, set_aside, shape_of
from hub.hub_lock import HubLock
from hub.store import Store
from hub.store_schema import known_shapes
from shared.clock import WallClock

_PART: Final = "restoring.sqlite3"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restored database holds, and where the one before it is now."""

    events: int
    planned: int
    aside: Path | None


def newest_usable(database: Path) -> Path | None:
    """The newest good backup of a database that this version can open."""
    shapes = known_shapes()
    return newest_good(backups_of(database), lambda path: _of_another_version(path, shapes) is None)


def unusable(database: Path) -> list[Path]:
    """The backups of a database that only another version can open."""
    shapes = known_shapes()
    return [path for path in backups_in(backups_of(database)) if _of_another_version(path, shapes)]


def _of_another_version(path: Path, shapes: frozenset[str]) -> str | None:
    shape = shape_of(path)
    return None if shape is None or shape in shapes else shape


def restore(source: Path, database: Path, now_ms: WallClock) -> Restored:
    """Put a checked copy of a backup in the place of the database, with a new epoch.

    Raises BackupFailed, StoreUnusable (also while a hub runs), StoreTrouble: nothing has changed then.
    """
    shape = _of_another_version(source, known_shapes())
    if shape is not None:
        raise BackupFailed(
            f"{source} was made by another version of the hub (its database is {shape}): "
            "take an older backup, or install that version"
        )
    database.parent.mkdir(parents=True, exist_ok=True)
    lock = HubLock(database)
    try:
        part = database.with_name(_PART)
        place_copy(source, part)
        store = Store.open(part, now_ms)
        try:
            store.renew_epoch()  # before anybody can meet it under the old one
            store.audit.note("timer-hub restore", "restored", source.name, now_ms())
            events, planned = sum(1 for _ in store.events_in_order()), len(store.plan_rows())
        finally:
            store.close()
        try:
            aside = set_aside(database)
            part.replace(database)
        except OSError as error:
            raise BackupFailed(f"{database}: {error.strerror}") from error
        return Restored(events, planned, aside)
    finally:
        lock.release()
