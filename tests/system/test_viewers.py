"""A hall that looks at its phones: hundreds of viewers, some gone without a word, some that hardly read (F05)."""

from __future__ import annotations

import socket
import struct
import time
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path

from shared import wire
from shared.core.events import Event, EventType
from tests.mqtt_peer import Peer, quick_settings
from tests.system.hall import Hall, a_hall
from tests.system.test_hub_dies import PLAN, TOPICS, acked
from tests.waiting import wait_until

VIEWERS = 300
QUICK_S = 5.0
"""Generous for a busy machine; the page of a hub that waits for its viewers would never come."""
SLOW = 50
ASK = b"GET /events HTTP/1.1\r\nHost: hub\r\nAccept: text/event-stream\r\n\r\n"


def viewer(port: int) -> socket.socket:
    """Somebody who looks at the standings live, and reads nothing so far."""
    watching = socket.create_connection(("127.0.0.1", port), timeout=30)
    watching.sendall(ASK)
    return watching


def vanish(watching: socket.socket) -> None:
    """Gone, as a phone is that leaves the hall: no goodbye."""
    watching.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    watching.close()


def turned_away(port: int) -> bool:
    """Whether one more is told to come back, instead of being let in at the cost of others."""
    with viewer(port) as late:
        return late.recv(64).startswith(b"HTTP/1.1 503")


def threads(hall: Hall) -> int:
    return len(list(Path(f"/proc/{hall.hub.pid}/task").iterdir()))


def open_files(hall: Hall) -> int:
    return len(list(Path(f"/proc/{hall.hub.pid}/fd").iterdir()))


def streams(hall: Hall) -> int:
    """How many viewers are fed live."""
    return int((hall.health() or {"streams": {"standings": -1}})["streams"]["standings"])


def seconds_of_a_page(hall: Hall) -> float:
    began_s = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{hall.web_port}/tables", timeout=30) as answer:
        answer.read()
    return time.monotonic() - began_s


def test_three_hundred_viewers_hold_up_neither_organisers_nor_tables_and_leave_nothing(
    tmp_path: Path,
) -> None:
    with a_hall(tmp_path, tables=1) as hall, ExitStack() as stack:
        hall.load(PLAN[:1])
        hall.start_hub()
        table = Peer(quick_settings(hall.broker.port), TOPICS.down_ack("t01")).connected()
        stack.callback(table.client.stop)
        seconds_of_a_page(hall)
        before = (open_files(hall), threads(hall))
        viewers = [viewer(hall.web_port) for _ in range(VIEWERS)]
        slow = viewers[100 : 100 + SLOW]
        wait_until(lambda: streams(hall) == VIEWERS)
        assert turned_away(hall.web_port)
        for gone in viewers[:100]:
            vanish(gone)
        for seq in range(1, 6):
            event = Event("t01", "L", seq, EventType.PAUSE_STARTED, boot="B", mono_ms=seq, run="R")
            began_s = time.monotonic()
            table.send(TOPICS.up_event("t01"), wire.batch_payload([event]))
            for one in slow:
                assert one.recv(1) != b""
            while acked(table) < seq:
                pass
            assert time.monotonic() - began_s < QUICK_S
            assert seconds_of_a_page(hall) < QUICK_S
        for watching in viewers[100:]:
            with suppress(OSError):
                watching.close()
        wait_until(lambda: open_files(hall) <= before[0] + 2, 60.0)
        assert streams(hall) == 0
        assert threads(hall) <= before[1] + 40, "no thread for each viewer: only those of the pool"
