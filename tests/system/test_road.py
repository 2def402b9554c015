"""The whole road from a table's journal to the hub's database, with everything on it failing."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from device.from_hub import LinkSettings
from device.journal import Journal
from device.link import Link
from hub.embedded_broker import EmbeddedBroker
from hub.ingest import Ingest, IngestSettings
from hub.store import Store
from shared.broker import Version
from shared.clock import HubClock
from shared.core.events import Event
from tests.brokers import Mosquitto, free_port
from tests.waiting import wait_until

QUICK = (0.05, 0.2)


class Broker(Protocol):
    """A broker that can go and come back, forgetting everything."""

    port: int

    def start(self) -> None: ...
    def stop(self) -> None: ...


class Table:
    """A table's journal and link."""

    def __init__(self, port: int, folder: Path, name: str, version: Version) -> None:
        folder.mkdir(exist_ok=True)
        self.name = name
        self.journal = Journal.open(folder, name, lambda: f"{name}-{os.urandom(4).hex()}")
        settings = LinkSettings("127.0.0.1", port, name, connack_s=1.0, retry_s=QUICK, versions=(version,))
        self.link = Link(settings, self.journal, folder, queue.SimpleQueue(), {"log": self.journal.log})

    def press(self, count: int) -> None:
        for _ in range(count):
            self.journal.append(
                "pause_started", boot="B", mono_ms=self.journal.last_seq, wall_ms=None, run=f"{self.name}-1"
            )
            self.link.journaled()

    def stop(self) -> None:
        self.link.stop()
        self.journal.close()


class Hub:
    """A hub's store and ingest."""

    def __init__(self, port: int, path: Path, version: Version) -> None:
        self.committed: list[Event] = []
        self.broken: list[BaseException] = []
        self.store = Store.open(path, lambda: 0)
        self.ingest = Ingest(
            IngestSettings("127.0.0.1", port, connack_s=1.0, retry_s=QUICK, versions=(version,)),
            self.store,
            HubClock(lambda: 0, "base"),
            on_committed=self.committed.extend,
            on_snapshot=lambda *_: None,
            on_broken=self.broken.append,
        )
        self.ingest.start()

    def stop(self) -> None:
        self.ingest.stop()
        self.store.close()
        assert self.broken == []


def mosquitto(folder: Path, version: Version) -> tuple[Broker, Callable[[], None]]:
    broker = Mosquitto(folder)
    return broker, broker.kill


def embedded(folder: Path, version: Version) -> tuple[Broker, Callable[[], None]]:
    ports = [free_port(), free_port()]
    broker = EmbeddedBroker(*ports)

    class Chosen:
        port = ports[0] if version is Version.V5 else ports[1]
        start = broker.start
        stop = broker.stop

    return Chosen(), broker.stop


def arrived(hub: Hub, at_least: int) -> bool:
    return len(hub.committed) >= at_least


@contextlib.contextmanager
def ended(*things: Table | Hub) -> Iterator[None]:
    try:
        yield
    finally:
        for thing in things:
            thing.stop()


@pytest.mark.parametrize("version", [Version.V5, Version.V311])
@pytest.mark.parametrize("kind", [mosquitto, embedded])
def test_a_broker_killed_and_restarted_in_the_stream_loses_repeats_and_reorders_nothing(
    tmp_path: Path,
    kind: Callable[[Path, Version], tuple[Broker, Callable[[], None]]],
    version: Version,
) -> None:
    """D03, D06."""
    broker, kill = kind(tmp_path, version)
    broker.start()
    hub = Hub(broker.port, tmp_path / "hub.db", version)
    tables = [Table(broker.port, tmp_path / name, name, version) for name in ("t01", "t02", "t03")]
    try:
        with ended(hub, *tables):
            for table in tables:
                table.link.start()
            for at_least in (20, 140, 260):
                for table in tables:
                    table.press(40)
                wait_until(partial(arrived, hub, at_least))
                kill()
                for table in tables:
                    table.press(10)
                broker.start()
            wait_until(lambda: all(table.link.unsent == 0 for table in tables))
            wait_until(lambda: len(hub.committed) == 3 * 3 * 50)
            for table in tables:
                assert [e for e in hub.committed if e.device == table.name] == table.journal.events()
            assert list(hub.store.events_in_order()) == hub.committed
            assert hub.ingest.counters.quarantined == 0
    finally:
        broker.stop()


def test_a_table_that_was_alone_for_long_delivers_everything_when_the_hub_comes(tmp_path: Path) -> None:
    """E08: broker and hub are switched on last."""
    broker = Mosquitto(tmp_path)
    table = Table(broker.port, tmp_path / "t01", "t01", Version.V5)
    table.link.start()
    table.press(500)
    assert table.link.unsent == 500
    broker.start()
    wait_until(lambda: table.link.connected)
    hub = Hub(broker.port, tmp_path / "hub.db", Version.V5)
    try:
        with ended(hub, table):
            wait_until(lambda: table.link.unsent == 0)
            assert list(hub.store.events_in_order()) == table.journal.events()
            assert table.link.hub_online
    finally:
        broker.stop()


def test_a_hub_restored_from_an_old_copy_gets_again_what_it_lacks(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    broker.start()
    table = Table(broker.port, tmp_path / "t01", "t01", Version.V5)
    table.link.start()
    table.press(5)
    first = Hub(broker.port, tmp_path / "hub.db", Version.V5)
    try:
        with ended(table):
            wait_until(lambda: table.link.unsent == 0)
            first.stop()
            (tmp_path / "copy.db").write_bytes((tmp_path / "hub.db").read_bytes())
            second = Hub(broker.port, tmp_path / "hub.db", Version.V5)
            table.press(30)
            wait_until(lambda: table.link.unsent == 0)
            second.stop()
            copy = Store.open(tmp_path / "copy.db", lambda: 0)
            copy.renew_epoch()
            copy.close()
            third = Hub(broker.port, tmp_path / "copy.db", Version.V5)
            with ended(third):
                wait_until(lambda: len(list(third.store.events_in_order())) == 35)
                assert list(third.store.events_in_order()) == table.journal.events()
    finally:
        broker.stop()
