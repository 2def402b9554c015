"""Backups of the hub's database: whole while the hub writes, checked before they count, the newest few kept.

A copy of the main file lacks what is still in the write-ahead log; SQLite's own backup interface takes all.
Everything here may run beside a hub. Names begin with a counter, because a hub's wall clock may be wrong.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from shared.clock import WallClock

FOLDER: Final = "backups"
KEPT: Final = 30
KEPT_BEFORE: Final = 3
"""Of those made before an update changes the database: a hub that restarts for ever must not push out the others."""
_BEFORE: Final = "before-"
_NAME: Final = re.compile(r"(\d{6,})-.*\.sqlite3", re.ASCII)
_PART: Final = ".part"
_BUSY_S: Final = 10.0
_NO_DISK: Final = ("/dev", "/proc", "/sys")
_SIDE_FILES: Final = ("", "-wal", "-shm")


class BackupFailed(RuntimeError):
    """There is no backup, or none could be made; says why. What was there before is still whole."""

    @property
    def code(self) -> str:
        """`full`, `locked`, `damaged` or `failing`."""
        text = str(self)
        words = {"full": "full", "No space left": "full", "locked": "locked", "not whole": "damaged"}
        return next((code for word, code in words.items() if word in text), "failing")


def backups_of(database: Path) -> Path:
    """Where the backups of a database are kept."""
    return database.parent / FOLDER


def backups_in(folder: Path) -> list[Path]:
    """The backups in a folder, oldest first."""
    found = [
        (int(match[1]), path) for path in folder.glob("*.sqlite3") if (match := _NAME.fullmatch(path.name))
    ]
    return [path for _, path in sorted(found)]


def newest_good(folder: Path, suits: Callable[[Path], bool] = lambda _: True) -> Path | None:
    """The newest backup that passes every check, of those that suit."""
    return next((p for p in reversed(backups_in(folder)) if suits(p) and damage_of(p) is None), None)


def shape_of(database: Path) -> str | None:
    """The version of a database's tables; None where there is none, or it cannot be read."""
    try:
        with _reading(database) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return None
    return None if row is None else str(row[0])


def keep_backup(
    database: Path, why: str, now_ms: WallClock, *, folder: Path | None = None, kept: int = KEPT
) -> Path:
    """Put a backup in a folder of backups (the database's own), and let only the newest stay, few of those `before`.

    Raises BackupFailed.
    """
    folder = backups_of(database) if folder is None else folder
    flaw = no_place_for_a_file(folder / "any")
    if flaw is not None:
        raise BackupFailed(flaw)
    with _told(folder):
        folder.mkdir(exist_ok=True)
        others = backups_in(folder)
    last = int(others[-1].name.partition("-")[0]) if others else 0
    label = re.sub(r"[^a-z0-9]+", "-", why.lower()).strip("-")[:30]
    when = datetime.fromtimestamp(now_ms() / 1000, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    target = folder / f"{last + 1:06}-{when}-{label}.sqlite3"
    back_up(database, target)
    with _told(folder):
        for old in _too_many(backups_in(folder), kept):
            old.unlink(missing_ok=True)
    return target


def _too_many(backups: Sequence[Path], kept: int) -> list[Path]:
    before = [path for path in backups if path.stem.rpartition("Z-")[2].startswith(_BEFORE)]
    others = [path for path in backups if path not in before]
    return [*before[:-KEPT_BEFORE], *others[:-kept]]


def back_up(database: Path, target: Path) -> None:
    """Write a backup to `target`, in the place of what is there only once it is whole. Raises BackupFailed."""
    if not database.exists():
        raise BackupFailed(f"{database}: there is no database")
    flaw = no_place_for_a_file(target)
    if flaw is not None:
        raise BackupFailed(flaw)
    part = target.with_name(target.name + _PART)
    try:
        with _told(target):
            _copy(database, part)
            damage = damage_of(part)
            if damage is not None:
                raise BackupFailed(f"{target}: the copy is not whole ({damage}); look after the disk")
            _sync(part)
            part.replace(target)
            _sync(target.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def no_place_for_a_file(target: Path) -> str | None:
    """Why nothing can be kept under this name, in a sentence: a device, a folder, a place that is only memory."""
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "a device"
        return f"{target} is {what}: name a file, on a stick one in the folder where the stick is mounted"
    if any(Path(place) in target.resolve().parents for place in _NO_DISK):
        return f"{target} is on no disk and would be gone: name a file, on a stick in the folder where it is mounted"
    return None


def damage_of(database: Path, *, at_start: bool = False) -> str | None:
    """What is wrong with a database file, in a clause; None for a whole one. It may be in use.

    `at_start`: only what would keep a hub from working; one that is still empty is as good as none.
    """
    try:
        with _reading(database) as connection:
            found = [
                row[0]
                for row in connection.execute(f"PRAGMA {'quick' if at_start else 'integrity'}_check(3)")
            ]
            if found != ["ok"]:
                return "; ".join(str(line) for line in found)
            tables = {
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
    except sqlite3.OperationalError as error:
        if at_start or "locked" in str(error):
            return None  # somebody works with it, or the disk is in trouble: not this file
        return str(error)
    except sqlite3.DatabaseError as error:
        return str(error)
    if at_start and not tables:
        return None
    missing = {"events", "cursors", "meta"} - tables
    return f"it has no table {', '.join(sorted(missing))}" if missing else None


def is_gone(database: Path) -> bool:
    """Whether a database is missing, or a file with nothing in it, though backups of it are there."""
    if not backups_in(backups_of(database)):
        return False
    try:
        if not database.exists() or database.stat().st_size == 0:
            return True
        with _reading(database) as connection:
            return not list(connection.execute("SELECT 1 FROM sqlite_master LIMIT 1"))
    except (OSError, sqlite3.Error):
        return False  # something is there, damaged or in use


def set_aside(database: Path) -> Path | None:
    """Move a database with its side files into a folder of its own beside it; None where there is none.

    Raises BackupFailed. The last three are kept.
    """
    if not database.exists():
        return None
    with _told(database):
        others = sorted(database.parent.glob("replaced-*"))
        last = int(others[-1].name.removeprefix("replaced-")) if others else 0
        folder = database.parent / f"replaced-{last + 1:06}"
        folder.mkdir()
        # the main file first: alone it would lack what is in the log, and a log without it is nothing
        for side in _SIDE_FILES:
            path = database.with_name(database.name + side)
            if path.exists():
                path.replace(folder / path.name)
        for old in others[:-2]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def place_copy(source: Path, target: Path) -> None:
    """A checked copy of `source` at `target`, which is not there yet. Raises BackupFailed."""
    if not source.is_file():
        raise BackupFailed(f"{source}: there is no such file")
    damage = damage_of(source)
    if damage is not None:
        raise BackupFailed(f"{source} is no whole database of a hub: {damage}")
    back_up(source, target)


def _copy(database: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(target, timeout=_BUSY_S)) as copy:
        with _reading(database) as source:
            source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it


@contextlib.contextmanager
def _reading(database: Path) -> Iterator[sqlite3.Connection]:
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_S)) as connection:
        yield connection


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BackupFailed(f"{path}: {error}") from error
    except OSError as error:
        raise BackupFailed(f"{error.filename or path}: {error.strerror}") from error
