"""The demo: a broker, a hub and virtual tables on this machine, until Ctrl-C, which leaves nothing behind."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from hub.app import Hub, HubParts
from hub.demo_plan import CATEGORY, RULEBOOK, demo_plan
from hub.embedded_broker import EmbeddedBroker
from hub.ingest import IngestSettings
from hub.local_mosquitto import LocalMosquitto
from hub.store import Store
from shared.clock import wall_ms
from shared.rulebook import shipped_rulebook

LOOK_EVERY_S: Final = 1.0
NO_BROKER_S: Final = 3.0
"""A broker that was not found by then is told."""
_TABLES_START_S: Final = 60.0
_TABLES_STOP_S: Final = 8.0


class DemoFailed(RuntimeError):
    """The demo cannot go on; one sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the demo was asked for."""

    tables: int = 4
    port: int = 8000
    speed: float = 1.0
    autoplay: bool = False
    data: Path | None = None
    broker: str = "embedded"
    seed: int = 1
    language: str = "es"


class _Own(Protocol):
    """A broker that is ours to start."""

    port: int

    @property
    def running(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Reached:
    """The broker that is used, and its process where it is ours."""

    host: str
    port: int
    own: _Own | None = None

    def lost(self) -> bool:
        """Whether our broker has ended by itself."""
        return self.own is not None and not self.own.running

    def restart(self) -> None:
        """Start it again. Raises BrokerError."""
        if self.own is not None:
            self.own.stop()
            self.own.start()


def run_demo(options: DemoOptions, say: Callable[[str], None]) -> None:
    """Run until SIGINT or SIGTERM. Raises DemoFailed, BrokerError, CannotListen, StoreUnusable."""
    stopped = threading.Event()
    failures: list[str] = []

    def broken(error: BaseException | None) -> None:
        failures.append(f"the hub stopped by an error of its own: {error!r}")
        stopped.set()

    with ExitStack() as stack:
        stack.enter_context(_signals(stopped))
        for port in (options.port, options.port + 1):
            _free(port)
        folder = options.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="timer-demo-")))
        folder.mkdir(parents=True, exist_ok=True)
        broker = stack.enter_context(_broker(options.broker))
        host, broker_port = broker.host, broker.port
        _prepare(folder / "hub.sqlite3", options.tables)
        timers = f"http://127.0.0.1:{options.port + 1}"
        hub = Hub(
            HubParts(
                rulebook=shipped_rulebook(RULEBOOK),
                database=folder / "hub.sqlite3",
                broker=IngestSettings(host, broker_port),
                web_port=options.port,
                speed=options.speed,
                timer_pages=timers,
            ),
            broken,
        )
        hub.start()
        stack.callback(hub.stop)
        tables = stack.enter_context(_tables(options, folder, f"{host}:{broker_port}"))
        threading.Thread(target=_await_end, args=(tables, stopped, failures), daemon=True).start()
        say(f"standings   http://127.0.0.1:{options.port}/")
        say(f"tables      http://127.0.0.1:{options.port}/tables")
        say(f"timers      {timers}/   (press the buttons here)")
        say("Ctrl-C ends it.")
        unheard = NO_BROKER_S
        while not stopped.wait(LOOK_EVERY_S):
            if broker.lost():
                say("The broker ended; it is started again.")
                broker.restart()
            unheard -= LOOK_EVERY_S
            if 0 <= unheard < LOOK_EVERY_S and not hub.connected:
                say(f"No broker at {host}:{broker_port} yet; trying again and again.")
    if failures:
        raise DemoFailed(failures[0])


@contextmanager
def _signals(stopped: threading.Event) -> Iterator[None]:
    def end(_signal: int, _frame: object) -> None:
        stopped.set()

    before = {s: signal.signal(s, end) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            text = f"port {port} is taken; end what uses it, or choose another with --port (and the one after it)"
            raise DemoFailed(text) from error


def _any_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _broker(kind: str) -> Iterator[_Reached]:
    own: dict[str, Callable[[int], _Own]] = {"embedded": EmbeddedBroker, "mosquitto": LocalMosquitto}
    if kind not in own:
        host, _, port = kind.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise DemoFailed(f'--broker "{kind}": write embedded, mosquitto, or HOST:PORT')
        yield _Reached(host, int(port))
        return
    broker = own[kind](_any_port())
    broker.start()
    try:
        yield _Reached("127.0.0.1", broker.port, broker)
    finally:
        broker.stop()


def _prepare(database: Path, tables: int) -> None:
    """A plan for a fresh database; one that was kept with --data goes on as it was."""
    store = Store.open(database, wall_ms)
    try:
        if not store.plan_rows():
            store.replace_plan(demo_plan(tables))
        for table in range(1, tables + 1):
            store.set_seat(table, f"t{table:02}")
    finally:
        store.close()


@contextmanager
def _tables(options: DemoOptions, folder: Path, broker: str) -> Iterator[subprocess.Popen[str]]:
    """The virtual tables, in a process of their own that ends when we do: its standard input is our pipe."""
    command = [sys.executable, "-P", "-m", "device.cli", "simulate", "--until-eof"]
    command += ["--tables", str(options.tables), "--port", str(options.port + 1), "--hub", broker]
    command += ["--data", str(folder / "tables"), "--speed", str(options.speed), "--seed", str(options.seed)]
    command += ["--rulebook", RULEBOOK, "--category", CATEGORY]
    command += ["--language", options.language]
    command += ["--hub-page", f"http://127.0.0.1:{options.port}/"]
    if options.autoplay:
        command.append("--autoplay")
    tables = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        _await_ready(tables)
        yield tables
    finally:
        _end(tables)


def _await_ready(tables: subprocess.Popen[str]) -> None:
    assert tables.stdout is not None, "opened as a pipe"
    late = threading.Timer(_TABLES_START_S, tables.kill)
    late.start()
    try:
        line = tables.stdout.readline()
    finally:
        late.cancel()
    if not line.startswith("ready"):
        raise DemoFailed("the virtual tables did not start; what they said stands above")


def _await_end(tables: subprocess.Popen[str], stopped: threading.Event, failures: list[str]) -> None:
    code = tables.wait()
    if not stopped.is_set():
        failures.append(f"the virtual tables ended by themselves (exit code {code})")
        stopped.set()


def _end(tables: subprocess.Popen[str]) -> None:
    for pipe in (tables.stdin, tables.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        tables.wait(timeout=_TABLES_STOP_S)
    except subprocess.TimeoutExpired:
        tables.kill()
        tables.wait()
