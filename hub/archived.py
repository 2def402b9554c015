"""Which logs lie whole in an archive on another disk than the database's: their tables may delete them.

Until then each table's journal is the second copy of what the hub has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from hub.archive import ArchiveBroken
from hub.logs import read_logs
from hub.store import Store
from shared.core.events import HUB_DEVICE, Event, EventType

_NOTE: Final = "archived"


def archived_up_to(store: Store) -> dict[str, int]:
    """The last seq of each log that may be deleted up to there. Raises StoreTrouble."""
    found: dict[str, int] = json.loads(store.note(_NOTE) or "{}")
    return found


def keep_archived(store: Store, logs: Mapping[str, int]) -> None:
    """Remember what lies in an archive for good. Raises StoreTrouble."""
    store.keep_note(_NOTE, json.dumps({**archived_up_to(store), **logs}))


def is_elsewhere(archive: Path, database: Path) -> bool:
    """Whether a file lies on another file system than the database, which dies alone. Raises OSError."""
    return archive.stat().st_dev != database.stat().st_dev


def whole_logs(archive: Path, written: Iterable[Event]) -> dict[str, int]:
    """The devices' logs that an archive holds from their first event, with their last seq, read from the file.

    `written`: what it must hold. Raises ArchiveBroken when it does not, UnreadableLog.
    """
    read, problems = read_logs([archive])
    holed = {problem.log for problem in problems}
    if {e.key: e.as_json() for e in read} != {e.key: e.as_json() for e in written} or None in holed:
        raise ArchiveBroken(f"{archive} does not hold what was written to it; look after the disk")
    ends: dict[str, int] = {}
    for event in read:
        if event.device != HUB_DEVICE and event.log not in holed:
            to = event.data["to"] if event.type == EventType.RECORDS_MISSING else 0
            ends[event.log] = max(ends.get(event.log, 0), event.seq, to)
    return ends
