"""What an organiser does when the hub is in trouble: `docs/hub-dies.md` walked, full disks, locks, damage."""

from __future__ import annotations

import html
import json
import os
import re
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared import wire
from shared.core.events import Event, EventType
from shared.topics import Topics
from tests.chaos.disks import may_mount
from tests.hub.web_office import PASSWORD, token_in
from tests.mqtt_peer import Peer, quick_settings
from tests.system.hall import Hall, a_hall
from tests.system.test_hall import finished, started
from tests.waiting import wait_until

DOCUMENT = Path(__file__).parents[2] / "docs" / "hub-dies.md"
PLAN = ["1,1,1,e1,adulto,Participante 1", "1,1,2,e2,adulto,Participante 2"]
TOPICS = Topics()


class Walk:
    """The commands of the document, one after the other, as somebody at the keyboard types them."""

    def __init__(self, hall: Hall) -> None:
        folder = hall.folder
        for name in ("bin", "usb", "media"):
            (folder / name).mkdir()
        shim = folder / "bin" / "timer-hub"
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m hub.cli "$@"\n')
        shim.chmod(0o755)
        self._environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        self._folder = folder
        blocks = re.findall(r"^```\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
        self.left: list[str] = [line for block in blocks for line in block.splitlines()]
        self._places = {
            "/etc/timer-hub/hub.toml": str(hall.config),
            "/media/usb/": f"{folder}/usb/",
            "/media/card/": f"{folder}/tables/t02/",
        }

    def next(self, begins: str) -> str:
        """The next command, which must begin so, in this machine's places."""
        line = self.left.pop(0).removeprefix("sudo ")  # all here is ours
        assert line.startswith(begins), line
        for place, here in self._places.items():
            line = line.replace(place, here)
        return line

    def type(self, begins: str) -> str:
        """Type the next command; it must succeed; what it says."""
        return self.typed(self.next(begins))

    def typed(self, line: str) -> str:
        """Type a command; it must succeed; what it says."""
        done = self.begin(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = done.communicate(timeout=120)
        assert done.returncode == 0, f"{line}: {err.decode()}"
        return str(out.decode())

    def begin(self, line: str, **more: Any) -> subprocess.Popen[bytes]:
        """Type a command that goes on."""
        command = ["bash", "-c", f"exec {line}"]
        return subprocess.Popen(command, cwd=self._folder, env=self._environment, **more)


@contextmanager
def running(walk: Walk, line: str) -> Iterator[subprocess.Popen[bytes]]:
    """A hub started by a command, for the length of a `with` block."""
    process = walk.begin(line, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
        process.kill()
        process.wait()


def lose(hall: Hall) -> None:
    """The machine of the hub is gone with everything on it."""
    for path in sorted((hall.folder / "hub").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def get(hall: Hall, path: str) -> tuple[int, str]:
    """Status and text of a page of the hub; 0 without an answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{hall.web_port}{path}", headers={"Accept-Language": "en"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return 200, str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def test_the_document_for_the_day_the_hub_dies_works_word_for_word(tmp_path: Path) -> None:
    """E07."""
    with a_hall(tmp_path, tables=2, speed=60) as hall:
        walk = Walk(hall)
        hall.load(PLAN)
        hall.start_hub()
        hall.start_tables()
        hall.until_screen(1, "Participante 1")
        hall.until_screen(2, "Participante 2")
        started(hall, 1)
        finished(hall, 1)
        hall.until_line("e1", marks=[])
        walk.type("timer-hub backup /media/usb/")
        started(hall, 2)  # after the backup
        finished(hall, 2)
        hall.until_line("e2", marks=[])
        before = hall.lines()

        hall.hub.kill()
        lose(hall)
        assert "planned runs" in walk.type("timer-hub restore")
        run = walk.next("timer-hub run")
        with running(walk, run):
            wait_until(lambda: hall.lines() == before)
            wait_until(lambda: all(t["online"] and t["unsent"] == 0 for t in hall.table_lines()))

        lose(hall)
        walk.type("timer-hub load plan.csv")
        with running(walk, run):
            wait_until(lambda: hall.lines() == before)

        lose(hall)
        hall.timers.stop()
        said = walk.type("timer-hub refill")
        assert re.search(r"t02 \S+: [1-9]\d* new", said)
        assert "Only a backup" in said
        assert re.search(r"t02 \S+: 0 new", walk.type("timer-hub refill --over-gaps"))
        walk.typed(f"timer-hub refill {hall.folder}/tables/t01/*.journal --config {hall.config}")

        walk.type("timer-hub archive")
        table = walk.type("timer-hub score")
        assert all(line["official"] in table for line in before.values())
        assert walk.left == []


@pytest.mark.parametrize("spoiled", ["damaged", "emptied", "gone"])
def test_a_hub_with_a_damaged_database_says_so_and_goes_on_by_itself_once_a_backup_is_restored(
    tmp_path: Path, spoiled: str
) -> None:
    """E07."""
    with a_hall(tmp_path, tables=1, speed=60) as hall:
        walk = Walk(hall)
        hall.load(PLAN[:1])
        hall.start_hub()
        hall.start_tables()
        hall.until_screen(1, "Participante 1")
        hall.command("backup")
        started(hall, 1)
        finished(hall, 1)
        hall.until_line("e1", marks=[])
        before = hall.lines()
        hall.hub.stop()
        database = hall.folder / "hub" / "hub.sqlite3"
        raw = database.read_bytes()
        if spoiled == "gone":
            database.unlink()
        else:
            database.write_bytes(raw[:2048] + os.urandom(len(raw) - 2048) if spoiled == "damaged" else b"")
        hall.hub.start()
        wait_until(lambda: get(hall, "/")[0] == 503)
        assert json.loads(get(hall, "/healthz")[1])["ok"] is False
        _, page = get(hall, "/")
        command = html.unescape(re.findall(r"<pre>(.*?)\n", page)[0])
        assert command.startswith("timer-hub restore")
        walk.typed(command)
        wait_until(lambda: hall.lines() == before)
        assert (hall.health() or {})["ok"]


def event(seq: int) -> Event:
    return Event(
        "t01", "L", seq, EventType.PAUSE_STARTED, boot="B", mono_ms=seq, run="R", data={"x": "y" * 500}
    )


def acked(table: Peer) -> int:
    return wire.parse_ack(table.on(TOPICS.down_ack("t01"))).seq


def trouble(hall: Hall, part: str) -> bool:
    """Whether the hub says of itself that it does not work, and why."""
    status, text = get(hall, "/healthz")
    return status == 503 and part in json.loads(text)["message"]


def send(table: Peer, *seqs: int) -> None:
    table.send(TOPICS.up_event("t01"), wire.batch_payload([event(seq) for seq in seqs]))


@contextmanager
def a_table(hall: Hall) -> Iterator[Peer]:
    """The other end of a table's link."""
    table = Peer(quick_settings(hall.broker.port), TOPICS.down_ack("t01")).connected()
    try:
        yield table
    finally:
        table.client.stop()


def test_forty_tables_that_finish_while_another_program_locks_the_database_are_all_committed_once(
    tmp_path: Path,
) -> None:
    """E05: meanwhile an organiser who edits is told to try again, and an export runs."""
    devices = [f"t{n:02}" for n in range(1, 41)]
    with a_hall(tmp_path, tables=1) as hall, httpx.Client(timeout=60) as organiser:
        hall.load(PLAN[:1])
        hall.command("password", "Marta", "--password", PASSWORD)
        hall.start_hub()
        organiser.base_url = httpx.URL(f"http://127.0.0.1:{hall.web_port}")
        assert filled_in(organiser, "/login", name="Marta", secret=PASSWORD).status_code == 303
        acks = [TOPICS.down_ack(device) for device in devices]
        tables = Peer(quick_settings(hall.broker.port), *acks).connected()
        try:
            other = sqlite3.connect(hall.folder / "hub" / "hub.sqlite3", isolation_level=None)
            other.execute("begin immediate")
            for device in devices:
                finish = Event(
                    device, f"L-{device}", 1, EventType.RUN_FINISHED, boot="B", mono_ms=1, run=device
                )
                tables.send(TOPICS.up_event(device), wire.batch_payload([finish]))
            wait_until(lambda: trouble(hall, "holds the hub's database"))
            assert get(hall, "/")[0] == 200, "people may still read"
            busy = filled_in(organiser, "/people", deed="let_in", name="Eva")
            assert (busy.status_code, "está ocupado" in busy.text) == (503, True)
            assert organiser.get("/audit.csv").status_code == 200
            assert "Otro programa tiene bloqueada" in organiser.get("/tables").text
            assert tables.reports.empty()
            other.close()
            for topic in acks:
                assert wire.parse_ack(tables.on(topic)).seq == 1
            wait_until(lambda: get(hall, "/healthz")[0] == 200)
            assert (hall.health() or {})["accepted"] == len(devices)
            assert "Eva" not in organiser.get("/people").text
            assert "Eva" in filled_in(organiser, "/people", deed="let_in", name="Eva").text
        finally:
            tables.client.stop()


def filled_in(browser: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """A form of a page, sent."""
    return browser.post(path, data={"token": token_in(browser.get(path).text), **fields})


@pytest.mark.skipif(not may_mount(), reason="no file system may be mounted here")
def test_while_the_disk_is_full_nothing_is_acknowledged_and_healthz_says_why(tmp_path: Path) -> None:
    """E06."""
    with a_hall(tmp_path, tables=1) as hall:
        hall.load(PLAN[:1])
        hall.hub.on_a_small_disk(hall.folder / "hub", "3m")
        hall.start_hub()
        # the mount is the hub's alone; its side of the file system can be reached through it
        ballast = Path(f"/proc/{hall.hub.pid}/root{hall.folder}/hub/ballast")
        with a_table(hall) as table:
            send(table, 1)
            assert acked(table) == 1
            with ballast.open("ab", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
            seq = 1
            while not trouble(hall, "disk is full"):
                seq += 16
                send(table, *range(seq - 15, seq + 1))
                with suppress(AssertionError):
                    wait_until(lambda: trouble(hall, "disk is full"), 1.0)
            wait_until(
                lambda: "\ndatabase: " in hall.hub.said.read_text()
            )  # and the log, to which the page sends
            ballast.unlink()
            wait_until(lambda: get(hall, "/healthz")[0] == 200)
            wait_until(lambda: acked(table) == seq)
            wait_until(lambda: hall.hub.said.read_text().endswith("backups are written again\n"))
