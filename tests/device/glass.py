"""The glass of a real `table-timer run`: its display lives here, outside of the process that may be killed."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from PIL import Image

from device.debounce import Button
from device.draw import MAX_SHIFT, WIDTH, draw
from device.fakes.bus import RecordedBus
from device.screen import Screen
from shared.clock import kernel_boot_id
from shared.duration import clock_text
from tests.device.fakechip.chip import ROOT, FakeChip
from tests.device.rig import Rig

UNIT: Final = ROOT / "systemd" / "device" / "table-timer.service"
PREVIEW_S: Final = 120
BEFORE_S: Final = 12 * 60 + 34
PLACES: Final = [(x, y) for x in range(MAX_SHIFT[0] + 1) for y in range(MAX_SHIFT[1] + 1)]
_LOOK_EVERY_S: Final = 0.1


@contextmanager
def served(bus: RecordedBus, folder: Path) -> Iterator[None]:
    """The bus behind /dev/i2c-<N> of every process that sees the chip in this folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(folder / "i2c"))
        listening.listen()
        threading.Thread(target=_serve, args=(listening, bus), daemon=True).start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, bus: RecordedBus) -> None:
    while True:
        try:
            opened, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(opened, bus), daemon=True).start()


def _answer(opened: socket.socket, bus: RecordedBus) -> None:
    # a process killed in the middle of a transfer does not take the answer
    with opened, suppress(ConnectionError):
        while packet := opened.recv(64):
            address, register, *values = packet
            try:
                bus.write_i2c_block_data(address, register, values)
            except OSError as error:
                opened.send(bytes((error.errno or 0,)))
            else:
                opened.send(b"\0")


class Unit:
    """`table-timer run`, watched and started again as its unit file has systemd do it."""

    def __init__(self, chip: FakeChip, settings: Path) -> None:
        self._chip, self._settings = chip, settings
        unit = UNIT.read_text(encoding="utf-8")
        self._watchdog_s, self._restart_s = (
            float(re.findall(rf"^{key}=(\d+)$", unit, re.MULTILINE)[0])
            for key in ("WatchdogSec", "RestartSec")
        )
        self.starts = 0
        self.ready = threading.Event()
        """It has said so once; from then on its silence counts."""
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process that runs now."""
        assert self._process is not None, "it runs"
        self._process.send_signal(number)

    def start(self) -> None:
        """Start it, and keep it."""
        self._thread.start()

    def stop(self) -> None:
        """End it for good."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        address = str(self._chip.folder / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
            heard.bind(address)
            heard.settimeout(_LOOK_EVERY_S)
            command = [sys.executable, "-m", "device.cli", "run", "--config", str(self._settings)]
            environment = {**self._chip.environment(), "NOTIFY_SOCKET": address, "PYTHONPATH": str(ROOT)}
            while not self._stopping.is_set():
                self.starts += 1
                with subprocess.Popen(command, env=environment, cwd=self._chip.folder) as self._process:
                    self._watch(self._process, heard)
                self._stopping.wait(self._restart_s)

    def _watch(self, process: subprocess.Popen[bytes], heard: socket.socket) -> None:
        """Returns once the process has ended, or has been ended for its silence."""
        fed_s: float | None = None  # counted from READY=1 on, as systemd does
        while process.poll() is None:
            try:
                heard.recv(1000)
                fed_s = time.monotonic()
                self.ready.set()
            except TimeoutError:
                if fed_s is not None and time.monotonic() - fed_s > self._watchdog_s:
                    os.kill(process.pid, signal.SIGABRT)
                    os.kill(process.pid, signal.SIGCONT)  # or a stopped process would not hear of it
                    process.wait()
            if self._stopping.is_set():
                process.kill()
                process.wait()


@contextmanager
def a_table(folder: Path, bus: RecordedBus, driver: str = "ssd1306") -> Iterator[Unit]:
    """A table whose display is on this bus, kept alive as by systemd; its journal is in `folder`/state."""
    chip = FakeChip(folder / "chip")
    settings = folder / "table-timer.toml"
    settings.write_text(
        f'device = "t07"\ntable = 7\ncategories = ["adulto"]\nstate_dir = "{folder}/state"\n'
        f'allow_volatile = true\n[buttons]\npins = "mock"\n[display]\ndriver = "{driver}"\n'
        '[hub]\nhost = "127.0.0.1"\nport = 1\n'
    )
    with served(bus, chip.folder):
        unit = Unit(chip, settings)
        unit.start()
        try:
            yield unit
        finally:
            unit.stop()


def a_run(state_dir: Path) -> float:
    """Journal a run of this boot that shows 12:34 now; gives the instant at which its clock stood at 0:00."""
    state_dir.mkdir()
    zero_s = time.monotonic() - BEFORE_S
    rig = Rig(state_dir, "adulto", boot=kernel_boot_id(), now=zero_s - PREVIEW_S)
    rig.press(Button.START)
    rig.unplug()
    return zero_s


def shows(lit: Image.Image, screen: Screen, rows: range) -> bool:
    """Whether these rows of the glass are those of such a screen, wherever it is moved against burn-in."""
    box = (0, rows.start, WIDTH, rows.stop)
    looked = lit.crop(box).tobytes()
    return any(looked == draw(replace(screen, shift=place)).crop(box).tobytes() for place in PLACES)


def shows_running_time(lit: Image.Image, zero_s: float) -> bool:
    """Whether the large digits say how long the run has been going."""
    elapsed_s = int(time.monotonic() - zero_s)
    rows = range(17, 47)
    return any(
        shows(lit, Screen("", clock=clock_text(s), bottom="P2"), rows) for s in (elapsed_s, elapsed_s - 1)
    )
