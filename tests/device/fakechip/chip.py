"""The test's side of the fake chip: levels, edges with a stamp of our choice, and a process that sees it."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from device.buttons import PINS
from device.debounce import Button

LINES: Final = 54
ROOT: Final = Path(__file__).parents[3]
_SOURCE: Final = Path(__file__).with_name("fakechip.c")
_PI_4: Final = 0xA03111
_RISING, _FALLING = 1, 2


def missing() -> str:
    """What this machine lacks to run the real lgpio on a fake chip; empty when nothing."""
    lacks = [
        name for name, there in (("gcc", shutil.which("gcc")), ("lgpio", find_spec("lgpio"))) if not there
    ]
    return " and ".join(lacks)


@cache
def shim() -> Path:
    """The compiled library to preload, once for a test session."""
    made = Path(mkdtemp(prefix="fakechip-")) / "fakechip.so"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", str(made), str(_SOURCE)]
    subprocess.run([*command, "-ldl"], check=True)
    return made


class FakeChip:
    """One chip in a folder; every line rests high, as under a pull-up."""

    def __init__(self, folder: Path, number: int = 0, driver: str = "brcm,bcm2711-gpio") -> None:
        self.folder = folder
        self.number = number
        folder.mkdir(exist_ok=True)
        (folder / "levels").write_bytes(b"1" * LINES)
        (folder / "revision").write_bytes(struct.pack(">L", _PI_4))
        node = self.sysfs / f"gpiochip{number}" / "of_node"
        node.mkdir(parents=True, exist_ok=True)
        (node / "compatible").write_bytes(driver.encode() + b"\0")

    @property
    def sysfs(self) -> Path:
        """Where the chip is found by its driver."""
        return self.folder / "sysfs"

    def environment(self) -> Mapping[str, str]:
        """What a process needs to see the chip."""
        seen = {"LD_PRELOAD": str(shim()), "FAKECHIP_DIR": str(self.folder), "PYTHONPATH": str(ROOT)}
        return {**os.environ, **seen}

    def start(self, module: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a module in a process that sees the chip, with pipes; its working directory is the folder."""
        return subprocess.Popen(
            [sys.executable, "-m", module, str(self.folder), *arguments],
            env=self.environment(),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def edge(folder: Path, line: int, level: bool, t_ns: int | None = None) -> float:
    """Pull a line to a level at an instant of CLOCK_MONOTONIC; gives that instant in seconds."""
    t_ns = time.monotonic_ns() if t_ns is None else t_ns
    with (folder / "levels").open("r+b") as levels:
        levels.seek(line)
        levels.write(b"1" if level else b"0")
    event = struct.pack("=QIIII24x", t_ns, _RISING if level else _FALLING, line, 0, 0)
    fifo = os.open(folder / f"line{line}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        os.write(fifo, event)
    finally:
        os.close(fifo)
    return t_ns / 1e9


class ChipFingers:
    """Fingers on the buttons of a fake chip."""

    def __init__(self, folder: Path, pins: Mapping[Button, int] = PINS) -> None:
        self._folder = folder
        self._pins = pins

    def press(self, button: Button) -> None:
        """Pull the pin to ground."""
        edge(self._folder, self._pins[button], level=False)

    def release(self, button: Button) -> None:
        """Let it rise."""
        edge(self._folder, self._pins[button], level=True)
