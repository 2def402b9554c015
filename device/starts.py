"""Counts starts in a row that ended in a crash, so that a table which crashes for ever times on with less.

Kept in a small file beside the journal, for this boot of the machine only: a power cut is no crash.
"""

from __future__ import annotations

import json
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import Final

CRASHES: Final = 5
"""So many in a row, and something is left out."""
STEADY_S: Final = 60.0
"""Who has run so long has not crashed at its start."""
_FILE: Final = "starts"


class Mode(IntEnum):
    """What a table does without."""

    WHOLE = 0
    SAFE = 1
    """Without hub, plan, buzzer and light: what others send, and what is not needed to time."""
    BLIND = 2
    """Without display too: presses are timed and journaled."""


class Starts:
    """The starts of one table. A disk that takes nothing only means that nothing is counted."""

    def __init__(self, folder: Path, boot: str) -> None:
        self._path = folder / _FILE
        self._boot = boot
        self._crashes = 0

    def begin(self) -> Mode:
        """This process starts: what it is to do without."""
        kept = self._kept()
        self._crashes = kept + 1 if kept is not None else 0
        self._keep(self._crashes)
        return Mode(min(self._crashes // CRASHES, Mode.BLIND))

    def steady(self) -> None:
        """This process has run for `STEADY_S`: it did not crash at its start. What is left out stays left out."""
        if self._crashes < CRASHES:
            self.end()

    def end(self) -> None:
        """This process ends because it was told to, or says itself why: no crash."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _kept(self) -> int | None:
        """The crashes before the process that ran last and said nothing at its end; None where there was none."""
        try:
            kept = json.loads(self._path.read_text(encoding="ascii"))
            boot, crashes = kept["boot"], kept["crashes"]
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return crashes if boot == self._boot and type(crashes) is int else None

    def _keep(self, crashes: int) -> None:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps({"boot": self._boot, "crashes": crashes}), encoding="ascii")
            new.replace(self._path)
