"""A whole table with its threads and a real broker: what it tells of itself, and what becomes of its logs."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from device.app import App, Parts
from device.buttons import MockPins, open_factory
from device.debounce import Button
from device.fakes.bus import RecordedBus
from device.from_hub import LinkSettings
from device.journal import Journal
from device.panel import Panel
from device.table import Seat
from shared import wire
from shared.rulebook import shipped_rulebook
from shared.topics import Topics
from shared.wire import Ack
from tests.brokers import Mosquitto
from tests.device.test_storage import ROOT, may_mount
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import GENEROUS_S, wait_until

TOPICS = Topics()


@pytest.fixture
def hub(broker: Mosquitto) -> Iterator[Peer]:
    peer = Peer(quick_settings(broker.port, "hub"), TOPICS.every_up).connected()
    yield peer
    peer.client.stop(GENEROUS_S)


@contextmanager
def running(state_dir: Path, port: int, panel: Panel | None = None) -> Iterator[tuple[App, MockPins]]:
    factory = open_factory("mock")
    app = App(
        Parts(
            seat=Seat(7, (shipped_rulebook("castrillo-2023").categories["adulto"],)),
            link=LinkSettings("127.0.0.1", port, "t07"),
            state_dir=state_dir,
            boot="boot-1",
            pin_factory=factory,
            panel=panel,
            patience_with_full_s=0.0,
            allow_volatile=True,
        )
    )
    thread = threading.Thread(target=app.run)
    thread.start()
    try:
        yield app, MockPins(factory)
    finally:
        app.stop()
        thread.join()
        factory.close()


def closed_logs(state_dir: Path, events: int, *logs: str) -> None:
    """Logs of an earlier day, and an empty one after them."""
    names = iter([*logs, "newest"])
    journal = Journal.open(state_dir, "t07", lambda: next(names))
    for _ in logs:
        for n in range(events):
            journal.append("pause_started", boot="b", mono_ms=n, wall_ms=None, run="r")
        journal.begin_new_log()
    journal.close()


def problems(hub: Peer) -> list[dict[str, Any]]:
    """Of the next status."""
    health = json.loads(hub.on(TOPICS.up_status("t07")))["health"]
    return list(health.get("problems", []))


def test_noise_on_a_line_names_the_button(tmp_path: Path, broker: Mosquitto, hub: Peer) -> None:
    """B04: the hub hears of it."""
    with running(tmp_path / "state", broker.port) as (app, pins):
        for n in range(1, 6):
            pins.press(Button.PAUSE)
            pins.release(Button.PAUSE)
            wait_until(lambda count=n: app.table.noise[Button.PAUSE] >= count)  # type: ignore[misc]
        while (told := problems(hub)) == []:
            pass
        assert told == [{"code": "button_noisy", "button": "pause"}]


def test_a_display_that_is_gone_is_told_to_the_hub_with_why_and_so_is_its_return(
    tmp_path: Path, broker: Mosquitto, hub: Peer
) -> None:
    """C05: a state of the table, and no end of it."""
    bus = RecordedBus()
    bus.fail(errno.EREMOTEIO)
    with running(tmp_path / "state", broker.port, Panel("ssd1306", lambda: bus, back_off_s=(0.01,))):
        while "0x3C" not in (
            told := json.loads(hub.on(TOPICS.up_status("t07")))["health"].get("display", "")
        ):
            pass
        assert "0x3D" in told
        bus.mend()
        while json.loads(hub.on(TOPICS.up_status("t07")))["health"].get("display") != "ok":
            pass


def test_a_log_is_deleted_when_the_hub_has_archived_all_of_it(
    tmp_path: Path, broker: Mosquitto, hub: Peer
) -> None:
    state = tmp_path / "state"
    closed_logs(state, 2, "old", "middle")

    def ack(log: str, seq: int, *, archived: bool = False) -> None:
        hub.send(TOPICS.down_ack("t07"), wire.ack_payload(Ack(log, seq, "epoch", archived=archived)))

    with running(state, broker.port):
        hub.on(TOPICS.up_event("t07"))
        ack("old", 1, archived=True)
        ack("middle", 2)
        ack("old", 2, archived=True)
        wait_until(lambda: not (state / "old.journal").exists())
        assert (state / "middle.journal").exists(), "it is acknowledged, and no more"
    again = Journal.open(state, "t07", lambda: "never")
    assert again.earlier_logs() == ["middle"]
    again.close()


_ON_A_SMALL_DISK = """
import json, subprocess, sys
from pathlib import Path
from tests.device.test_app import closed_logs, running
from tests.waiting import wait_until
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4000k", "none", str(disk)], check=True)
closed_logs(disk, 2500, "first", "second", "unsent")
(disk / "delivery.json").write_text(json.dumps(
    [{"log": log, "seq": 2500, "epoch": "e"} for log in ("first", "second")]))
(disk / "reserve").unlink()
flood = disk / "flood"
try:
    flood.write_bytes(b"x" * 8_000_000)
except OSError:
    pass
import os
os.truncate(flood, flood.stat().st_size - 1_500_000)
with running(disk, 1) as (app, _):
    wait_until(lambda: not (disk / "first.journal").exists())
    wait_until(lambda: app._status["health"].get("storage") == "ok")
    codes = [(p["code"], p.get("log")) for p in app._status["health"]["problems"]]
assert codes[0] == ("log_deleted", "first"), codes
assert (disk / "unsent.journal").exists()
assert (disk / "reserve").exists()
"""


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
def test_below_the_reserve_the_oldest_log_that_the_hub_has_is_deleted_and_told(tmp_path: Path) -> None:
    """E06."""
    command = ["unshare", "--mount", sys.executable, "-c", _ON_A_SMALL_DISK, str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stderr
