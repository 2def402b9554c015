"""How the board itself is: supply, heat, room on the card. Read from /sys, with no program to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.core.model import Problem

SYS: Final = Path("/sys")
LOOK_EVERY_S: Final = 10.0
"""Between two looks; none of this changes faster."""
HOT_C: Final = 80
"""Here a Raspberry Pi begins to slow itself down."""
LITTLE_ROOM_MB: Final = 200

_WEAK_NOW: Final = 1 << 0
_SLOWED_NOW: Final = 1 << 1 | 1 << 2 | 1 << 3
_WEAK_SINCE_BOOT: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class BoardState:
    """One look; None for what this machine does not tell."""

    throttled: int | None = None
    """The firmware's bits: what is now in 0 to 3, what was since power-on in 16 to 19."""
    weak_alarm: bool = False
    """The kernel's own alarm for the supply."""
    temperature_c: int | None = None
    free_mb: int | None = None

    @property
    def weak(self) -> bool:
        """The supply is too weak now."""
        return bool((self.throttled or 0) & _WEAK_NOW) or self.weak_alarm

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What people should do something about."""
        return tuple(Problem(code) for code in self._codes())

    def _codes(self) -> Iterator[str]:
        bits = self.throttled or 0
        if self.weak:
            yield "supply_weak"
        elif bits & _WEAK_SINCE_BOOT:
            yield "supply_was_weak"
        if self.temperature_c is not None and self.temperature_c >= HOT_C:
            yield "board_hot"
        elif bits & _SLOWED_NOW and not bits & _WEAK_NOW:
            yield "board_slowed"
        if self.free_mb is not None and self.free_mb < LITTLE_ROOM_MB:
            yield "storage_little_room"

    def as_json(self) -> dict[str, object]:
        """For the status message."""
        throttled = None if self.throttled is None else f"{self.throttled:#x}"
        return {"throttled": throttled, "temperature_c": self.temperature_c, "free_mb": self.free_mb}


class Board:
    """The board under this process, looked at now and then."""

    def __init__(self, directory: Path, sys: Path = SYS) -> None:
        """`directory` lies on the card whose room counts."""
        self._directory = directory
        self._sys = sys
        self._looked_s = float("-inf")
        self._state = BoardState()

    def state(self, now: float) -> BoardState:
        """As it was at most `LOOK_EVERY_S` before `now` (hand time)."""
        if now - self._looked_s >= LOOK_EVERY_S:
            self._looked_s = now
            self._state = self._look()
        return self._state

    def _look(self) -> BoardState:
        millidegrees = _number(self._sys / "class/thermal/thermal_zone0/temp", 10)
        return BoardState(
            throttled=self._throttled(),
            weak_alarm=self._weak_alarm(),
            temperature_c=None if millidegrees is None else millidegrees // 1000,
            free_mb=_free_mb(self._directory),
        )

    def _throttled(self) -> int | None:
        for path in self._sys.glob("devices/platform/soc*/*firmware/get_throttled"):
            return _number(path, 16)
        return None

    def _weak_alarm(self) -> bool:
        return any(
            _text(monitor / "name") == "rpi_volt" and _text(monitor / "in0_lcrit_alarm") == "1"
            for monitor in self._sys.glob("class/hwmon/hwmon*")
        )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path, base: int) -> int | None:
    try:
        return int(_text(path), base)
    except ValueError:
        return None


def _free_mb(directory: Path) -> int | None:
    try:
        disk = os.statvfs(directory)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize // 1_000_000
