"""Two small files beside the journal: how far the hub has it, and how often this device went online."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

CURSORS: Final = "delivery.json"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The hub with database `epoch` has everything of `log` up to `seq`."""

    log: str
    seq: int
    epoch: str


class CursorFile:
    """The cursors between two starts. Losing them costs a repeated delivery, so they are not fsynced."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[str, Cursor]:
        """The cursors last saved, by log; none where there are none that can be read."""
        try:
            values = json.loads(self._path.read_bytes())
            cursors = [Cursor(value["log"], value["seq"], value["epoch"]) for value in values]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        return {cursor.log: cursor for cursor in cursors if _is_whole(cursor)}

    def save(self, cursors: Iterable[Cursor]) -> None:
        """Replace the file. Raises OSError."""
        _replace(self._path, json.dumps([asdict(cursor) for cursor in cursors]).encode(), durable=False)


class SessionFile:
    """A number that grows with every connection, so that an old "offline" is told from a new "online"."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = 0

    def advance(self) -> int:
        """The next number, on disk before it is returned; from memory where the disk refuses."""
        with contextlib.suppress(OSError, ValueError):
            self._last = max(self._last, int(self._path.read_bytes()[:20]))
        self._last += 1
        # a full or worn disk must not keep a table offline: the numbers of this process still grow
        with contextlib.suppress(OSError):
            _replace(self._path, str(self._last).encode(), durable=True)
        return self._last


def _is_whole(cursor: Cursor) -> bool:
    return (
        isinstance(cursor.log, str)
        and type(cursor.seq) is int
        and cursor.seq >= 0
        and isinstance(cursor.epoch, str)
    )


def _replace(path: Path, content: bytes, *, durable: bool) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)
    if durable:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
