"""The one clock that is passed in, never read elsewhere: hand time, and run time as a function of it.

Hand time is CLOCK_MONOTONIC in seconds: settling of buttons, holds, second presses, display, MQTT.
Run time is what runs are stamped with, in whole milliseconds of this boot: the same clock on a real
table, and `offset + speed x hand` in a demo, where a heat of hours can be watched in minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

HandClock = Callable[[], float]
"""Seconds of CLOCK_MONOTONIC; real time, never scaled."""

WallClock = Callable[[], int]
"""Milliseconds of UTC; a label for people, never a duration."""

monotonic: Final[HandClock] = time.monotonic


def wall_ms() -> int:
    """Milliseconds of UTC now."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class RunClock:
    """Run time as a linear function of hand time: `run_ms = (hand - zero_s) * 1000 * speed`."""

    zero_s: float = 0.0
    speed: float = 1.0

    def run_ms(self, hand_s: float) -> int:
        """Run milliseconds at an instant of hand time, truncated."""
        return int((hand_s - self.zero_s) * 1000 * self.speed // 1)

    def hand_s(self, run_ms: int) -> float:
        """The first instant of hand time at which the run clock reads `run_ms`."""
        return self.zero_s + run_ms / (1000 * self.speed)
