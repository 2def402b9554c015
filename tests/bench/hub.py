"""How fast the hub takes events from MQTT to a durable commit, against a subscriber that only counts."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hub.ingest import Ingest, IngestSettings
from hub.store import Store
from shared import wire
from shared.broker import BrokerSettings, Connected, Received
from shared.clock import HubClock, monotonic, wall_ms
from shared.core.events import Event, EventType
from shared.mqtt import MqttClient
from shared.topics import Topics
from tests.bench.figures import Figure, figure
from tests.brokers import mosquitto

_DEVICES = 20
_PER_DEVICE = 1600
_BATCH = 16


def ingest(folder: Path, rounds: int = 3) -> list[Figure]:
    """Both sides in turn on one broker, the same messages, so that the machine's speed cancels out."""
    with mosquitto(folder, ("allow_anonymous true", "max_inflight_messages 1000")) as broker:
        counted, committed = [], []
        for n in range(rounds):
            counted.append(_rate(broker.port, f"c{n}", partial(_Counter, broker.port)))
            committed.append(_rate(broker.port, f"h{n}", partial(_Hub, broker.port, folder / f"h{n}.db")))
    ratio = sorted(a / b for a, b in zip(committed, counted, strict=True))[rounds // 2]
    return [
        figure("subscriber that only counts", "events/s", counted),
        figure("hub, MQTT to commit", "events/s", committed, ratio=ratio, against="the counting subscriber"),
    ]


def _rate(port: int, prefix: str, reader: Callable[[threading.Event], _Counter | _Hub]) -> float:
    done = threading.Event()
    reading = reader(done)
    try:
        reports: queue.SimpleQueue[object] = queue.SimpleQueue()
        sender = MqttClient(BrokerSettings("127.0.0.1", port, f"bench-{prefix}"), [], reports)
        sender.start()
        while not isinstance(reports.get(timeout=10), Connected):
            pass
        messages = list(_messages(prefix))
        began = time.perf_counter()
        for topic, payload in messages:
            sender.publish(topic, payload, 1, retain=False)
        if not done.wait(120):
            raise RuntimeError("not all events arrived")
        took = time.perf_counter() - began
        sender.stop()
        return _DEVICES * _PER_DEVICE / took
    finally:
        reading.stop()


def _messages(prefix: str) -> list[tuple[str, bytes]]:
    topics = Topics()
    out = []
    for first in range(1, _PER_DEVICE + 1, _BATCH):
        for d in range(_DEVICES):
            device = f"{prefix}-{d}"
            events = [
                Event(
                    device,
                    f"log-{device}",
                    seq,
                    EventType.PAUSE_STARTED,
                    "b",
                    seq * 1000,
                    None,
                    f"run-{device}",
                )
                for seq in range(first, first + _BATCH)
            ]
            out.append((topics.up_event(device), wire.batch_payload(events)))
    return out


class _Counter:
    """A subscriber that does nothing but count."""

    def __init__(self, port: int, done: threading.Event) -> None:
        self._reports: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._done = done
        self._client = MqttClient(
            BrokerSettings("127.0.0.1", port, "counter"), [(Topics().every_up, 1)], self._reports
        )
        self._client.start()
        while not isinstance(self._reports.get(timeout=10), Connected):
            pass
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        left = _DEVICES * _PER_DEVICE // _BATCH
        while left:
            if isinstance(self._reports.get(), Received):
                left -= 1
        self._done.set()

    def stop(self) -> None:
        self._client.stop()


class _Hub:
    """The hub's ingest on a fresh database."""

    def __init__(self, port: int, database: Path, done: threading.Event) -> None:
        self._store = Store.open(database, wall_ms)
        self._left = _DEVICES * _PER_DEVICE
        self._done = done
        self._ingest = Ingest(
            IngestSettings("127.0.0.1", port),
            self._store,
            HubClock(lambda: int(monotonic() * 1e6), "bench"),
            on_committed=self._committed,
            on_snapshot=lambda *_: None,
            on_broken=lambda error: None,  # noqa: ARG005
        )
        self._ingest.start()
        deadline = monotonic() + 10
        while not self._ingest.counters.connected and monotonic() < deadline:
            threading.Event().wait(0.01)

    def _committed(self, events: list[Event]) -> None:
        self._left -= len(events)
        if self._left <= 0:
            self._done.set()

    def stop(self) -> None:
        self._ingest.stop()
        self._store.close()
