"""The hub's database from a backup: the old one is set aside, and the tables send again what the backup lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hub.backup import BackupFailed, place_copy, set_aside
from hub.hub_lock import HubLock
from hub.store import Store
from shared.clock import WallClock

_PART: Final = "restoring.sqlite3"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restored database holds, and where the one before it is now."""

    events: int
    planned: int
    aside: Path | None


def restore(source: Path, database: Path, now_ms: WallClock) -> Restored:
    """Put a checked copy of a backup in the place of the database, with a new epoch.

    Raises BackupFailed, StoreUnusable (also while a hub runs), StoreTrouble: nothing has changed then.
    """
    database.parent.mkdir(parents=True, exist_ok=True)
    lock = HubLock(database)
    try:
        part = database.with_name(_PART)
        place_copy(source, part)
        store = Store.open(part, now_ms)
        try:
            store.renew_epoch()  # before anybody can meet it under the old one
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
