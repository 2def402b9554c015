"""The delivery thread of a table between a journal and a real broker.

Long because all of it is one thread with one queue, as what it tests.
"""

from __future__ import annotations

import ctypes
import json
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from device.from_hub import (
    CommandReceived,
    DeliveryProblem,
    LinkChanged,
    LinkSettings,
    LogArchived,
    PlanReceived,
    RulingsReceived,
    StartOrdered,
    TimeAnswered,
)
from device.link import Link
from device.progress import ProgressWatch
from shared import wire
from shared.broker import Connected, Received
from shared.core.events import Event, EventType
from shared.topics import Topics
from shared.wire import Ack, HubPresence, RunRulings, StartOrder, TimeAnswer
from tests.brokers import Mosquitto
from tests.builders import hub as hub_log
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import GENEROUS_S, wait_until

T = TypeVar("T")
TOPICS = Topics()
ORDER = StartOrder("s1", "1", 30_000, "base")
STATUS = {"serial": "1000", "versions": {"timer": "0.1.0"}, "log": "L", "boot": "B", "health": {}}


class Log:
    """A journal in memory."""

    def __init__(self, count: int = 0, log: str = "L", text: str = "") -> None:
        self.log = log
        self.events: list[Event] = []
        self.closed: list[list[Event]] = []
        for _ in range(count):
            self.append(text)

    @property
    def last_seq(self) -> int:
        return len(self.events)

    def read(self, from_seq: int, limit: int, log: str | None = None) -> list[Event]:
        events = [event for event in sum(self.closed, self.events) if event.log == (log or self.log)]
        return events[from_seq - 1 : from_seq - 1 + limit]

    def earlier(self) -> list[list[Event]]:
        return self.closed

    def begin(self, log: str) -> None:
        self.closed = [*self.closed, self.events]
        self.log, self.events = log, []

    def append(self, text: str = "") -> None:
        seq = self.last_seq + 1
        data = {"text": text} if text else {}
        self.events.append(
            Event("t01", self.log, seq, EventType.PAUSE_STARTED, boot="B", mono_ms=seq, run="R", data=data)
        )


class Table:
    """A link with its journal and the inbox of its controller."""

    def __init__(self, port: int, folder: Path, log: Log, patience_s: float = 30.0) -> None:
        self.log = log
        self.inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        settings = LinkSettings(
            "127.0.0.1", port, "t01", connack_s=0.5, retry_s=(0.05, 0.2), patience_s=patience_s
        )
        self.link = Link(settings, log, folder, self.inbox, STATUS)

    def until(self, kind: type[T]) -> T:
        while True:
            message = self.inbox.get(timeout=GENEROUS_S)
            if isinstance(message, kind):
                return message


@pytest.fixture
def hub(broker: Mosquitto) -> Iterator[Peer]:
    peer = Peer(quick_settings(broker.port, "hub"), TOPICS.every_up)
    peer.until(Connected)
    yield peer
    peer.client.stop()


Seat = Callable[..., Table]


@pytest.fixture
def seat(broker: Mosquitto, tmp_path: Path) -> Iterator[Seat]:
    tables: list[Table] = []

    def make(log: Log, patience_s: float = 30.0) -> Table:
        tables.append(Table(broker.port, tmp_path, log, patience_s))
        tables[-1].link.start()
        return tables[-1]

    yield make
    for table in tables:
        table.link.stop()


def batch(hub: Peer) -> list[int]:
    """The seqs of the next message of events."""
    return [item.seq or 0 for item in wire.parse_batch(hub.on(TOPICS.up_event("t01")))]


def ack(hub: Peer, seq: int, **more: Any) -> None:
    payload = wire.ack_payload(Ack("L", seq, more.pop("epoch", "e"), **more))
    hub.send(TOPICS.down_ack("t01"), payload, retain=not more.get("gap"))


def test_events_are_sent_in_windows_as_they_are_acknowledged(hub: Peer, seat: Seat) -> None:
    table = seat(Log(20))
    assert batch(hub) == list(range(1, 17))
    assert table.link.unsent == 20
    ack(hub, 16)
    assert batch(hub) == [17, 18, 19, 20]
    ack(hub, 20)
    wait_until(lambda: table.link.unsent == 0)
    table.log.append()
    table.link.journaled()
    assert batch(hub) == [21]
    assert table.link.unsent == 1


def test_a_gap_ack_makes_it_send_again(hub: Peer, seat: Seat) -> None:
    seat(Log(3))
    assert batch(hub) == [1, 2, 3]
    ack(hub, 1, gap=True)
    assert batch(hub) == [2, 3]


def test_silence_makes_it_send_again(hub: Peer, seat: Seat) -> None:
    seat(Log(1))
    assert [batch(hub), batch(hub)] == [[1], [1]]


def test_a_restored_hub_gets_again_what_it_lost(hub: Peer, seat: Seat) -> None:
    seat(Log(5))
    batch(hub)
    ack(hub, 5)
    ack(hub, 2, epoch="restored")
    assert batch(hub) == [3, 4, 5]


def test_large_events_are_spread_over_messages_that_can_be_read(hub: Peer, seat: Seat) -> None:
    seat(Log(16, text="x" * 20_000))
    seqs: list[int] = []
    while len(seqs) < 16:
        seqs += batch(hub)
    assert seqs == list(range(1, 17))


def test_an_event_no_message_can_hold_is_sent_as_missing(hub: Peer, seat: Seat) -> None:
    log = Log(1)
    log.append("x" * 70_000)
    log.append()
    seat(log)
    items: list[Event | wire.Unreadable] = []
    while len(items) < 3:
        items += wire.parse_batch(hub.on(TOPICS.up_event("t01")))
    missing = items[1]
    assert isinstance(missing, Event)
    assert (missing.seq, missing.type, missing.data) == (2, EventType.RECORDS_MISSING, {"to": 2})
    assert [item.seq for item in items] == [1, 2, 3]


def test_unsent_is_right_after_a_restart_without_a_network(
    hub: Peer, seat: Seat, tmp_path: Path, broker: Mosquitto
) -> None:
    table = seat(Log(5))
    batch(hub)
    ack(hub, 3)
    wait_until(lambda: table.link.unsent == 2)
    table.link.stop()
    broker.stop()
    again = Table(broker.port, tmp_path, table.log)
    assert again.link.unsent == 2
    another_card = Table(broker.port, tmp_path, Log(4, log="M"))
    assert another_card.link.unsent == 4
    again.link.stop()
    another_card.link.stop()


def test_a_new_log_is_sent_beside_what_is_left_of_the_old_one(hub: Peer, seat: Seat) -> None:
    table = seat(Log(18))
    assert batch(hub) == list(range(1, 17))
    table.log.begin("M")
    table.log.append()
    table.link.journaled()
    (event,) = wire.parse_batch(hub.on(TOPICS.up_event("t01")))
    assert (event.log, event.seq) == ("M", 1)
    assert table.link.unsent == 19
    ack(hub, 16)
    assert batch(hub) == [17, 18]
    ack(hub, 18)
    wait_until(lambda: table.link.unsent == 1)


def test_what_is_left_of_an_earlier_log_is_sent_after_a_restart_and_no_more_than_that(
    hub: Peer, seat: Seat
) -> None:
    table = seat(Log(3))
    batch(hub)
    ack(hub, 2)
    wait_until(lambda: table.link.unsent == 1)
    table.link.stop()
    table.log.begin("M")
    again = seat(table.log)
    assert again.link.unsent == 1
    assert batch(hub) == [3]
    ack(hub, 9)  # more than could be read of it: its end was in doubt
    wait_until(lambda: again.link.unsent == 0)


def test_a_hub_with_another_database_is_offered_everything_again(hub: Peer, seat: Seat) -> None:
    table = seat(Log(3))
    batch(hub)
    ack(hub, 3)
    wait_until(lambda: table.link.unsent == 0)
    hub.send(TOPICS.hub, wire.hub_presence_payload(HubPresence("restored", online=True)), retain=True)
    assert batch(hub) == [1, 2, 3]
    ack(hub, 3)  # retained from the old one
    ack(hub, 1, epoch="restored")
    wait_until(lambda: table.link.unsent == 2)


def test_an_ack_beyond_the_log_is_told_to_the_controller_once(hub: Peer, seat: Seat) -> None:
    table = seat(Log(1))
    batch(hub)
    ack(hub, 9)
    ack(hub, 9)
    assert table.until(DeliveryProblem).problem.code == "ack_beyond_log"
    ack(hub, 1)
    wait_until(lambda: table.link.unsent == 0)


def test_a_log_is_archived_when_it_was_closed_and_the_archive_holds_all_of_it(hub: Peer, seat: Seat) -> None:
    table = seat(Log(3))
    batch(hub)
    ack(hub, 3, archived=True)  # it may still grow
    wait_until(lambda: table.link.unsent == 0)
    table.log.begin("M")
    table.log.append()
    table.link.journaled()
    hub.until(Received, lambda received: b'"M"' in received.payload)
    ack(hub, 2, archived=True)
    ack(hub, 3, archived=True)
    hub.send(TOPICS.down_plan("t01"), b"{}")
    told: list[object] = []
    while not told or not isinstance(told[-1], PlanReceived):
        told.append(table.inbox.get(timeout=GENEROUS_S))
    assert [message for message in told if isinstance(message, LogArchived)] == [LogArchived("L")]


def test_status_tells_online_with_a_session_that_grows_and_offline_at_the_end(
    hub: Peer, seat: Seat, broker: Mosquitto
) -> None:
    """D11."""
    table = seat(Log())
    online = json.loads(hub.on(TOPICS.up_status("t01")))
    assert online == STATUS | {"online": True, "session": 1}
    broker.kill()
    broker.start()
    online = json.loads(hub.on(TOPICS.up_status("t01")))
    assert (online["online"], online["session"]) == (True, 2)
    table.link.stop()
    offline = json.loads(hub.on(TOPICS.up_status("t01")))
    assert (offline["online"], offline["session"]) == (False, 2)
    later = Peer(quick_settings(broker.port, "later"), TOPICS.up_status("t01"))
    retained = later.until(Received)
    assert retained.retain
    assert not json.loads(retained.payload)["online"]
    later.client.stop()


def test_the_newest_state_is_told_and_told_again_on_every_connect(
    hub: Peer, seat: Seat, broker: Mosquitto
) -> None:
    table = seat(Log())
    table.until(LinkChanged)
    table.link.publish_state({"state": "ready"})
    table.link.publish_state({"state": "running"})
    while json.loads(hub.on(TOPICS.up_state("t01"))) != {"state": "running"}:
        pass
    broker.kill()
    broker.start()
    assert json.loads(hub.on(TOPICS.up_state("t01"))) == {"state": "running"}


def test_what_the_hub_says_reaches_the_inbox(hub: Peer, seat: Seat) -> None:
    table = seat(Log())
    table.until(LinkChanged)
    hub.send(TOPICS.down_plan("t01"), b'{"seat":7}', retain=True)
    assert table.until(PlanReceived) == PlanReceived({"seat": 7})
    told = RunRulings("R", tuple(hub_log().disqualify("R").events))
    hub.send(TOPICS.down_rulings("t01"), wire.object_payload(told.as_json()), retain=True)
    assert table.until(RulingsReceived) == RulingsReceived(told)
    hub.send(TOPICS.start, wire.object_payload(ORDER.as_json()), retain=True)
    assert table.until(StartOrdered) == StartOrdered(ORDER)
    hub.send(TOPICS.down_command("t01"), b'{"id":"c1"}')
    assert table.until(CommandReceived) == CommandReceived({"id": "c1"})
    assert table.link.reply({"id": "c1", "ok": True})
    assert json.loads(hub.on(TOPICS.up_reply("t01"))) == {"id": "c1", "ok": True}


def test_a_command_that_was_retained_is_not_obeyed(hub: Peer, seat: Seat) -> None:
    """D07."""
    hub.send(TOPICS.down_command("t01"), b'{"id":"old"}', retain=True)
    table = seat(Log())
    table.until(LinkChanged)
    hub.send(TOPICS.down_command("t01"), b'{"id":"new"}')
    assert table.until(CommandReceived) == CommandReceived({"id": "new"})


def test_time_is_asked_and_the_answer_stamped(hub: Peer, seat: Seat) -> None:
    table = seat(Log())
    table.until(LinkChanged)
    assert table.link.ask_time(5)
    assert wire.parse_time_question(hub.on(TOPICS.up_time("t01"))) == 5
    answer = TimeAnswer(5, 100, 101, "base")
    hub.send(TOPICS.down_time("t01"), wire.time_answer_payload(answer))
    answered = table.until(TimeAnswered)
    assert answered.answer == answer
    assert answered.at_s > 0


def test_the_presence_of_the_hub_is_known_and_its_return_sends_again(hub: Peer, seat: Seat) -> None:
    table = seat(Log(1))
    table.until(LinkChanged)
    assert table.link.connected
    assert not table.link.hub_online
    assert batch(hub) == [1]
    hub.send(TOPICS.hub, wire.hub_presence_payload(HubPresence("e", online=False)), retain=True)
    table.until(LinkChanged)
    hub.send(TOPICS.hub, wire.hub_presence_payload(HubPresence("e", online=True)), retain=True)
    table.until(LinkChanged)
    wait_until(lambda: table.link.hub_online)
    assert batch(hub) == [1]


@pytest.mark.parametrize("payload", [b"nonsense", b"\xff", b"[" * 5000, b'{"seq":"x"}'])
def test_nonsense_from_the_hubs_side_is_counted_and_stops_nothing(
    hub: Peer, seat: Seat, payload: bytes
) -> None:
    """D05."""
    table = seat(Log(1))
    assert batch(hub) == [1]
    hub.send(TOPICS.down_ack("t01"), payload)
    hub.send(TOPICS.hub, payload)
    wait_until(lambda: table.link.refused_payloads == 2)
    assert "from the hub" in table.link.trouble
    hub.send(f"{TOPICS.base}/t01/down/unheard-of", payload)
    ack(hub, 1)
    wait_until(lambda: table.link.unsent == 0)


def test_a_host_that_comes_later_is_found_and_one_that_never_comes_is_no_obstacle(
    tmp_path: Path,
) -> None:
    later = Mosquitto(tmp_path)
    table = Table(later.port, tmp_path, Log(1))
    table.link.publish_state({"state": "ready"})
    table.link.start()
    wait_until(lambda: "refused" in table.link.trouble)
    assert not table.link.connected
    assert not table.link.reply({})
    later.start()
    table.until(LinkChanged)
    wait_until(lambda: table.link.connected)
    table.link.stop()
    later.stop()
    unknown = Link(
        LinkSettings("no-such-host.invalid", 1883, "t01"), Log(1), tmp_path, queue.SimpleQueue(), STATUS
    )
    unknown.start()
    assert unknown.unsent == 1
    unknown.stop()


def network_thread() -> threading.Thread:
    (found,) = [thread for thread in threading.enumerate() if thread.name == "mqtt-t01"]
    return found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_network_thread_that_dies_without_a_word_is_replaced_and_everything_arrives(
    hub: Peer, seat: Seat
) -> None:
    """D05."""
    hub.send(TOPICS.hub, wire.hub_presence_payload(HubPresence("e", True)), retain=True)
    table = seat(Log(1), patience_s=0.3)
    batch(hub)
    ack(hub, 1)
    wait_until(lambda: table.link.unsent == 0)
    died = network_thread()
    # what no except clause of ours or of paho's sees
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(died.ident or 0), ctypes.py_object(SystemExit))
    died.join(GENEROUS_S)
    assert not died.is_alive()
    assert table.link.connected, "nobody was told"
    table.log.append()
    table.link.journaled()
    assert batch(hub) == [2]
    ack(hub, 2)
    wait_until(lambda: table.link.unsent == 0)
    assert table.link.renewals >= 1


def test_a_hub_that_is_there_and_acknowledges_nothing_gets_a_new_connection_ever_more_rarely(
    hub: Peer, seat: Seat
) -> None:
    """D05."""
    hub.send(TOPICS.hub, wire.hub_presence_payload(HubPresence("e", True)), retain=True)
    table = seat(Log(1), patience_s=0.2)
    wait_until(lambda: table.link.renewals >= 2)
    wait_until(lambda: table.link.hub_online)
    ack(hub, 1)
    wait_until(lambda: table.link.unsent == 0)
    renewals = table.link.renewals
    for _ in range(3):  # nothing is unsent: however long it takes, all is well
        table.link.publish_state({"v": 1})
        hub.on(TOPICS.up_state("t01"))
    assert table.link.renewals == renewals


@pytest.mark.parametrize("online", [True, False])
def test_patience_is_for_acknowledgements_of_a_hub_that_is_there(online: bool) -> None:
    watch = ProgressWatch(30, 0)
    assert not watch.look(0, waiting=online, seen=0)
    assert not watch.look(29, waiting=online, seen=0)
    assert watch.look(31, waiting=online, seen=0) is online


def test_patience_doubles_up_to_ten_minutes_and_begins_anew_with_each_acknowledgement() -> None:
    watch = ProgressWatch(30, 0)
    watch.look(0, waiting=True, seen=0)
    renewed = [s for s in range(1, 3_600) if watch.look(s, waiting=True, seen=0)]
    assert renewed == [30, 90, 210, 450, 930, 1530, 2130, 2730, 3330]
    assert not watch.look(3_600, waiting=True, seen=1)
    assert watch.due_s() == 3_630
