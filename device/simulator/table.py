"""One virtual table: the program of the real one over mock pins and a recorded bus, led by its supervisor.

Presses come in as lines on stdin, `{"button": "start", "down": true}`; what is shown goes out as lines on
stdout. The end of stdin is the end of the table: a supervisor that was killed leaves no table behind.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from device.app import App, Parts, on_thread_death
from device.buttons import MockPins, NoButtons, open_factory
from device.debounce import Button
from device.fakes.bus import RecordedBus
from device.from_hub import LinkSettings
from device.journal import JournalBusy, NotSaved
from device.panel import Panel
from device.screen import Screen
from device.simulator.reporter import Reporter, write_line
from device.simulator.telling import telling
from device.start_up import StartUp
from device.table import Seat
from shared.checked_toml import BadFile
from shared.clock import RunClock, monotonic
from shared.rulebook import find_rulebook

DRIVER: Final = "ssd1306"
LAST_WORD_S: Final = 3.0
FINGER_S: Final = 0.04
"""The shortest time between two moves of one finger."""
"""So long a table may take to end when its supervisor is gone; then it is ended."""
CANNOT_START: Final = 3
"""Exit code of a table that said why it could not start."""

_IN, _OUT = 0, 1  # raw: a daemon thread inside a buffered stdin breaks the interpreter's end


class VirtualApp:
    """The app with fingers on its pins and an eye on its display."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Raises what App and the rulebook raise; nothing has been started then."""
        categories = find_rulebook(options.rulebook).categories
        host, _, port = options.hub.rpartition(":")
        factory = open_factory("mock")
        self._pins = MockPins(factory)
        self._bus = RecordedBus(DRIVER)
        self._reporter = Reporter(_OUT, self.stop)
        panel = Panel(DRIVER, lambda: self._bus, (self._bus.address,), on_sent=self._lit)
        start_up = StartUp(panel, options.table, options.language)
        self._app = App(
            Parts(
                seat=Seat(
                    options.table,
                    tuple(categories[c] for c in options.category or categories),
                    options.language,
                ),
                link=LinkSettings(host, int(port), options.device, options.base),
                state_dir=options.state_dir,
                boot=options.boot,
                pin_factory=factory,
                panel=panel,
                passed=start_up.passed,
                run_clock=RunClock(options.zero_s, options.speed),
                allow_volatile=True,
                on_screen=self._composed,
            )
        )
        self._broken = False

    def run(self) -> int:
        """Run until told to stop; the exit code."""
        ended = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: self.stop())
        on_thread_death(self._break)
        threading.Thread(target=self._obey, args=(ended,), name="fingers", daemon=True).start()
        self._reporter.start()
        try:
            self._app.run()
        finally:
            ended.set()
        return 1 if self._broken else 0

    def stop(self) -> None:
        """End the app; from any thread."""
        self._app.stop()

    def _break(self) -> None:
        self._broken = True
        self.stop()

    def _obey(self, ended: threading.Event) -> None:
        moved_s: dict[Button, float] = {}
        for line in _lines(_IN):
            order = json.loads(line)
            button, down = Button(order["button"]), order["down"]
            # after a stall down and up are read in one go: no finger is that quick, it would pass for a bounce
            ended.wait(max(0.0, moved_s.get(button, 0.0) + FINGER_S - monotonic()))
            (self._pins.press if down else self._pins.release)(button)
            moved_s[button] = monotonic()
        self.stop()
        if not ended.wait(LAST_WORD_S):
            os._exit(1)

    def _lit(self, _frame: bytes, _t: float) -> None:
        self._reporter.lit(self._bus.picture())

    def _composed(self, screen: Screen) -> None:
        now = monotonic()
        self._reporter.composed(screen.words(), telling(self._app.table.facts(now)), now)


def _lines(fd: int) -> Iterator[bytes]:
    rest = b""
    while chunk := os.read(fd, 4096):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="device.simulator.table", description=__doc__)
    parser.add_argument("--device", required=True)
    parser.add_argument("--table", type=int, required=True)
    parser.add_argument("--hub", required=True, metavar="HOST:PORT")
    parser.add_argument("--base", required=True)
    parser.add_argument("--state-dir", type=Path, required=True)
    parser.add_argument("--boot", required=True)
    parser.add_argument("--zero-s", type=float, required=True, help="hand time at which this boot began")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--language", default="es")
    parser.add_argument("--rulebook", required=True)
    parser.add_argument("--category", action="append", default=[])
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run one virtual table; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the supervisor ends us
    try:
        virtual = VirtualApp(_options(arguments))
    except (BadFile, JournalBusy, NotSaved, NoButtons, OSError) as error:
        write_line(_OUT, json.dumps({"trouble": str(error)}, ensure_ascii=False))
        return CANNOT_START
    return virtual.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
