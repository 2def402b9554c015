"""Connections that ask nothing, or never finish asking: they take nobody's place and do not stay."""

from __future__ import annotations

import asyncio
import re
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from hub.people import TooManyTries
from hub.web.crowd import BURST, LEAST, MOST, RESERVE, Crowd
from hub.web.door import MOST_OF_ONE, MOST_UNKNOWN, Door
from hub.web.open_files import WANTED, room_for_files
from hub.web.server import Server
from tests.hub.web_live import a_day, serving
from tests.hub.web_office import ORGANISER, PASSWORD, Hall, a_run, hall, token_in

DEADLINE_S = 30.0
HALF = b"GET / HTTP/1.1\r\nHost: hub.example\r\n"
FORM = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
FORM += b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname="


@dataclass(eq=False)
class One:
    """A connection that is counted."""

    address: str
    waiting: bool = True
    ended: bool = field(default=False, init=False)

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hall]:
    with hall(tmp_path) as here:
        yield here


@contextmanager
def on_the_network(hub: Hall) -> Iterator[Server]:
    server = Server(hub.app, host="127.0.0.1", port=0)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def connect(server: Server, first: bytes = b"") -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", server.port), DEADLINE_S)
    if first:
        sock.sendall(first)
    return sock


def answer_of(sock: socket.socket) -> bytes:
    """All until it is closed."""
    told = b""
    while part := sock.recv(4096):
        told += part
    return told


def test_who_holds_1200_half_open_connections_silences_neither_pages_nor_tables(hub: Hall) -> None:
    hub.office.people.set_up(ORGANISER, PASSWORD)
    room_for_files()
    with on_the_network(hub) as server, ExitStack() as held:
        for _ in range(1_200):
            held.enter_context(closing(connect(server, HALF)))
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=DEADLINE_S) as browser:
            data = {"token": token_in(browser.get("/login").text), "name": ORGANISER, "secret": PASSWORD}
            assert browser.post("/login", data=data).status_code == 303
            assert browser.get("/organiser").status_code == 200
        hub.hears(a_run())
        assert sum(1 for _ in hub.store.events_in_order()) == 3


def test_the_oldest_that_says_nothing_makes_room_for_who_comes() -> None:
    crowd = Crowd(RESERVE + BURST + 100)
    asking, *silent = (One("192.168.1.20", waiting=number > 0) for number in range(crowd.most_of_one))
    assert all(crowd.takes(one) for one in (asking, *silent))
    new = One("192.168.1.20")
    assert crowd.takes(new)
    assert silent[0].ended
    assert not any(one.ended for one in (asking, new, *silent[1:]))
    assert len(crowd) == crowd.most_of_one


def test_who_has_most_makes_room_for_others() -> None:
    crowd = Crowd(RESERVE + BURST + 100)
    many = [One("192.168.1.66") for _ in range(crowd.most_of_one)]
    few = [One("192.168.1.20") for _ in range(crowd.most - crowd.most_of_one)]
    assert all(crowd.takes(one) for one in (*few, *many))
    assert crowd.takes(One("192.168.1.21"))
    assert [one.ended for one in many].index(True) == 0
    assert not any(one.ended for one in few)
    assert len(crowd) == crowd.most


def test_where_everybody_is_being_answered_who_comes_is_refused_in_words() -> None:
    crowd = Crowd(0)
    assert crowd.most == LEAST
    watching = [One("192.168.1.20", waiting=False) for _ in range(crowd.most_of_one)]
    assert all(crowd.takes(one) for one in watching)
    one = One("192.168.1.20")
    assert not crowd.takes(one)
    crowd.left(one)
    assert len(crowd) == crowd.most_of_one
    crowd.left(watching[0])
    assert crowd.takes(one)
    for each in (one, *watching):
        crowd.left(each)
    assert len(crowd) == 0


def test_files_are_left_for_broker_and_database_however_few_there_are() -> None:
    assert Crowd(1024).most + RESERVE + BURST <= 1024
    assert Crowd(WANTED).most == MOST


@pytest.mark.parametrize(("said", "told"), [(HALF, b"HTTP/1.1 408 "), (FORM, b"HTTP/1.1 408 "), (b"", b"")])
def test_a_request_that_does_not_come_whole_in_time_is_given_up(said: bytes, told: bytes) -> None:
    with serving(a_day(), request_s=0.3) as server, closing(connect(server, said)) as sock:
        assert answer_of(sock)[: len(told) or None] == told


def test_a_request_that_comes_letter_by_letter_is_given_up_too() -> None:
    with serving(a_day(), request_s=0.3) as server, closing(connect(server, b"GET / HTTP/1.1\r\n")) as sock:
        ended = threading.Event()

        def drip() -> None:
            while not ended.wait(0.05):
                try:
                    sock.sendall(b"X: y\r\n")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert sock.recv(4096).startswith(b"HTTP/1.1 408 ")
        finally:
            ended.set()
            dripping.join()


def test_a_stream_and_a_connection_that_is_used_again_outlive_the_time_for_a_request() -> None:
    live = a_day()
    with serving(live, request_s=0.3) as server, httpx.Client(timeout=DEADLINE_S) as browser:
        home = f"http://127.0.0.1:{server.port}"
        with browser.stream("GET", f"{home}/events") as stream:
            lines = stream.iter_lines()
            beats = 0
            while beats < 4:
                beats += next(lines) == "event: beat"
        for _ in range(3):
            assert browser.get(f"{home}/healthz").status_code == 200
            threading.Event().wait(0.2)


def test_broken_requests_are_refused_and_leave_no_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with serving(a_day()) as server, closing(connect(server, b"\x16\x03\x01 nonsense\r\n\r\n")) as sock:
        assert answer_of(sock).startswith(b"HTTP/1.1 400 ")
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be() -> None:
    script = (
        "import resource, sys\n"
        "from hub.web.open_files import room_for_files\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, int(sys.argv[1])))\n"
        "sys.stdout.write(f'{room_for_files(1000)} {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}')\n"
    )
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for most, held in ((hard, "1000 1000"), (500, "500 500")):
        ran = subprocess.run(
            [sys.executable, "-c", script, str(most)], capture_output=True, text=True, check=True
        )
        assert ran.stdout == held


def test_the_hubs_unit_has_room_for_as_many_files_as_the_hub_wants() -> None:
    unit = (Path(__file__).parents[2] / "systemd/hub/timer-hub.service").read_text()
    found = re.search(r"^LimitNOFILE=(\d+)$", unit, re.MULTILINE)
    assert found is not None
    assert int(found[1]) == WANTED


def test_tries_of_passwords_wait_in_lines_of_their_own_and_made_up_names_keep_nobody_out() -> None:
    async def flood() -> tuple[list[object], list[str]]:
        door, ran, may_go, tries = Door(), list[str](), threading.Event(), list[asyncio.Future[str]]()

        def slow() -> str:
            may_go.wait(DEADLINE_S)
            ran.append(threading.current_thread().name)
            return "in"

        async def ask(address: str, name: str | None, times: int) -> None:
            tries.extend(asyncio.ensure_future(door.ask(address, name, slow)) for _ in range(times))
            await asyncio.sleep(0)
            with pytest.raises(TooManyTries):
                await door.ask(address, name, slow)

        for number in range(MOST_UNKNOWN // MOST_OF_ONE):
            await ask(f"192.168.1.{number}", None, MOST_OF_ONE)
        with pytest.raises(TooManyTries):
            await door.ask("192.168.1.99", None, slow)
        await ask("192.168.1.0", "Luis", MOST_OF_ONE)
        await ask("192.168.1.0", "Marta", MOST_OF_ONE)
        await ask("192.168.1.99", "Marta", MOST_OF_ONE)
        may_go.set()
        told: list[object] = list(await asyncio.gather(*tries))
        tries.clear()
        assert await door.ask("192.168.1.0", None, slow) == "in"
        door.close()
        return told, ran

    told, ran = asyncio.run(flood())
    assert told == ["in"] * (MOST_UNKNOWN + 3 * MOST_OF_ONE)
    assert set(ran) == {"door_0"}
