"""A hall of real processes: mosquitto, a hub and virtual tables, each of which can go and come back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.brokers import Mosquitto, free_port
from tests.chaos.disks import own_mounts
from tests.waiting import wait_until

START_S = 60.0
RULEBOOK = "torneo-puzzles-2026"


class Process:
    """One of our commands, running."""

    def __init__(self, *command: str, cwd: Path) -> None:
        self._command = [sys.executable, "-P", "-m", *command]
        self._cwd = cwd
        self.said = cwd / f"{command[0]}.said"
        """All that it said, as the journal of a service has it."""
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        with self.said.open("ab") as said:
            self._process = subprocess.Popen(self._command, cwd=self._cwd, stdout=said)

    def on_a_small_disk(self, folder: Path, size: str) -> None:
        """From its next start on it sees a new file system of this size there, with what is there now."""
        kept = folder.with_name(f"{folder.name}-kept")
        mounts = f"cp -a {folder} {kept} && mount -t tmpfs -o size={size} tmpfs {folder} && cp -a {kept}/. {folder}/"
        self._command = [*own_mounts(), "sh", "-c", f'{mounts} && exec "$@"', "sh", *self._command]

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int:
        """SIGTERM, and wait; gives its exit code."""
        if self._process is None:
            return 0
        self._process.terminate()
        return self._process.wait(timeout=20)


TOO_SOON = "muy pronto"


class Hall:
    """Everything on this machine. Hub and broker start when told; the tables are on at once."""

    def __init__(self, folder: Path, tables: int, speed: float = 1.0, beside: Hall | None = None) -> None:
        """`beside`: only tables, of other names, at the broker of that hall."""
        self.folder = folder
        self.tables = tables
        self.speed = speed
        self.broker = Mosquitto(folder)
        self.web_port, self.timer_port = free_port(), free_port()
        config = folder / "hub.toml"
        config.write_text(
            f'rulebook = "{RULEBOOK}"\ndata_dir = "{folder}/hub"\n'
            f"[web]\nport = {self.web_port}\n[broker]\nport = {self.broker.port}\n"
        )
        self.config = config
        self.hub = Process("hub.cli", "run", "--config", str(config), cwd=folder)
        self.timers = Process(
            "device.cli", "simulate", "--tables", str(tables), "--port", str(self.timer_port),
            "--hub", f"127.0.0.1:{(beside or self).broker.port}",
            "--device-prefix", "t" if beside is None else "x", "--data", str(folder / "tables"),
            "--speed", str(speed), "--rulebook", RULEBOOK, "--category", "adulto", cwd=folder,
        )  # fmt: skip

    def load(self, lines: Iterable[str]) -> None:
        """Load a plan: `heat,order,table,entrant,category,public_name` lines."""
        path = self.folder / "plan.csv"
        path.write_text("heat,order,table,entrant,category,public_name\n" + "\n".join(lines) + "\n")
        self.command("load", str(path))

    def command(self, *words: str) -> None:
        """`timer-hub` with these words, as an organiser types it."""
        command = [sys.executable, "-P", "-m", "hub.cli", *words, "--config", str(self.config)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def start_hub(self) -> None:
        """Start broker and hub; comes back when the hub answers and has its broker."""
        self.broker.start()
        self.hub.start()
        wait_until(lambda: (self.health() or {}).get("connected"), START_S)

    def start_tables(self) -> None:
        """Switch the tables on; comes back when each shows something."""
        self.timers.start()
        wait_until(lambda: all(self.screen(n) for n in range(1, self.tables + 1)), START_S)

    def end(self) -> None:
        """End whatever runs."""
        for part in (self.timers, self.hub):
            with suppress(subprocess.TimeoutExpired):
                part.stop()
            part.kill()
        self.broker.stop()

    # What a judge does and people see ------------------------------------------------------------

    def press(self, table: int, button: str, hold_ms: int = 80) -> None:
        """Press and release a button of a table."""
        _ask(f"http://127.0.0.1:{self.timer_port}/tables/{table}/buttons/{button}", {"hold_ms": hold_ms})

    def start(self, table: int) -> tuple[float, float]:
        """START by a judge who presses again if the display says that it was too soon; when the press was made.

        Two instants of the monotonic clock, before and after it.
        """
        while True:
            before_s = time.monotonic()
            self.press(table, "start")
            after_s = time.monotonic()
            wait_until(lambda: self._begun(table) or TOO_SOON in self.screen(table))
            if self._begun(table):
                return before_s, after_s

    def _begun(self, table: int) -> bool:
        """Whether the display shows a preview or a run."""
        shown = self.screen(table)
        return any(words in shown for words in ("MIRAR SIN ABRIR", "P2 · A3"))

    def power(self, table: int, *, on: bool) -> None:
        """Pull a table's plug, or put it in again."""
        _ask(f"http://127.0.0.1:{self.timer_port}/tables/{table}/power", {"on": on})

    def kill_app(self, table: int) -> None:
        """SIGKILL for the table's program; the plug stays in. Comes back when it runs again."""
        killed = self.app_pid(table)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: self._find_app(table) not in (killed, None))

    def app_pid(self, table: int) -> int:
        """The process id of a table's program."""
        pid = self._find_app(table)
        assert pid is not None, f"no program of table {table}"
        return pid

    def _find_app(self, table: int) -> int | None:
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):  # it has ended meanwhile
                    line = (entry / "cmdline").read_bytes().decode(errors="replace")
                    if "device.simulator.table" in line and f"{self.folder}/tables/t{table:02}" in line:
                        return int(entry.name)
        return None

    def screen(self, table: int) -> str:
        """The words on a table's display; empty while it is off."""
        address = f"http://127.0.0.1:{self.timer_port}/tables/{table}/screen.txt"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                text: str = answer.read().decode()
                return text
        except (OSError, urllib.error.URLError):
            return ""

    def until_screen(self, table: int, part: str) -> str:
        """Wait for words on a table's display."""
        wait_until(lambda: part in self.screen(table))
        return self.screen(table)

    def health(self) -> dict[str, Any] | None:
        """The hub's `/healthz`; None while it does not answer."""
        return self._get("/healthz")

    def table_lines(self) -> list[dict[str, Any]]:
        """The tables of `/api/v1/tables`."""
        lines: list[dict[str, Any]] = (self._get("/api/v1/tables") or {"tables": []})["tables"]
        return lines

    def lines(self, category: str = "adulto") -> dict[str, dict[str, Any]]:
        """The standings of a category, by entrant."""
        data = self._get("/api/v1/standings") or {"categories": []}
        lines = [x for c in data["categories"] if c["id"] == category for x in c["standings"]]
        return {line["entrant"]: line for line in lines}

    def until_line(self, entrant: str, **wanted: object) -> dict[str, Any]:
        """Wait for a line of the standings to hold these values."""

        def holds() -> bool:
            line = self.lines().get(entrant)
            return line is not None and all(line[k] == v for k, v in wanted.items())

        wait_until(holds)
        return self.lines()[entrant]

    def _get(self, path: str) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web_port}{path}", timeout=10) as answer:
                data: dict[str, Any] = json.load(answer)
                return data
        except (OSError, ValueError):
            return None


def _ask(address: str, body: dict[str, Any]) -> None:
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()


@contextmanager
def a_hall(folder: Path, tables: int, speed: float = 1.0, beside: Hall | None = None) -> Iterator[Hall]:
    """A hall for the length of a `with` block."""
    folder.mkdir(exist_ok=True)
    hall = Hall(folder, tables, speed, beside)
    try:
        yield hall
    finally:
        hall.end()
