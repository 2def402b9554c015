"""The delivery thread of a table: from the journal to the hub, and from the hub to the controller's inbox.

Long because it is one thread with one queue: all that it owns changes here and nowhere else.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from device.batch import covered, fitting
from device.delivery_files import CURSORS, Cursor, CursorFile, SessionFile
from device.from_hub import (
    CommandReceived,
    DeliveryProblem,
    Journal,
    LinkBroken,
    LinkChanged,
    LinkSettings,
    LogArchived,
    PlanReceived,
    RulingsReceived,
    StartOrdered,
    TimeAnswered,
)
from device.outbox import Outbox
from device.progress import ProgressWatch
from shared import wire
from shared.broker import (
    ClientBroken,
    Connected,
    Disconnected,
    PublishRefused,
    Received,
    Report,
    Will,
)
from shared.clock import HandClock, monotonic
from shared.core.model import Problem
from shared.mqtt import MqttClient
from shared.topics import Address, Direction, Topics
from shared.wire import BadPayload

_STATUS_EVERY_S: Final = 60.0
_CURSOR_EVERY_S: Final = 1.0
_JOURNAL_RETRY_S: Final = 2.0
_GOODBYE_S: Final = 2.0


class _Wake:
    """Put in the thread's queue to make it look around."""


class _StatusChanged:
    """Put in the thread's queue to tell the status again now."""


class _Gate:
    """Where one client reports to; what a client reports that was given up is told by its gate."""

    def __init__(self, events: queue.SimpleQueue[object]) -> None:
        self._events = events

    def put(self, item: Report, /) -> None:
        """Pass a report on."""
        self._events.put(_Reported(self, item))


@dataclass(frozen=True, slots=True)
class _Reported:
    """What a client reports."""

    gate: _Gate
    report: Report


@dataclass(frozen=True, slots=True)
class _Deleted:
    """This log was deleted: nothing of it can be sent again."""

    log: str


class Link:
    """Delivers the journal and fetches what the hub says, whether or not there is a broker or a hub."""

    def __init__(
        self,
        settings: LinkSettings,
        journal: Journal,
        state_dir: Path,
        inbox: queue.SimpleQueue[object],
        status: Mapping[str, object],
        clock: HandClock = monotonic,
    ) -> None:
        """`status` is read anew at each publication: serial, versions, log, boot, health.

        Raises ValueError for a device or base that cannot stand in a topic, OSError for TLS files
        and for earlier logs that cannot be read.
        """
        self._topics = Topics(settings.base)
        self._device = settings.device
        self._journal = journal
        self._inbox = inbox
        self._status = status
        self._clock = clock
        self._cursor_file = CursorFile(state_dir / CURSORS)
        self._session_file = SessionFile(state_dir / "session")
        self._session = 0
        self._saved = self._cursor_file.load()
        self._save_at_s = 0.0
        self._outbox = self._open_outbox(journal.log, journal.last_seq)
        #: Logs closed before, for what of them the hub does not have yet.
        self._earlier = [
            self._open_outbox(events[-1].log, covered(events[-1])) for events in journal.earlier() if events
        ]
        self._events: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._connected = False
        self._hub_online: bool | None = None  # None until the broker of this connection has said
        self._hub_epoch: str | None = None
        self._state: bytes | None = None
        self._state_told: bytes | None = None
        self._status_at_s = 0.0
        self._journal_at_s: float | None = None
        self._problem: Problem | None = None
        self.trouble = ""
        """Why delivery does not work as it should, in a clause for people; empty when it does."""
        self.refused_payloads = 0
        """Messages from the hub's side that were not what their topic promises."""
        self._settings = settings
        self._watch = ProgressWatch(settings.patience_s, clock())
        self.renewals = 0
        """How often the client was given up for a new one."""
        self._gate = _Gate(self._events)
        self._client = self._new_client()
        self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)

    @property
    def unsent(self) -> int:
        """Events the hub is not known to have; right offline too."""
        outbox, journal = self._outbox, self._journal
        here = (
            journal.last_seq - outbox.acked if outbox.log == journal.log else outbox.unsent + journal.last_seq
        )
        return max(0, here) + sum(earlier.unsent for earlier in self._earlier)

    @property
    def delivered_logs(self) -> tuple[str, ...]:
        """Logs closed before, oldest first, of which the hub has everything."""
        return tuple(earlier.log for earlier in self._earlier if not earlier.unsent)

    @property
    def connected(self) -> bool:
        """Whether there is a broker."""
        return self._connected

    @property
    def hub_online(self) -> bool:
        """Whether there is a broker, and a hub behind it."""
        return self._connected and self._hub_online is True

    def start(self) -> None:
        """Begin to deliver; returns at once, with or without a network."""
        self._thread.start()
        self._client.start()

    def stop(self) -> None:
        """Tell the hub that this table goes offline, and end; takes a few seconds at most."""
        self._stopping.set()
        self._events.put(_Wake())
        if self._thread.ident is not None:
            self._thread.join(_GOODBYE_S)
        self._client.stop(_GOODBYE_S)

    def journaled(self) -> None:
        """Something was appended to the journal."""
        self._events.put(_Wake())

    def status_changed(self) -> None:
        """The status says something new: it is told now, not only in its turn."""
        self._events.put(_StatusChanged())

    def deleted(self, log: str) -> None:
        """A log closed before is no more."""
        self._events.put(_Deleted(log))

    def publish_state(self, snapshot: Mapping[str, Any]) -> None:
        """What the table shows now; only the newest is sent, again on every connect.

        Raises ValueError for a snapshot that is too large for a message.
        """
        self._state = wire.object_payload(snapshot)
        self._events.put(_Wake())

    def reply(self, answer: Mapping[str, Any]) -> bool:
        """Answer a command; False, and nothing kept, without a connection."""
        payload = wire.object_payload(answer)
        return self._client.publish(self._topics.up_reply(self._device), payload, 1, retain=False)

    def refuses(self, what: str, error: BadPayload) -> None:
        """Something from the hub's side was not what its topic promises."""
        self.refused_payloads += 1
        self.trouble = f"{what} from the hub: {error}"

    def ask_time(self, t1_us: int) -> bool:
        """Ask the hub for its time; `TimeAnswered` follows, or nothing."""
        payload = wire.time_question_payload(t1_us)
        return self._client.publish(self._topics.up_time(self._device), payload, 0, retain=False)

    def _new_client(self) -> MqttClient:
        settings = self._settings
        return MqttClient(
            settings.broker(),
            [(self._topics.every_down(settings.device), 1), (self._topics.every_all, 1)],
            self._gate,
            self._next_will,
            self._clock,
        )

    def _watch_client(self) -> None:
        """A client whose thread has died or hangs, or whose broker passes nothing on, is given up for a new one."""
        unsent = any(outbox.unsent for outbox in self._outboxes())
        waiting = not self._client.alive() or (self.hub_online and unsent)
        seen = [(outbox.log, outbox.acked) for outbox in self._outboxes()]
        if not self._watch.look(self._clock(), waiting=waiting, seen=seen):
            return
        self._gate = _Gate(self._events)
        self._client.stop(_GOODBYE_S)  # one that hangs is left alone with itself
        self._gone("nothing is acknowledged: connecting anew")
        if not self._stopping.is_set():
            self.renewals += 1
            self._client = self._new_client()
            self._client.start()

    def _gone(self, reason: str) -> None:
        """There is no connection any more."""
        self.trouble = reason
        for outbox in self._outboxes():
            outbox.disconnected()
        if self._connected:
            self._connected, self._hub_online, self._hub_epoch = False, None, None
            self._inbox.put(LinkChanged())

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._take(self._next_event())
                self._watch_client()
                self._deliver()
            self._say_goodbye()
        except Exception as error:  # noqa: BLE001 - a bug of ours: the controller must end the process
            self._connected = False
            self._inbox.put(LinkBroken(error))

    def _next_event(self) -> object:
        wake_s = [self._watch.due_s()]
        wake_s += [self._status_at_s] if self._connected else []
        wake_s += [self._save_at_s] if self._cursors() != self._saved else []
        resend_s = [outbox.wake_at_s() for outbox in self._outboxes()]
        wake_s += [at_s for at_s in (*resend_s, self._journal_at_s) if at_s is not None]
        try:
            return self._events.get(timeout=max(0.0, min(wake_s) - self._clock()))
        except queue.Empty:
            return _Wake()

    def _take(self, event: object) -> None:
        if isinstance(event, _Reported):
            if event.gate is not self._gate:
                return  # a client that was given up
            event = event.report
        match event:
            case Connected():
                self._connected, self.trouble = True, ""
                self._state_told = None
                self._status_at_s = self._clock()
                self._start_again()
                self._inbox.put(LinkChanged())
            case Disconnected(reason):
                self._gone(reason)
            case _StatusChanged():
                self._status_at_s = self._clock()
            case _Deleted(log):
                self._earlier = [earlier for earlier in self._earlier if earlier.log != log]
            case PublishRefused(reason):
                self.trouble = f"the broker refuses messages: {reason}"
            case Received():
                self._judge(event)
            case ClientBroken(error):
                raise error
            case _:
                pass

    def _judge(self, received: Received) -> None:
        address = self._topics.parse(received.topic)
        if address is None or not received.payload:  # an empty one clears what was retained
            return
        try:
            self._hear(address, received)
        except BadPayload as error:
            self.refuses(address.name, error)

    def _hear(self, address: Address, received: Received) -> None:
        match (address.direction, address.name):
            case (Direction.DOWN, "ack"):
                self._acknowledged(wire.parse_ack(received.payload))
            case (Direction.DOWN, "plan"):
                self._inbox.put(PlanReceived(wire.parse_object(received.payload)))
            case (Direction.DOWN, "rulings"):
                self._inbox.put(RulingsReceived(wire.parse_rulings(received.payload)))
            case (Direction.DOWN, "command") if not received.retain:
                self._inbox.put(CommandReceived(wire.parse_object(received.payload)))
            case (Direction.DOWN, "time"):
                self._inbox.put(TimeAnswered(wire.parse_time_answer(received.payload), received.at_s))
            case (Direction.ALL, "start"):
                self._inbox.put(StartOrdered(wire.parse_start_order(received.payload)))
            case (Direction.ALL, "hub"):
                self._hub_is(wire.parse_hub_presence(received.payload), is_news=not received.retain)
            case _:
                pass

    def _hub_is(self, presence: wire.HubPresence, *, is_news: bool) -> None:
        self._hub_epoch = presence.epoch
        for outbox in self._outboxes():
            outbox.hub_is(presence.epoch, self._clock())
        if presence.online and is_news:  # it has just come: what was sent before may be lost
            self._start_again()
        if presence.online is not self._hub_online:
            self._hub_online = presence.online
            self._inbox.put(LinkChanged())

    def _acknowledged(self, ack: wire.Ack) -> None:
        if self._hub_epoch not in (None, ack.epoch):
            return  # retained from a database that is no more
        for earlier in self._earlier:
            # of a log that was closed for a doubtful end the hub may have more than can be read now
            earlier.acknowledged(replace(ack, seq=min(ack.seq, earlier.last_seq)), self._clock())
        if ack.log == self._outbox.log:
            problem = self._outbox.acknowledged(ack, self._clock())
            if problem is not None and problem != self._problem:
                self._inbox.put(DeliveryProblem(problem))
            self._problem = problem
        if ack.archived and any(e.log == ack.log and e.last_seq <= ack.seq for e in self._earlier):
            self._inbox.put(LogArchived(ack.log))

    def _start_again(self) -> None:
        for outbox in self._outboxes():
            outbox.connected(self._clock())

    def _outboxes(self) -> list[Outbox]:
        return [self._outbox, *self._earlier]

    def _deliver(self) -> None:
        if self._journal.log != self._outbox.log:
            self._earlier = [*self._earlier, self._outbox]
            self._outbox = self._open_outbox(self._journal.log, self._journal.last_seq)
            if self._connected:
                self._outbox.connected(self._clock())
        self._outbox.appended(self._journal.last_seq)
        self._journal_at_s = None
        for outbox in self._outboxes():
            self._send_events(outbox)
        if self._connected:
            self._send_state_and_status()
        self._save_cursors()

    def _send_events(self, outbox: Outbox) -> None:
        while True:
            now_s = self._clock()
            first, count = outbox.due(now_s)
            if not count:
                return
            try:
                events = self._journal.read(first, count, outbox.log)
            except OSError as error:
                self.trouble = f"the journal cannot be read: {error}"
                self._journal_at_s = now_s + _JOURNAL_RETRY_S
                return
            if not events:
                return
            events, payload = fitting(events)
            if not self._client.publish(self._topics.up_event(self._device), payload, 1, retain=False):
                return
            outbox.sent(covered(events[-1]), now_s)

    def _send_state_and_status(self) -> None:
        state = self._state
        if state is not None and state is not self._state_told:
            self._client.publish(self._topics.up_state(self._device), state, 0, retain=True)
            self._state_told = state
        if self._clock() >= self._status_at_s:
            self._status_at_s = self._clock() + _STATUS_EVERY_S
            self._publish_status(online=True)

    def _publish_status(self, *, online: bool) -> None:
        topic = self._topics.up_status(self._device)
        self._client.publish(topic, self._status_payload(online=online), 1, retain=True)

    def _status_payload(self, *, online: bool) -> bytes:
        return wire.object_payload({**self._status, "online": online, "session": self._session})

    def _next_will(self) -> Will:
        self._session = self._session_file.advance()
        return Will(self._topics.up_status(self._device), self._status_payload(online=False))

    def _say_goodbye(self) -> None:
        self._save_at_s = 0.0
        self._save_cursors()
        if self._connected:
            self._publish_status(online=False)
            self._connected = False

    def _open_outbox(self, log: str, last_seq: int) -> Outbox:
        saved = self._saved.get(log)
        return Outbox(log, last_seq) if saved is None else Outbox(log, last_seq, saved.seq, saved.epoch)

    def _cursors(self) -> dict[str, Cursor]:
        return {o.log: Cursor(o.log, o.acked, o.epoch) for o in self._outboxes() if o.epoch is not None}

    def _save_cursors(self) -> None:
        cursors = self._cursors()
        if cursors == self._saved or self._clock() < self._save_at_s:
            return
        self._save_at_s = self._clock() + _CURSOR_EVERY_S
        try:
            self._cursor_file.save(cursors.values())
        except OSError as error:
            self.trouble = f"the delivery cursors cannot be saved: {error}"
        else:
            self._saved = cursors
