"""The hall of a chaos run: broker, hub and tables as real processes, and everything that can be done to them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.brokers import MOSQUITTO, answers, free_port
from tests.chaos.disks import SmallDisk
from tests.chaos.eyes import Eyes
from tests.chaos.faults import Fault, Kind
from tests.chaos.proxy import Proxy, Way
from tests.chaos.service import Service
from tests.chaos.stepclock import STEPS_S, StepClock, can_step
from tests.chaos.witness import Witness
from tests.waiting import wait_until

RULEBOOK: Final = "torneo-puzzles-2026"
CATEGORIES: Final = ("adulto", "infantil-5-7", "grupal-adulto")
HEATS: Final = 40
SPEED: Final = 600.0
START_S: Final = 120.0
HUB_DISK_MB, TABLES_DISK_MB = 48, 48
_PYTHON: Final = (sys.executable, "-P", "-W", "ignore", "-m")


class Arena:
    """Everything of one run, in one folder."""

    def __init__(self, folder: Path, tables: int, seed: int, *, small_disks: bool) -> None:
        self.folder = folder
        self.tables = range(1, tables + 1)
        self.broker_port, self.web_port, self.timer_port = free_port(), free_port(), free_port()
        self.hub_disk = SmallDisk(folder / "hub", HUB_DISK_MB, own=small_disks)
        self.tables_disk = SmallDisk(folder / "tables", TABLES_DISK_MB, own=small_disks)
        self.proxy = Proxy(self.broker_port, ["hub", *map(device, self.tables)])
        self.witness = Witness(self.broker_port)
        self.eyes = Eyes(self.tables, self._screen)
        self._broker_db = folder / "mosquitto.db"
        self.config = folder / "hub.toml"
        self._write_settings()
        names = ("broker", "hub", "tables")
        self.clocks = {name: StepClock(folder, name) for name in names} if can_step() else {}
        seen = {name: clock.environment for name, clock in self.clocks.items()}
        broker = [MOSQUITTO, "-c", str(folder / "mosquitto.conf")]
        self.broker = Service("broker", broker, folder, seen.get("broker"))
        hub = [*_PYTHON, "hub.cli", "run", "--config", str(self.config)]
        self.hub = Service("hub", hub, folder, seen.get("hub"))
        self.timers = Service(
            "tables",
            [
                *_PYTHON, "device.cli", "simulate", "--tables", str(tables), "--port", str(self.timer_port),
                "--hub", f"127.0.0.1:{self.proxy.port}", "--data", str(folder / "tables"),
                "--speed", str(SPEED), "--rulebook", RULEBOOK, "--autoplay", "--seed", str(seed),
                *(f"--category={category}" for category in CATEGORIES),
            ],
            folder, seen.get("tables"),
        )  # fmt: skip
        self._services = (self.broker, self.hub, self.timers)
        self._lock: sqlite3.Connection | None = None

    @property
    def database(self) -> Path:
        """The hub's database."""
        return self.folder / "hub" / "hub.sqlite3"

    @property
    def journals(self) -> list[Path]:
        """The journals of all tables."""
        return sorted((self.folder / "tables").glob("*/*.journal"))

    def open(self) -> None:
        """Start everything; back when the hub has its broker and each table shows something."""
        self.load(self._plan())
        self.proxy.start()
        self.broker.start()
        self.hub.start()
        self.timers.start()
        wait_until(lambda: (self.health() or {}).get("connected"), START_S)
        self.witness.start()
        wait_until(lambda: all(self._screen(n) for n in self.tables), START_S)
        self.eyes.start()

    def close(self) -> None:
        """End everything."""
        self.unlock()
        self.eyes.stop()
        for service in (self.timers, self.hub, self.broker):
            service.end()
        self.witness.stop()
        self.proxy.stop()

    def tend(self) -> None:
        """What time brings: ended services come back, full disks stay full."""
        for service in self._services:
            service.tend()
        for disk in (self.hub_disk, self.tables_disk):
            disk.tend()

    # Faults -------------------------------------------------------------------------------------

    def begin(self, fault: Fault) -> None:
        """Let it happen."""
        match fault.kind:
            case Kind.APP_KILLED:
                self._kill_app(fault.tables[0])
            case Kind.TABLE_UNPLUGGED:
                self._power(fault.tables[0], on=False)
            case Kind.HUB_KILLED | Kind.HUB_RESTORED:
                self.hub.kill()
            case Kind.HUB_STOPPED:
                self.hub.end()
            case Kind.HUB_LOCKED:
                self.lock()
            case Kind.HUB_DISK_FULL:
                self.hub_disk.fill()
            case Kind.TABLE_DISK_FULL:
                self.tables_disk.fill()
            case Kind.BROKER_KILLED:
                self.broker.kill()
            case Kind.BROKER_STOPPED:
                self.broker.end()
            case Kind.BROKER_WIPED:
                self.broker.kill()
                self._broker_db.unlink(missing_ok=True)
            case Kind.BROKER_DAMAGED:
                self.broker.kill()
                damage(self._broker_db, fault.draw)
            case Kind.CLOCK_SET:
                who = sorted(self.clocks)[int(fault.draw * 997) % len(self.clocks)]
                self.clocks[who].set(STEPS_S[int(fault.draw * len(STEPS_S))])
            case Kind.REPEATED:
                self.witness.repeat(fault.draw)
            case _:
                self.proxy.set(_names(fault), _way(fault))

    def mend(self, fault: Fault) -> None:
        """Undo it."""
        match fault.kind:
            case Kind.TABLE_UNPLUGGED:
                self._power(fault.tables[0], on=True)
            case Kind.HUB_KILLED | Kind.HUB_STOPPED:
                self.hub.start()
            case Kind.HUB_RESTORED:
                self.restore_newest()
                self.hub.start()
            case Kind.HUB_LOCKED:
                self.unlock()
            case Kind.HUB_DISK_FULL:
                self.hub_disk.free()
            case Kind.TABLE_DISK_FULL:
                self.tables_disk.free()
            case Kind.BROKER_KILLED | Kind.BROKER_STOPPED | Kind.BROKER_WIPED:
                self.broker.start()
            case Kind.BROKER_DAMAGED:
                self._start_damaged_broker()
            case Kind.APP_KILLED | Kind.REPEATED | Kind.CLOCK_SET:
                pass
            case _:
                self.proxy.set(_names(fault), Way())

    def _start_damaged_broker(self) -> None:
        """This one reads what it had saved, as ours does not: where that ends it, somebody takes the file away."""
        self.broker.start()
        wait_until(lambda: answers(self.broker_port) or self.broker.pid is None)
        if self.broker.pid is None:
            self._broker_db.replace(self._broker_db.with_suffix(".damaged"))
            self.broker.start()

    def lock(self) -> None:
        """Let another program hold the database's write lock."""
        with suppress(sqlite3.Error):  # the hub is writing: as good a moment as any to leave it alone
            self._lock = sqlite3.connect(self.database, isolation_level=None, timeout=1.0)
            self._lock.execute("BEGIN IMMEDIATE")

    def unlock(self) -> None:
        """Let go of it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def restore_newest(self) -> None:
        """What an organiser does whose hub was lost: the newest backup in the place of the database."""
        backups = sorted((self.folder / "hub" / "backups").glob("*.sqlite3"))
        if backups:
            self.command("restore", str(backups[-1]))

    def _kill_app(self, table: int) -> None:
        mark = f"--device={device(table)}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):  # it has ended meanwhile
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    ours = f"--state-dir={self.folder}/tables/{device(table)}".encode()
                    if mark in words and ours in words:
                        os.kill(int(entry.name), signal.SIGKILL)

    def _power(self, table: int, *, on: bool) -> None:
        address = f"http://127.0.0.1:{self.timer_port}/tables/{table}/power"
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(address, json.dumps({"on": on}).encode(), head)
        with suppress(OSError):  # the tables' own fall is told at the end
            urllib.request.urlopen(request, timeout=30).close()

    # What can be seen ---------------------------------------------------------------------------

    def command(self, *words: str) -> str:
        """`timer-hub` with these words, as an organiser types it; what it says. It must succeed."""
        config = () if words[0] == "score" else ("--config", str(self.config))
        command = [*_PYTHON, "hub.cli", *words, *config]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"timer-hub {' '.join(words)}: {done.stderr}"
        return done.stdout

    def health(self) -> Mapping[str, Any] | None:
        """The hub's `/healthz`; None while it does not answer."""
        health: Mapping[str, Any] | None = self.get("/healthz")
        return health

    def get(self, path: str) -> Any:
        """An answer of the hub's API; None without one."""
        return _get(f"http://127.0.0.1:{self.web_port}{path}")

    def _screen(self, table: int) -> str:
        try:
            address = f"http://127.0.0.1:{self.timer_port}/tables/{table}/screen.txt"
            with urllib.request.urlopen(address, timeout=10) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    def load(self, lines: Sequence[str]) -> None:
        """Put a plan in the place of the one before."""
        path = self.folder / "plan.csv"
        path.write_text("heat,order,table,entrant,category,public_name\n" + "\n".join(lines) + "\n")
        self.command("load", str(path))

    def _plan(self) -> list[str]:
        return list(_plan(self.tables))

    def _write_settings(self) -> None:
        self.config.write_text(
            f'rulebook = "{RULEBOOK}"\ndata_dir = "{self.folder}/hub"\n'
            f"[web]\nport = {self.web_port}\n[broker]\nport = {self.proxy.port}\n"
        )
        (self.folder / "mosquitto.conf").write_text(
            f"listener {self.broker_port} 127.0.0.1\nuser root\nallow_anonymous true\nset_tcp_nodelay true\n"
            f"max_queued_messages 0\npersistence true\npersistence_location {self.folder}/\n"
            "autosave_interval 2\n"
        )


def damage(file: Path, draw: float) -> None:
    """What a power cut leaves of a file: zeros, a half, or nothing; `draw` from 0 to 1 says which."""
    if file.exists():
        size = file.stat().st_size
        how = int(draw * 3)
        file.write_bytes((bytes(size), file.read_bytes()[: size // 2], b"")[how])


def device(table: int) -> str:
    """The name of a table's timer."""
    return f"t{table:02}"


def entrant(heat: int, table: int) -> str:
    """Who plays on a table in a heat."""
    return f"e{heat:02}-{table:02}"


def _plan(tables: Sequence[int]) -> Iterator[str]:
    for heat in range(1, HEATS + 1):
        category = CATEGORIES[heat % len(CATEGORIES)]
        for table in tables:
            yield f"{heat},{heat},{table},{entrant(heat, table)},{category},Participante {heat}-{table}"


def _names(fault: Fault) -> list[str]:
    return [device(n) for n in fault.tables] + (["hub"] if fault.with_hub else [])


def _way(fault: Fault) -> Way:
    match fault.kind:
        case Kind.NET_CUT:
            return Way(open=False)
        case Kind.NET_SLOW:
            return Way(late_s=0.02 + 0.5 * fault.draw)
        case _:
            return Way(up=fault.kind is Kind.NET_DEAF, down=fault.kind is Kind.NET_MUTE)


def _get(address: str) -> Any:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None
