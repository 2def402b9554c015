"""The server: streams, their limits, its start and its end."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from hub.web.app import create_app
from hub.web.server import CannotListen, PortTaken, Server
from tests.hub.web_live import QUICK, FakeLive, a_day, line, nobodys_office, serving

DEADLINE_S = 20.0


class Reader:
    """Reads an event stream, event by event."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()

    def event(self) -> tuple[str, str]:
        """The next event's name and data."""
        name, data = "", list[str]()
        for text in self._lines:
            field, _, value = text.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
            elif text == "" and name:
                return name, "\n".join(data)
        raise EOFError("the stream ended")

    def snapshot(self) -> tuple[dict[str, Any], str]:
        """The next snapshot, over signs of life."""
        while True:
            name, data = self.event()
            if name == "snapshot":
                about, _, html = data.partition("\n")
                return json.loads(about), html


@contextmanager
def reading(server: Server, path: str = "/events") -> Iterator[Reader]:
    with httpx.stream("GET", f"http://127.0.0.1:{server.port}{path}", timeout=DEADLINE_S) as answer:
        yield Reader(answer)


def until(server: Server, streams: int) -> None:
    """Wait until that many spectators' streams are open."""
    ends = time.monotonic() + DEADLINE_S
    while time.monotonic() < ends:
        if httpx.get(f"http://127.0.0.1:{server.port}/healthz").json()["streams"]["standings"] == streams:
            return
    raise AssertionError(f"never {streams} streams")


def test_a_stream_begins_with_a_full_snapshot_and_gives_another_at_each_change() -> None:
    live = a_day()
    with serving(live) as server, reading(server) as stream:
        about, html = stream.snapshot()
        assert about["revision"] == 42
        assert "Nerea G." in html
        with live.change() as changed:
            changed.categories[0]["standings"][0]["name"] = "Nerea <b>Q.</b>"
        about, html = stream.snapshot()
        assert about["revision"] == 43
        assert "Nerea &lt;b&gt;Q.&lt;/b&gt;" in html
        assert "Parejas con escape" in html


def test_a_stream_may_not_be_buffered_or_kept() -> None:
    with serving(a_day()) as server, reading(server) as stream:
        assert stream.answer.headers["content-type"].startswith("text/event-stream")
        assert stream.answer.headers["x-accel-buffering"] == "no"
        assert stream.answer.headers["cache-control"] == "no-store"


def test_a_quiet_stream_gives_signs_of_life_with_the_revision() -> None:
    with serving(a_day()) as server, reading(server) as stream:
        stream.snapshot()
        assert [stream.event(), stream.event()] == [("beat", "42"), ("beat", "42")]


def test_a_stream_speaks_the_language_asked_for() -> None:
    with serving(a_day()) as server, reading(server, "/events?lang=en") as stream:
        assert "did not start" in stream.snapshot()[1]


def test_the_tables_have_a_stream_of_their_own() -> None:
    with serving(a_day()) as server, reading(server, "/tables/events") as stream:
        assert "¿completo? por aceptar" in stream.snapshot()[1]


def test_who_was_away_catches_up_with_one_full_snapshot() -> None:
    live = a_day()
    with serving(live) as server:
        with reading(server) as stream:
            stream.snapshot()
        for number in range(5):
            with live.change() as changed:
                changed.categories[2]["standings"].append(line(None, f"Pareja {number}", status="DNS"))
        with reading(server) as stream:
            about, html = stream.snapshot()
        assert about["revision"] == 47
        assert all(f"Pareja {number}" in html for number in range(5))


def test_a_burst_of_changes_from_many_threads_is_shown_in_few_snapshots_and_the_last_is_complete() -> None:
    live = a_day()
    with serving(live, replace(QUICK, settle_s=0.3)) as server, reading(server) as stream:
        stream.snapshot()
        asked_before = live.asked_standings

        def change() -> None:
            for _ in range(50):
                with live.change():
                    pass

        threads = [threading.Thread(target=change) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        about = {"revision": 0}
        while about["revision"] < 42 + 200:
            about, html = stream.snapshot()
        assert "revisión 242" in html
        assert live.asked_standings - asked_before < 50


def test_a_snapshot_is_rendered_once_for_all_who_watch() -> None:
    live = a_day()
    with serving(live) as server, ExitStack() as stack:
        streams = [stack.enter_context(reading(server)) for _ in range(12)]
        for stream in streams:
            stream.snapshot()
        assert live.asked_standings == 1


def test_who_comes_later_is_told_how_old_the_clocks_of_a_shared_snapshot_are() -> None:
    now_s = [100.0]
    with serving(a_day(), replace(QUICK, hand=lambda: now_s[0])) as server:
        with reading(server, "/tables/events") as stream:
            about, html = stream.snapshot()
            assert about["aged_ms"] == 0
        now_s[0] = 107.5
        with reading(server, "/tables/events") as stream:
            assert stream.snapshot() == ({**about, "aged_ms": 7500}, html)
        assert 'data-aged-ms="7500"' in httpx.get(f"http://127.0.0.1:{server.port}/tables").text


def test_streams_beyond_the_limit_are_turned_away_and_served_by_asking() -> None:
    with serving(a_day(), replace(QUICK, public_streams=2)) as server, ExitStack() as stack:
        streams = [stack.enter_context(reading(server)) for _ in range(2)]
        for stream in streams:
            stream.snapshot()
        with reading(server) as refused:
            assert refused.answer.status_code == 503
            assert refused.answer.headers["retry-after"] == "10"
        assert httpx.get(f"http://127.0.0.1:{server.port}/").status_code == 200
        assert "Nerea G." in httpx.get(f"http://127.0.0.1:{server.port}/events?once").text
        with reading(server, "/tables/events") as staff:
            staff.snapshot()


def test_a_place_is_free_again_when_its_page_is_gone() -> None:
    with serving(a_day(), replace(QUICK, public_streams=1)) as server:
        with reading(server) as stream:
            stream.snapshot()
            until(server, 1)
        until(server, 0)
        with reading(server) as stream:
            assert stream.answer.status_code == 200


def test_a_reader_that_takes_nothing_holds_nobody_up() -> None:
    live = a_day()
    live.categories[0]["standings"] += [line(None, f"Ausente {n}", status="DNS") for n in range(2000)]
    with serving(live) as server, socket.create_connection(("127.0.0.1", server.port)) as dead:
        dead.sendall(b"GET /events HTTP/1.1\r\nHost: hub\r\n\r\n")
        until(server, 1)
        with reading(server) as stream:
            stream.snapshot()
            for _ in range(10):
                with live.change():
                    pass
                revision = live.revision
                while stream.snapshot()[0]["revision"] < revision:
                    pass
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 4


def test_stopping_ends_open_streams_promptly_and_gives_the_port_back() -> None:
    live = a_day()
    with serving(live) as server, ExitStack() as stack:
        streams = [stack.enter_context(reading(server)) for _ in range(5)]
        for stream in streams:
            stream.snapshot()
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 2
        assert live.subscribers == 0
        for stream in streams:
            with pytest.raises(EOFError):
                stream.snapshot()
        with serving(live, port=server.port) as again, reading(again) as stream:
            stream.snapshot()


def test_a_change_told_after_the_end_harms_nobody() -> None:
    live = a_day()
    wakes = live._wakes
    with serving(live):
        wake = wakes[0]
    wake()


def test_a_taken_port_is_said_before_anything_starts() -> None:
    live, other = a_day(), FakeLive()
    with serving(live) as server:
        second = Server(create_app(other, nobodys_office()), host="127.0.0.1", port=server.port)
        threads_before = threading.active_count()
        with pytest.raises(PortTaken, match=f"port {server.port} .* is taken"):
            second.start()
        assert threading.active_count() == threads_before
        assert other.subscribers == 0
        second.stop()


def test_an_address_that_is_not_ours_is_said_in_words() -> None:
    with pytest.raises(CannotListen, match=r"cannot serve pages at 192\.0\.2\.1:8000"):
        Server(create_app(FakeLive(), nobodys_office()), host="192.0.2.1", port=8000).start()


def test_it_is_told_when_the_server_ends_by_itself_and_not_when_stopped() -> None:
    died = threading.Event()
    server = Server(
        create_app(a_day(), nobodys_office(), settings=QUICK), host="127.0.0.1", port=0, died=died.set
    )
    server.start()
    server._uvicorn.should_exit = True
    assert died.wait(DEADLINE_S)

    calm = threading.Event()
    with serving(a_day()) as stopped:
        stopped._died = calm.set
    assert not calm.is_set()
