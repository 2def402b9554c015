"""Waiting for something that another thread or process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

GENEROUS_S = 30.0


def wait_until(condition: Callable[[], object], deadline_s: float = GENEROUS_S) -> None:
    """Return as soon as `condition()` is true; AssertionError when it is not within `deadline_s` seconds."""
    never = Event()
    end_s = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end_s, f"not reached within {deadline_s} s"
        never.wait(0.01)
