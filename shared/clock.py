"""The one clock that is passed in, never read elsewhere: hand time, and run time as a function of it.

Hand time is CLOCK_MONOTONIC in seconds: settling of buttons, holds, second presses, display, MQTT.
Run time is what runs are stamped with, in whole milliseconds of this boot: the same clock on a real
table, and `offset + speed x hand` in a demo, where a heat of hours can be watched in minutes.

The hub tells its tables the clock of its machine since that was switched on, which nothing ever steps.
"""

from __future__ import annotations

import ctypes
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Final

HandClock = Callable[[], float]
"""Seconds of CLOCK_MONOTONIC; real time, never scaled."""

WallClock = Callable[[], int]
"""Milliseconds of UTC; a label for people, never a duration."""

monotonic: Final[HandClock] = time.monotonic

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class _Timex(ctypes.Structure):
    """What adjtimex(2) tells, as far as it is asked here; the kernel fills in more behind it."""

    _fields_: ClassVar = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("more", ctypes.c_byte * 512),
    ]


_TIME_ERROR: Final = 5
"""adjtimex says so while nobody disciplines the clock."""


def wall_error_ms() -> int | None:
    """How far off the wall clock may be, as the kernel vouches for it; None while nobody disciplines it."""
    told = _Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(told))
    except (OSError, AttributeError):  # not Linux
        return None
    return None if state in (-1, _TIME_ERROR) else -(-told.maxerror // 1000)


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


@dataclass(frozen=True, slots=True)
class HubClock:
    """The clock a hub tells its tables: microseconds that never step, and the name of what they count from."""

    now_us: Callable[[], int]
    base: str

    def now_ms(self) -> int:
        """The same in milliseconds."""
        return self.now_us() // 1000


def kernel_boot_id() -> str:
    """The id of this boot of the machine. Raises OSError where the kernel gives none."""
    return _BOOT_ID.read_text(encoding="ascii").strip()


@cache
def machine_clock() -> HubClock:
    """Since this machine was switched on, time asleep included: the same for every process of this boot."""
    try:
        return HubClock(lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000, kernel_boot_id())
    except OSError:  # not Linux: a clock of this process only
        return HubClock(lambda: time.monotonic_ns() // 1000, uuid.uuid4().hex)
