"""The hub's MQTT side: one thread that commits what devices send, then acknowledges it, then tells the hub.

Long because it is one thread with one queue: all that it owns changes here and nowhere else.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from hub.arrivals import Incoming
from hub.store import Committed, Store, StoreTrouble
from shared import wire
from shared.broker import (
    RETRY_S,
    BrokerSettings,
    ClientBroken,
    Connected,
    Disconnected,
    PublishRefused,
    Received,
    Tls,
    Version,
    Will,
)
from shared.clock import HandClock, HubClock, WallClock, monotonic, wall_ms
from shared.core.events import HUB_DEVICE, Event
from shared.mqtt import MqttClient
from shared.topics import DEFAULT_BASE, Address, Direction, Topics
from shared.wire import Ack, BadPayload, EarlierClock, HubPresence, TimeAnswer, Unreadable

_BATCH: Final = 500
_BATCH_S: Final = 0.01
_FOREVER_S: Final = 0xFFFFFFFF
_RETRY_S: Final = (0.1, 5.0)
_GOODBYE_S: Final = 3.0
_DATABASE: Final = "database:"
_NOTHING: Final = Committed([], [], 0, 0, 0)

T = TypeVar("T")

Payloads = Mapping[str, Mapping[str, Any]]
OnCommitted = Callable[[list[Event]], None]
OnSnapshot = Callable[[str, str, dict[str, Any], float | None], None]


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Where the hub's broker is. Durations in seconds."""

    host: str
    port: int
    base: str = DEFAULT_BASE
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: Tls | None = None
    connack_s: float = 5.0
    retry_s: tuple[float, float] = RETRY_S
    versions: tuple[Version, ...] = (Version.V5, Version.V311)


@dataclass(frozen=True, slots=True)
class Counters:
    """What happened since the start; `trouble` is why events are not committed or not coming, or empty."""

    accepted: int = 0
    duplicates: int = 0
    gaps: int = 0
    quarantined: int = 0
    connected: bool = False
    last_commit_ms: int | None = None
    trouble: str = ""
    database: str = "ok"
    """How the database took the last thing: `ok`, or the code of its trouble."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A message to acknowledge in its turn, and what of it is to be stored."""

    received: Received
    incoming: Incoming | None


class _Wake:
    """Put in the queue to end the wait for messages."""


@dataclass(frozen=True, slots=True)
class _Archived:
    """Put in the queue: the logs that are archived, each with its last seq there."""

    logs: Mapping[str, int]


class Ingest:
    """Reads all devices; a message is acknowledged to the broker only when it is safe on disk."""

    def __init__(
        self,
        settings: IngestSettings,
        store: Store,
        clock: HubClock,
        *,
        on_committed: OnCommitted,
        on_snapshot: OnSnapshot,
        on_broken: Callable[[BaseException], None],
        standing: Callable[[], Payloads] = dict,
        earlier: Callable[[], tuple[EarlierClock, ...]] = tuple,
        hand: HandClock = monotonic,
        wall: WallClock = wall_ms,
    ) -> None:
        """All callbacks are called from this thread.

        `on_committed` gets new events in commit order. `on_snapshot` gets (device, "state" | "status" |
        "reply", payload, hand time of receipt), the time None for a retained copy, whose age nobody knows.
        `standing` is asked on each connect for what is retained, by topic; `earlier` for the clocks of the
        hub's boots before this one. `on_broken` hears of an error of ours, after which nothing is read any more.
        """
        self.topics = Topics(settings.base)
        self._store = store
        self._clock = clock
        self._on_committed = on_committed
        self._on_snapshot = on_snapshot
        self._on_broken = on_broken
        self._standing = standing
        self._earlier = earlier
        self._hand = hand
        self._wall = wall
        self._counters = Counters()
        self._reports: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._waiting: list[_Waiting] = []
        self._sessions: dict[str, int] = {}
        self._logs: dict[str, tuple[int, object]] = {}
        self._archived: Mapping[str, int] = {}
        self._deletable: dict[str, list[Ack]] = {}
        self._greeted = True
        self._retry_at_s = 0.0
        self._retry_s = _RETRY_S[0]
        self._stopping = threading.Event()
        self._client = MqttClient(
            BrokerSettings(
                settings.host,
                settings.port,
                HUB_DEVICE,
                username=settings.username,
                password=settings.password,
                tls=settings.tls,
                clean_start=False,
                session_expiry_s=_FOREVER_S,
                receive_maximum=_BATCH,
                manual_ack=True,
                connack_s=settings.connack_s,
                retry_s=settings.retry_s,
                versions=settings.versions,
            ),
            [(self.topics.every_up, 1), (self.topics.hub, 1)],
            self._reports,
            lambda: Will(self.topics.hub, self._presence(online=False)),
            hand,
        )
        self._thread = threading.Thread(target=self._run, name="ingest", daemon=True)

    @property
    def counters(self) -> Counters:
        """What happened so far; may be read from any thread."""
        return self._counters

    def alive(self) -> bool:
        """Whether messages are being read."""
        return self._thread.is_alive() and self._client.alive()

    def start(self) -> None:
        """Begin to connect and to read; returns at once."""
        self._thread.start()
        self._client.start()

    def stop(self) -> None:
        """Tell the tables that the hub goes, and end. What is not committed will be sent again."""
        self._stopping.set()
        self._reports.put(_Wake())
        if self._thread.ident is not None:
            self._thread.join(_GOODBYE_S)
        self._client.stop(_GOODBYE_S)

    def send(self, topic: str, payload: Mapping[str, Any], *, retain: bool) -> bool:
        """Publish any object with QoS 1; False, and nothing kept, without a connection."""
        return self._client.publish(topic, wire.object_payload(payload), 1, retain)

    def archived_are(self, logs: Mapping[str, int]) -> None:
        """These logs are archived up to these seqs: devices hear of it, now and when they connect."""
        self._reports.put(_Archived(logs))

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._collect()
                self._work_off()
            self._client.publish(self.topics.hub, self._presence(online=False), 1, retain=True)
        except Exception as error:  # noqa: BLE001 - a bug of ours: the owner must end the process
            self._count(trouble=f"ingest broken: {error!r}", connected=False)
            self._on_broken(error)

    def _collect(self) -> None:
        """Take what arrives within 10 ms of the first message; wait for it until there is something to retry."""
        end_s = self._retry_at_s if self._waiting or not self._greeted else None
        first = True
        while first or len(self._waiting) < _BATCH:
            try:
                timeout_s = None if end_s is None else max(0.0, end_s - self._hand())
                self._take(self._reports.get(timeout=timeout_s))
            except queue.Empty:
                return
            if first:
                first, end_s = False, self._hand() + _BATCH_S

    def _take(self, report: object) -> None:
        match report:
            case Received():
                self._receive(report)
            case Connected(conn):
                self._greeted = False
                # what came over an older connection comes again; keeping it would only pile it up
                self._waiting = [w for w in self._waiting if w.received.conn == conn]
                self._count(connected=True, trouble="")
            case Disconnected(reason):
                self._count(connected=False, trouble=f"broker: {reason}")
            case PublishRefused(reason):
                self._count(trouble=f"the broker refuses messages: {reason}")
            case ClientBroken(error):
                raise error
            case _Archived(logs):
                if logs != self._archived:
                    self._archived = logs
                    self._greeted = not self._counters.connected
            case _:
                pass

    def _receive(self, received: Received) -> None:
        address = self.topics.parse(received.topic)
        device = "" if address is None else address.device
        incoming: Incoming | None = None
        try:
            items = self._read(address, received)
        except BadPayload as error:
            items = [Unreadable(str(error), received.payload)]
        if items:
            incoming = Incoming(received.topic, device, items)
        if incoming is not None or received.qos:
            self._waiting.append(_Waiting(received, incoming))

    def _read(self, address: Address | None, received: Received) -> list[Event | Unreadable]:
        """What of a message is to be stored; all else is done here and now. Raises BadPayload."""
        payload = received.payload
        at_s = None if received.retain else received.at_s
        match address:
            case Address(device, Direction.UP, "event"):
                return wire.parse_batch(payload)
            case Address(device, Direction.UP, "time"):
                self._tell_time(device, wire.parse_time_question(payload), received.at_s)
            case Address(device, Direction.UP, "state" | "status" | "reply") if not payload:
                pass  # what was retained is cleared
            case Address(device, Direction.UP, "status"):
                status = wire.parse_status(payload)
                if self._is_news(device, status):
                    self._tell_deletable(device, status)
                    self._on_snapshot(device, "status", status, at_s)
            case Address(device, Direction.UP, ("state" | "reply") as kind):
                self._on_snapshot(device, kind, wire.parse_object(payload), at_s)
            case Address(_, Direction.ALL, "hub"):
                if payload and not wire.parse_hub_presence(payload).online:  # the will of an older connection
                    self._client.publish(self.topics.hub, self._presence(online=True), 1, retain=True)
            case _:
                raise BadPayload("unknown topic")
        return []

    def _is_news(self, device: str, status: Mapping[str, Any]) -> bool:
        """Whether a status is not the last will of an older connection than the newest."""
        if not status["online"] and status["session"] < self._sessions.get(device, 0):
            return False
        self._sessions[device] = status["session"]
        return True

    def _tell_deletable(self, device: str, status: Mapping[str, Any]) -> None:
        """To one that has come, or closed a log: the retained ack is of its newest log only."""
        seen = status["session"], status.get("log")
        if not status["online"] or self._logs.get(device) == seen:
            return
        self._logs[device] = seen
        for ack in self._deletable.get(device, ()):
            if ack.log != status.get("log"):
                self._client.publish(self.topics.down_ack(device), wire.ack_payload(ack), 1, retain=False)

    def _tell_time(self, device: str, t1_us: int, at_s: float) -> None:
        now_us = self._clock.now_us()
        waited_us = round((self._hand() - at_s) * 1_000_000)
        earlier, clock = self._earlier(), self._clock
        answer = TimeAnswer(t1_us, now_us - waited_us, clock.now_us(), clock.base, earlier)
        self._client.publish(self.topics.down_time(device), wire.time_answer_payload(answer), 0, retain=False)

    def _work_off(self) -> None:
        """Greet and commit what waits, unless the disk has to be left alone for a while."""
        if self._hand() >= self._retry_at_s and (self._greeted or self._greet()):
            while self._waiting and self._commit():
                pass

    def _greet(self) -> bool:
        """Say on a new connection all that is retained: a broker may have forgotten everything."""
        cursors = self._tried(self._store.cursors)
        standing = self._tried(self._standing)
        if cursors is None or standing is None:
            return False
        self._client.publish(self.topics.hub, self._presence(online=True), 1, retain=True)
        self._deletable = {}
        for cursor in cursors:
            if cursor.device != HUB_DEVICE:
                archived = self._archived.get(cursor.log, 0) >= cursor.last_seq
                ack = Ack(cursor.log, cursor.last_seq, self._store.epoch, archived=archived)
                self._acknowledge(cursor.device, ack)
                if archived:
                    self._deletable.setdefault(cursor.device, []).append(ack)
        for topic, payload in standing.items():
            self.send(topic, payload, retain=True)
        self._greeted = True
        return True

    def _commit(self) -> bool:
        """One transaction; then the broker's acks in order of arrival, the devices' acks, the hub."""
        batch = self._waiting[:_BATCH]
        messages = [waiting.incoming for waiting in batch if waiting.incoming is not None]
        committed = self._tried(lambda: self._store.append_batch(messages)) if messages else _NOTHING
        if committed is None:
            return False
        del self._waiting[: len(batch)]
        for waiting in batch:
            self._client.ack(waiting.received)
        for device, ack in committed.acks:
            self._acknowledge(device, ack)
        before = self._counters
        self._count(
            accepted=before.accepted + len(committed.accepted),
            duplicates=before.duplicates + committed.duplicates,
            gaps=before.gaps + committed.gaps,
            quarantined=before.quarantined + committed.quarantined,
            last_commit_ms=self._wall() if messages else before.last_commit_ms,
        )
        if committed.accepted:
            self._on_committed(committed.accepted)
        return True

    def _tried(self, call: Callable[[], T]) -> T | None:
        """What the database says, or None: its trouble is shown, and it is asked again ever more rarely."""
        try:
            result = call()
        except StoreTrouble as error:
            self._retry_at_s = self._hand() + self._retry_s
            self._retry_s = min(_RETRY_S[1], self._retry_s * 2)
            self._count(trouble=f"{_DATABASE} {error}", database=error.code)
            return None
        self._retry_s = _RETRY_S[0]
        if self._counters.database != "ok":
            trouble = "" if self._counters.trouble.startswith(_DATABASE) else self._counters.trouble
            self._count(trouble=trouble, database="ok")
        return result

    def _acknowledge(self, device: str, ack: Ack) -> None:
        self._client.publish(self.topics.down_ack(device), wire.ack_payload(ack), 1, retain=not ack.gap)

    def _presence(self, *, online: bool) -> bytes:
        return wire.hub_presence_payload(HubPresence(self._store.epoch, online))

    def _count(self, **changes: Any) -> None:
        self._counters = replace(self._counters, **changes)
