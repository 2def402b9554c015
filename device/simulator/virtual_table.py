"""One virtual table kept alive: its process, its plug, its fingers, and the last it showed."""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from device.debounce import Button
from shared.clock import HandClock, monotonic

DARK: Final = bytes(128 * 64 // 8)
BACK_OFF_S: Final = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Between a table's unexpected end and its next start; the first again once it has run for a while."""
RUNS_WELL_S: Final = 10.0
BETWEEN_PRESSES_S: Final = 0.08
"""Two presses of one button closer than this could settle as one."""
UNPLUGGED_WITHIN_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Boot:
    """One time between plugging in and pulling the plug: what the machine's clock began with."""

    id: str
    zero_s: float
    """Hand time at which its clock was 0."""


@dataclass(frozen=True, slots=True)
class View:
    """What can be seen of a table at one instant."""

    version: int = 0
    """Grows with every change."""
    frame: bytes = DARK
    """The 128 x 64 picture as the display lights it, one bit a pixel, rows from the top."""
    words: str = ""
    on: bool = True
    """The plug is in."""
    alive: bool = False
    """The app runs and has shown its first picture."""
    down: frozenset[Button] = frozenset()
    """Buttons that are held down."""
    trouble: str = ""
    """Why the app is not alive although the plug is in."""
    restarts: int = 0
    """How often the app ended by itself or was killed, and was started again."""
    boot: str = ""
    pid: int | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    """What the table told of itself (`telling`) …"""
    t: float = 0.0
    """… at this instant of hand time."""


class VirtualTable:
    """A table whose app is started again whenever it ends; safe from any thread.

    An app that died or was killed comes back in the same boot, as under systemd: its clock goes on. Pulling
    the plug ends the boot; plugging in begins another, with a clock near 0. The journal stays in both cases.
    """

    def __init__(
        self,
        number: int,
        device: str,
        command: Callable[[Boot], list[str]],
        changed: Callable[[int], None],
        clock: HandClock = monotonic,
    ) -> None:
        """`command` starts the app in a boot; `changed` is told the number of the table, from any thread."""
        self.number = number
        self.device = device
        self._command = command
        self._changed = changed
        self._clock = clock
        self._news = threading.Condition()
        self._process: subprocess.Popen[bytes] | None = None
        self._boot = self._new_boot()
        self._view = View(boot=self._boot.id)
        self._killed = False
        self._stopping = threading.Event()
        self._pressing = {button: threading.Lock() for button in Button}
        self._thread = threading.Thread(target=self._run, name=f"table {number}", daemon=True)

    # What can be done with it -------------------------------------------------------------------

    @property
    def view(self) -> View:
        """What can be seen of it now."""
        return self._view

    @property
    def zero_s(self) -> float:
        """Hand time at which the clock of its boot was 0."""
        return self._boot.zero_s

    def wait_for(self, seen: Callable[[View], object], timeout_s: float) -> bool:
        """Wait until it can be seen as asked; False when that did not happen in time."""
        with self._news:
            return bool(self._news.wait_for(lambda: seen(self._view), timeout_s))

    def start(self) -> None:
        """Plug it in."""
        self._thread.start()

    def move(self, button: Button, *, down: bool) -> None:
        """A finger comes down on a button, or goes up; nothing happens when it is there already.

        An app that starts under a finger that is down notices it only once it is up and down again.
        """
        with self._news:
            if (button in self._view.down) is down:
                return
            self._show(down=self._view.down ^ {button})
            self._order({"button": button, "down": down})

    def press(self, button: Button, hold_s: float) -> None:
        """Hold a button for so long and let it go; back when it is up. A second press waits for the first."""
        with self._pressing[button]:
            self.move(button, down=True)
            try:
                self._stopping.wait(hold_s)
            finally:
                self.move(button, down=False)
            self._stopping.wait(BETWEEN_PRESSES_S)

    def power(self, *, on: bool) -> None:
        """Put the plug in, or pull it: the app is gone at once, without a word."""
        with self._news:
            if on is self._view.on:
                return
            if on:
                self._boot = self._new_boot()
                self._show(on=True, boot=self._boot.id)
                return
            self._show(on=False, alive=False, frame=DARK, words="", trouble="", pid=None, table={})
            if self._process is not None:
                self._process.kill()
            self._news.wait_for(lambda: self._process is None, UNPLUGGED_WITHIN_S)

    def kill(self) -> None:
        """Kill the app, and only it (as `kill -9`); it is back within a second."""
        with self._news:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def ask_to_stop(self) -> None:
        """Let the app say goodbye and end; no other is started."""
        with self._news:
            self._stopping.set()
            if self._process is not None:
                self._process.terminate()
            self._news.notify_all()

    def stop(self, timeout_s: float) -> None:
        """Wait for the end after `ask_to_stop`; an app that takes longer than that is killed."""
        if self._thread.ident is None:
            return
        self._thread.join(timeout_s)
        with self._news:
            if self._process is not None:
                self._process.kill()
        self._thread.join()

    # Its life -----------------------------------------------------------------------------------

    def _run(self) -> None:
        failures = 0
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stopping.is_set() or self._view.on)
                if self._stopping.is_set():
                    return
                boot, process = self._boot, self._begin()
            began_s = self._clock()
            self._listen(process)
            with self._news:
                self._process = None
                self._news.notify_all()
                if self._stopping.is_set() or not self._view.on or boot is not self._boot:
                    failures = 0
                    continue
                if self._killed or self._clock() - began_s > RUNS_WELL_S:
                    failures = 0
                pause_s = BACK_OFF_S[min(failures, len(BACK_OFF_S) - 1)]
                failures, self._killed = failures + 1, False
                said = self._view.trouble or f"it ended with code {process.returncode}"
                self._show(alive=False, trouble=said, restarts=self._view.restarts + 1, pid=None)
                self._news.wait_for(lambda: self._stopping.is_set() or not self._view.on, pause_s)

    def _begin(self) -> subprocess.Popen[bytes]:
        self._process = process = subprocess.Popen(
            self._command(self._boot),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C is for the supervisor alone
        )
        self._show(pid=process.pid)
        return process

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Take in what the app says until it has ended."""
        assert process.stdout is not None, "opened with a pipe"
        assert process.stdin is not None, "opened with a pipe"
        with process.stdout:
            for line in process.stdout:
                if line.endswith(b"\n"):  # what a killed app did not say to the end is nothing
                    self._take(process, json.loads(line))
            process.wait()
        with suppress(BrokenPipeError):  # a press that it did not take is still in there
            process.stdin.close()

    def _take(self, process: subprocess.Popen[bytes], said: Mapping[str, Any]) -> None:
        with self._news:
            if process is not self._process or not self._view.on:
                return
            if "trouble" in said:
                self._show(trouble=said["trouble"])
                return
            frame = base64.b64decode(said["frame"]) or self._view.frame
            self._show(
                frame=frame, words=said["words"], table=said["table"], t=said["t"], alive=True, trouble=""
            )

    def _order(self, order: Mapping[str, object]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):  # it has ended, and its pipe may be closed
            return

    def _show(self, **changes: Any) -> None:
        self._view = replace(self._view, version=self._view.version + 1, **changes)
        self._news.notify_all()
        self._changed(self.number)

    def _new_boot(self) -> Boot:
        return Boot(f"virtual-{secrets.token_hex(8)}", self._clock())
