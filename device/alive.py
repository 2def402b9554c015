"""A counter beside the journal that says how long this boot was alive: the bound when the plug was pulled."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final

EVERY_S: Final = 10.0
_SLOT: Final = 128


class Alive:
    """Two slots in one small file, written in turn: a write that a power cut tears leaves the other one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = 0

    def read(self, boot: str) -> int | None:
        """The last milliseconds of its monotonic clock that this boot noted; None if it noted none."""
        try:
            raw = self._path.read_bytes()
        except OSError:
            return None
        noted = [_parse(raw[i : i + _SLOT]) for i in (0, _SLOT)]
        return max((ms for b, ms in filter(None, noted) if b == boot), default=None)

    def note(self, boot: str, mono_ms: int) -> None:
        """Note that this boot is alive. Raises OSError."""
        body = f"{boot} {mono_ms}".encode()
        slot = b"%08x %s\n" % (zlib.crc32(body), body)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.pwrite(fd, slot.ljust(_SLOT), self._turn * _SLOT)
            os.fdatasync(fd)
        finally:
            os.close(fd)
        self._turn = 1 - self._turn


def _parse(slot: bytes) -> tuple[str, int] | None:
    crc, _, body = slot.rstrip().partition(b" ")
    try:
        if int(crc, 16) != zlib.crc32(body):
            return None
        boot, mono_ms = body.decode().rsplit(" ", 1)
        return boot, int(mono_ms)
    except ValueError:
        return None
