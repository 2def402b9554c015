"""Wall clocks that can be set: one for each kind of process, driven by a file that a preloaded library reads."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HOUR_S: Final = 3_600
YEAR_S: Final = 365 * 86_400
STEPS_S: Final = (-2 * YEAR_S, -HOUR_S, -1, 0, 1, 8 * HOUR_S, YEAR_S)
"""How far a clock may be set from the right time."""
_SOURCE: Final = Path(__file__).with_name("stepclock.c")


def can_step() -> bool:
    """Whether this machine can make the library."""
    return shutil.which("gcc") is not None


def library(folder: Path) -> Path:
    """The compiled library, made in this folder."""
    made = folder / "stepclock.so"
    if not made.exists():
        command = [
            "gcc",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-shared",
            "-fPIC",
            "-o",
            str(made),
            str(_SOURCE),
        ]
        subprocess.run(command, check=True)
    return made


class StepClock:
    """The wall clock of all processes that are started with its environment."""

    def __init__(self, folder: Path, name: str) -> None:
        self._library = library(folder)
        self._path = folder / f"{name}.clock"
        self._path.write_bytes(bytes(8))
        with self._path.open("r+b") as file:
            self._shown = mmap.mmap(file.fileno(), 8)

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process needs to see this clock."""
        return {**os.environ, "LD_PRELOAD": str(self._library), "STEPCLOCK_FILE": str(self._path)}

    def set(self, ahead_s: float) -> None:
        """It shows the right time plus so many seconds from now on."""
        self._shown[:8] = struct.pack("=q", round(ahead_s * 1e9))
