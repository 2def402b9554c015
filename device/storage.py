"""Whether the disk under a folder keeps what is written to it, and the room held back for when it is full."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from device.disk import sync_directory

MOUNTS: Final = Path("/proc/self/mountinfo")
VOLATILE: Final = frozenset({"tmpfs", "ramfs", "overlay", "aufs", "squashfs", "zram"})
"""File systems whose content a power cut empties, or whose changes live in memory."""

RESERVE_BYTES: Final = 2_000 * 512
"""Room for 2,000 events, each far longer than they are."""


def volatile_kind(directory: Path, mounts: Path = MOUNTS) -> str | None:
    """The kind of file system under a folder that forgets with the power; None for one that remembers.

    Raises OSError when the kernel's list of mounts cannot be read.
    """
    target = directory.resolve()
    best: tuple[int, str] = (-1, "")
    for line in mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        place, _, source = line.partition(" - ")
        fields, kind = place.split(), source.split(" ", 1)[0]
        if len(fields) < 5:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        depth = len(point.parts)
        # of two mounts on one place the later one is on top
        if target.is_relative_to(point) and depth >= best[0]:
            best = (depth, kind)
    return best[1] if best[1] in VOLATILE else None


def is_read_only(directory: Path) -> bool:
    """Whether nothing can be written there: a disk that failed and was mounted read-only. Raises OSError."""
    return bool(os.statvfs(directory).f_flag & os.ST_RDONLY)


ROOM_TO_START: Final = 64 * 1024
"""What a run needs beside its events: its rules, the files that are written anew whole, their directory."""
_FILES_TO_START: Final = 8


def has_room(directory: Path) -> bool:
    """Whether the disk has room for a run that begins, with the new files it brings. Raises OSError."""
    disk = os.statvfs(directory)
    nodes = disk.f_files == 0 or disk.f_favail >= _FILES_TO_START  # some file systems do not count them
    return nodes and disk.f_bavail * disk.f_frsize >= ROOM_TO_START


class Reserve:
    """A file that holds room and nothing else: given up when the disk is full, taken again when it is not."""

    def __init__(self, path: Path, size: int = RESERVE_BYTES) -> None:
        self._path = path
        self._size = size
        self.held = size == 0

    def take(self) -> bool:
        """Hold the room, if the disk has as much again to spare; whether it is held."""
        if self.held:
            return True
        with contextlib.suppress(OSError):
            self.held = self._is_there() or self._make()
        return self.held

    def release(self) -> bool:
        """Give the room up for what must be written; False when there is none to give. Raises OSError."""
        if not self.held or not self._size:
            return False
        self.held = False
        self._path.unlink(missing_ok=True)
        sync_directory(self._path.parent)
        return True

    def _is_there(self) -> bool:
        try:
            return self._path.stat().st_blocks * 512 >= self._size
        except FileNotFoundError:
            return False

    def _make(self) -> bool:
        disk = os.statvfs(self._path.parent)
        if disk.f_bavail * disk.f_frsize < 2 * self._size:
            return False  # else it would be taken and given up with every event
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            os.posix_fallocate(fd, 0, self._size)
        except OSError:
            self._path.unlink(missing_ok=True)
            raise
        finally:
            os.close(fd)
        return True
