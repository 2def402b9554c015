"""The hub's MQTT side against a real broker and a real database."""

from __future__ import annotations

import json
import queue
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.ingest import Ingest, IngestSettings
from hub.store import Store
from shared import wire
from shared.broker import Received
from shared.clock import HubClock
from shared.core.events import Event, EventType
from shared.topics import Topics
from shared.wire import Ack, HubPresence
from tests.brokers import Mosquitto
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import GENEROUS_S, wait_until

TOPICS = Topics()
UP = TOPICS.up_event("t01")
ACK = TOPICS.down_ack("t01")


class Hub:
    """An ingest with what it told."""

    def __init__(self, port: int, path: Path) -> None:
        self.store = Store.open(path, lambda: 1_000, busy_ms=20)
        self.committed: queue.SimpleQueue[list[Event]] = queue.SimpleQueue()
        self.snapshots: queue.SimpleQueue[tuple[str, str, dict[str, Any], float | None]] = queue.SimpleQueue()
        self.broken: list[BaseException] = []
        self.standing: dict[str, dict[str, Any]] = {}
        self.ingest = Ingest(
            IngestSettings("127.0.0.1", port, connack_s=0.5, retry_s=(0.05, 0.2)),
            self.store,
            HubClock(lambda: time.monotonic_ns() // 1_000 + 5_000_000, "base"),
            on_committed=self.committed.put,
            on_snapshot=lambda *told: self.snapshots.put(told),
            on_broken=self.broken.append,
            standing=lambda: self.standing,
        )

    def start(self) -> Hub:
        self.ingest.start()
        wait_until(lambda: self.ingest.counters.connected)
        return self

    def stop(self) -> None:
        self.ingest.stop()
        self.store.close()
        assert self.broken == []


@pytest.fixture
def hub(broker: Mosquitto, tmp_path: Path) -> Iterator[Hub]:
    running = Hub(broker.port, tmp_path / "hub.db").start()
    yield running
    running.stop()


@pytest.fixture
def join(broker: Mosquitto) -> Iterator[Callable[..., Peer]]:
    peers: list[Peer] = []

    def make(*topics: str, name: str = "t01") -> Peer:
        peers.append(Peer(quick_settings(broker.port, name), *topics).connected())
        return peers[-1]

    yield make
    for peer in peers:
        peer.client.stop()


def event(seq: int, log: str = "L", device: str = "t01") -> Event:
    return Event(device, log, seq, EventType.PAUSE_STARTED, boot="B", mono_ms=seq, run="R")


def batch(*seqs: int) -> bytes:
    return wire.batch_payload([event(seq) for seq in seqs])


def acked(peer: Peer) -> Ack:
    return wire.parse_ack(peer.on(ACK))


def test_events_are_committed_acknowledged_and_told(hub: Hub, join: Callable[..., Peer]) -> None:
    table = join(ACK)
    table.send(UP, batch(1, 2))
    assert acked(table) == Ack("L", 2, hub.store.epoch)
    assert hub.committed.get(timeout=GENEROUS_S) == [event(1), event(2)]
    table.send(UP, batch(2, 3))
    assert acked(table) == Ack("L", 3, hub.store.epoch)
    assert hub.committed.get(timeout=GENEROUS_S) == [event(3)]
    counters = hub.ingest.counters
    assert (counters.accepted, counters.duplicates, counters.trouble) == (3, 1, "")
    assert counters.last_commit_ms


def test_an_ack_is_retained_and_a_gap_ack_is_not(hub: Hub, join: Callable[..., Peer]) -> None:
    table = join(ACK)
    table.send(UP, batch(1))
    assert not acked(table).gap
    table.send(UP, batch(3))
    assert acked(table) == Ack("L", 1, hub.store.epoch, gap=True)
    later = join(ACK, name="later")
    retained = later.until(Received)
    assert retained.retain
    assert wire.parse_ack(retained.payload) == Ack("L", 1, hub.store.epoch)
    assert hub.ingest.counters.gaps == 1


def spoiled(**fields: Any) -> bytes:
    return json.dumps({"events": [event(1).as_json() | fields]}).encode()


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        (UP, b"{broken"),
        (UP, b"\xff\xfe\xfd"),
        (UP, b""),
        (UP, b"x" * 1_000_000),
        (UP, b'{"events":7}'),
        (UP, spoiled(seq="1")),
        (UP, spoiled(mono_ms=[])),
        (UP, spoiled(v=2)),
        (UP, spoiled(device="t02")),
        (UP, spoiled(log="hub-forged")),
        (TOPICS.up_state("t01"), b"[]"),
        (TOPICS.up_status("t01"), b'{"online":1}'),
        (TOPICS.up_time("t01"), b"nonsense"),
        (TOPICS.hub, b"nonsense"),
        ("puzzle/1/t01/up/gossip", b"{}"),
        ("puzzle/1/MESA/up/event", b"{}"),
        ("puzzle/1/hub/up/event", b"{}"),
    ],
)
def test_what_cannot_be_read_is_kept_aside_and_nothing_stops(
    hub: Hub, join: Callable[..., Peer], topic: str, payload: bytes
) -> None:
    """D05."""
    table = join(ACK)
    table.send(topic, payload)
    wait_until(lambda: hub.ingest.counters.quarantined == 1)
    assert hub.store.quarantine_count() == 1
    cursors = {c.log: c.last_seq for c in hub.store.cursors()}
    table.send(UP, batch(cursors.get("L", 0) + 1))
    assert hub.committed.get(timeout=GENEROUS_S)


def test_snapshots_are_told_with_the_time_they_came_and_without_when_retained(
    broker: Mosquitto, tmp_path: Path, join: Callable[..., Peer]
) -> None:
    table = join()
    table.send(TOPICS.up_state("t01"), b'{"state":"ready"}', retain=True)
    hub = Hub(broker.port, tmp_path / "hub.db").start()
    try:
        assert hub.snapshots.get(timeout=GENEROUS_S) == ("t01", "state", {"state": "ready"}, None)
        before_s = time.monotonic()
        table.send(TOPICS.up_state("t01"), b'{"state":"running"}', retain=True)
        device, kind, payload, at_s = hub.snapshots.get(timeout=GENEROUS_S)
        assert (device, kind, payload) == ("t01", "state", {"state": "running"})
        assert at_s is not None
        assert before_s <= at_s <= time.monotonic()
        table.send(TOPICS.up_reply("t01"), b'{"id":"c1"}')
        assert hub.snapshots.get(timeout=GENEROUS_S)[:3] == ("t01", "reply", {"id": "c1"})
    finally:
        hub.stop()


def test_an_old_last_will_does_not_put_a_table_offline(hub: Hub, join: Callable[..., Peer]) -> None:
    """D11."""
    table = join()
    for online, session in [(True, 7), (False, 6), (False, 7), (True, 1)]:
        table.send(TOPICS.up_status("t01"), json.dumps({"online": online, "session": session}).encode())
    told = [hub.snapshots.get(timeout=GENEROUS_S)[2] for _ in range(3)]
    assert [(s["online"], s["session"]) for s in told] == [(True, 7), (False, 7), (True, 1)]


def test_a_question_for_the_time_is_answered_with_the_hubs_clock(hub: Hub, join: Callable[..., Peer]) -> None:
    table = join(TOPICS.down_time("t01"))
    before_us = time.monotonic_ns() // 1_000
    table.send(TOPICS.up_time("t01"), wire.time_question_payload(77))
    answer = wire.parse_time_answer(table.on(TOPICS.down_time("t01")))
    after_us = time.monotonic_ns() // 1_000
    assert (answer.t1_us, answer.base) == (77, "base")
    assert before_us - 1 <= answer.t2_us - 5_000_000 <= answer.t3_us - 5_000_000 <= after_us


def test_a_new_connection_tells_presence_acks_plans_and_standing_facts(
    broker: Mosquitto, tmp_path: Path, join: Callable[..., Peer]
) -> None:
    """D06: to a broker that has forgotten everything."""
    hub = Hub(broker.port, tmp_path / "hub.db")
    hub.standing = {TOPICS.down_plan("t01"): {"seat": 3}, TOPICS.start: {"id": "s1"}}
    hub.start()
    table = join("puzzle/1/#")
    table.send(UP, batch(1))
    assert acked(table).seq == 1
    broker.kill()
    broker.start()
    table.connected()
    seen: dict[str, Any] = {}
    wanted = {TOPICS.hub, ACK, TOPICS.down_plan("t01"), TOPICS.start}
    while set(seen) != wanted:
        received = table.until(Received)
        if received.topic in wanted:
            seen[received.topic] = json.loads(received.payload)
    epoch = hub.store.epoch
    assert seen[TOPICS.hub] == {"epoch": epoch, "online": True}
    assert seen[ACK] == {"log": "L", "seq": 1, "epoch": epoch}
    assert seen[TOPICS.down_plan("t01")] == {"seat": 3}
    assert seen[TOPICS.start] == {"id": "s1"}
    assert hub.ingest.send(TOPICS.down_plan("t01"), {"seat": 4}, retain=True)
    assert json.loads(table.on(TOPICS.down_plan("t01"))) == {"seat": 4}
    hub.stop()
    while wire.parse_hub_presence(table.on(TOPICS.hub)).online:
        pass


def test_a_table_hears_that_its_logs_are_archived_at_once_and_when_it_comes_or_closes_one(
    hub: Hub, join: Callable[..., Peer]
) -> None:
    def status(session: int, log: str) -> None:
        payload = wire.object_payload({"online": True, "session": session, "log": log})
        table.send(TOPICS.up_status("t01"), payload)

    table = join(ACK)
    table.send(UP, batch(1, 2))
    table.send(UP, wire.batch_payload([event(1, log="M")]))
    assert [acked(table).log, acked(table).log] == ["L", "M"]
    hub.ingest.archived_are({"L": 2, "M": 1, "other": 9})
    epoch = hub.store.epoch
    assert acked(table) == Ack("L", 2, epoch, archived=True)
    assert acked(table) == Ack("M", 1, epoch, archived=True)
    table.send(UP, wire.batch_payload([event(2, log="M")]))
    assert acked(table) == Ack("M", 2, epoch)  # the archive lacks it
    status(1, "M")
    assert acked(table) == Ack("L", 2, epoch, archived=True)
    status(1, "M")
    status(1, "N")
    assert [acked(table).log, acked(table).log] == ["L", "M"]
    later = join(ACK, name="later").until(Received)
    assert later.retain
    assert wire.parse_ack(later.payload) == Ack("M", 2, epoch)


def test_an_old_will_of_the_hub_is_contradicted(hub: Hub, join: Callable[..., Peer]) -> None:
    """D11."""
    table = join(TOPICS.hub)
    assert wire.parse_hub_presence(table.on(TOPICS.hub)).online
    table.send(TOPICS.hub, wire.hub_presence_payload(HubPresence("old", online=False)), retain=True)
    assert not wire.parse_hub_presence(table.on(TOPICS.hub)).online
    assert wire.parse_hub_presence(table.on(TOPICS.hub)) == HubPresence(hub.store.epoch, online=True)


def test_a_locked_database_holds_the_ack_back_and_is_shown_until_it_is_free(
    hub: Hub, tmp_path: Path, join: Callable[..., Peer]
) -> None:
    table = join(ACK)
    other = sqlite3.connect(tmp_path / "hub.db", isolation_level=None)
    other.execute("begin immediate")
    table.send(UP, batch(1))
    wait_until(lambda: "locked" in hub.ingest.counters.trouble)
    table.send(TOPICS.up_state("t01"), b'{"state":"ready"}')
    assert hub.snapshots.get(timeout=GENEROUS_S)[1] == "state"
    assert hub.ingest.counters.accepted == 0
    other.execute("rollback")
    other.close()
    assert acked(table) == Ack("L", 1, hub.store.epoch)
    wait_until(lambda: not hub.ingest.counters.trouble)


def test_a_message_not_committed_before_the_hub_ends_comes_again_to_the_next(
    broker: Mosquitto, tmp_path: Path, join: Callable[..., Peer]
) -> None:
    table = join(ACK)
    first = Hub(broker.port, tmp_path / "hub.db").start()
    other = sqlite3.connect(tmp_path / "hub.db", isolation_level=None)
    other.execute("begin immediate")
    table.send(UP, batch(1))
    wait_until(lambda: "locked" in first.ingest.counters.trouble)
    first.stop()
    other.execute("rollback")
    other.close()
    second = Hub(broker.port, tmp_path / "hub.db").start()
    assert acked(table).seq == 1
    second.stop()


def test_an_error_of_ours_is_told_to_the_owner(broker: Mosquitto, tmp_path: Path) -> None:
    hub = Hub(broker.port, tmp_path / "hub.db")
    hub.standing = {TOPICS.start: {"not": {"json"}}}
    hub.ingest.start()
    wait_until(lambda: hub.broken)
    wait_until(lambda: not hub.ingest.alive())
    assert "broken" in hub.ingest.counters.trouble
    hub.broken.clear()
    hub.stop()


def test_a_hub_without_a_broker_says_so(tmp_path: Path) -> None:
    missing = Mosquitto(tmp_path)
    hub = Hub(missing.port, tmp_path / "hub.db")
    hub.ingest.start()
    wait_until(lambda: "refused" in hub.ingest.counters.trouble)
    assert not hub.ingest.counters.connected
    assert not hub.ingest.send(TOPICS.down_plan("t01"), {}, retain=True)
    hub.stop()
