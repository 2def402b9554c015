"""The file of the log that grows: a line is in it, whole and durable, or nothing of it is."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from device.disk import sync_directory

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What a disk without room answers."""
Sync = Callable[[int], None]


class LogFile:
    """One file, opened or made as soon as the disk allows; until then nothing can be added, and all can be read."""

    def __init__(self, path: Path, size: int, sync: Sync, announce: Callable[[], None] | None = None) -> None:
        """A file that holds `size` bytes; `announce` is called before one that is not there yet is made."""
        self._path = path
        self._size = size
        self._sync = sync
        self._announce = announce
        self._fd = -1
        self._torn = False

    def open(self) -> None:
        """Be ready to add; nothing happens where it is. Raises OSError, and may be called again."""
        if self._fd >= 0:
            return
        make = os.O_CREAT if self._announce is not None else 0
        if self._announce is not None:
            self._announce()
        fd = os.open(self._path, os.O_RDWR | os.O_APPEND | make, 0o644)
        try:
            if self._announce is not None:
                sync_directory(self._path.parent)
            else:
                self._sync(fd)  # a killed process may have left lines that are only in memory
            if os.fstat(fd).st_size != self._size:
                raise OSError(errno.ESTALE, "the file is not as it was read")
        except OSError:
            os.close(fd)
            raise
        self._fd, self._announce = fd, None

    def add(self, line: bytes) -> None:
        """Add a line and make it durable. Raises OSError when that was not possible: nothing of it is left."""
        self.open()
        try:
            if self._torn:
                self._cut_back()
            if os.fstat(self._fd).st_nlink == 0:
                raise OSError(errno.ESTALE, "the file was deleted")
            self._torn = True
            written = 0
            while written < len(line):
                written += os.write(self._fd, line[written:])
            self._sync(self._fd)
        except OSError:
            with contextlib.suppress(OSError):  # else the next one cuts it back
                self._cut_back()
            raise
        self._size += len(line)
        self._torn = False

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _cut_back(self) -> None:
        os.ftruncate(self._fd, self._size)
        self._torn = False
