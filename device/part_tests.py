"""Tests of the parts of a table that need no hand: display, clock, card, board, broker."""

from __future__ import annotations

import ctypes
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from device.board import Board
from device.finding import Finding
from device.storage import volatile_kind
from shared.clock import HandClock

NETWORK_S: Final = 5.0
SLOW_DISK_MS: Final = 500
WRITES: Final = 20


def time_of_day() -> Finding:
    """Runs do not need it; logs are easier to read with it."""
    now = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    if clock_is_synchronised():
        return Finding("clock", True, f"{now} UTC, set by the network", "clock_set", {"utc": now})
    text = f"{now} UTC, not set by the network (runs do not need it)"
    return Finding("clock", True, text, "clock_unset", {"utc": now})


def disk(folder: Path, *, allow_volatile: bool) -> Finding:
    """Whether small writes are on the card soon."""
    probe = folder / "self-test"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        kind = None if allow_volatile else volatile_kind(folder)
        slowest_ms = _slowest_write_ms(probe)
    except OSError as error:
        return Finding("disk", False, f"{folder}: {error.strerror}", "disk_failed")
    if kind is not None:
        text = f"{folder} is on {kind}: nothing there outlives a power cut"
        return Finding("disk", False, text, "disk_volatile")
    text = f"{folder}: slowest of {WRITES} writes {slowest_ms} ms"
    return Finding("disk", slowest_ms <= SLOW_DISK_MS, text, "disk_writes", {"ms": slowest_ms})


def board(folder: Path) -> Iterator[Finding]:
    """Supply, heat, and room on the card."""
    state = Board(folder).state(0.0)
    told = {name: value for name, value in state.as_json().items() if value is not None}
    problems = [str(problem.code) for problem in state.problems]
    text = ", ".join(f"{name} {value}" for name, value in told.items())
    code = problems[0] if problems else "board_ok"
    yield Finding("board", not problems, "; ".join(filter(None, (", ".join(problems), text))), code)


def network(hub: tuple[str, int], clock: HandClock) -> Finding:
    """Whether the broker takes a connection, and how long that takes."""
    host, port = hub
    try:
        before = clock()
        socket.create_connection((host, port), NETWORK_S).close()
    except OSError as error:
        text = f"no broker at {host}:{port}: {error.strerror or error}"
        return Finding("network", False, text, "network_none")
    took_ms = round((clock() - before) * 1000)
    text = f"the broker at {host}:{port} answers in {took_ms} ms"
    return Finding("network", True, text, "network_answers", {"ms": took_ms})


def _slowest_write_ms(probe: Path) -> int:
    """Of small writes that are on the card before they count. Raises OSError."""
    slowest_ns = 0
    fd = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        for _ in range(WRITES):
            before_ns = time.monotonic_ns()
            os.write(fd, bytes(200))
            os.fdatasync(fd)
            slowest_ns = max(slowest_ns, time.monotonic_ns() - before_ns)
    finally:
        os.close(fd)
        probe.unlink()
    return slowest_ns // 1_000_000


def clock_is_synchronised() -> bool:
    """Whether the kernel was told by any service of its choice that the time of day is right."""
    time_error, buffer = 5, ctypes.create_string_buffer(256)  # larger than struct timex, zero: only ask
    return ctypes.CDLL(None).adjtimex(buffer) not in (time_error, -1)
