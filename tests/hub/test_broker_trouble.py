"""The shipped broker and its tables when files, clocks and connections are broken, on a real mosquitto."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from device.from_hub import LinkSettings
from device.journal import Journal
from device.link import Link
from hub.broker_files import CERTIFIED_NAME, BrokerFolder
from hub.certificates import make_ca
from shared import wire
from shared.broker import Connected, Received, Tls
from shared.clock import monotonic, wall_ms
from shared.topics import Topics
from shared.wire import Ack, HubPresence
from tests.chaos.arena import damage
from tests.chaos.disks import may_mount, own_mounts
from tests.chaos.stepclock import StepClock, can_step
from tests.hub.test_provision import HUB_PASSWORD, Broker, Client, hub
from tests.waiting import wait_until

TOPICS = Topics()
TABLE = "t01-aaaa"
PASSWORD = f"password of {TABLE}"
UP_S = 30.0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "broker")
    broker.files.set_password(TABLE, PASSWORD)
    yield broker
    broker.stop()


# The broker's own files ------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [0.0, 0.4, 0.9], ids=["zeros", "half", "nothing"])
def test_a_broker_whose_saved_file_a_power_cut_broke_is_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: float
) -> None:
    """D06: it reads none; hub and tables say again what counts."""
    broker = Broker(tmp_path / "broker")
    monkeypatch.chdir(broker.files.folder)
    saved = broker.files.folder / "mosquitto.db"
    saved.write_bytes(os.urandom(30_000))
    damage(saved, draw)
    began_s = monotonic()
    broker.start()
    assert monotonic() - began_s < UP_S
    with Client(hub(broker), "puzzle/1/+/up/+") as ours:
        assert ours.next(Connected)
    broker.stop()


@pytest.mark.skipif(not may_mount(), reason="no file system may be mounted here")
def test_a_broker_on_a_disk_without_a_free_byte_is_up_all_the_same(tmp_path: Path) -> None:
    """D06."""
    disk = tmp_path / "broker"
    disk.mkdir()
    script = """
import subprocess, sys
from pathlib import Path
from shared.broker import Connected
from tests.hub.test_provision import Broker, Client, hub
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
broker = Broker(disk)
try:
    with (disk / "ballast").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))
except OSError:
    pass
broker.start()
with Client(hub(broker), "puzzle/1/+/up/+") as ours:
    ours.next(Connected)
broker.stop()
"""
    command = [*own_mounts(), sys.executable, "-c", script, str(disk)]
    subprocess.run(command, check=True, timeout=60, cwd=Path(__file__).parents[2])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_passwords_and_rules_belong_to_the_brokers_user_whenever_they_are_written(tmp_path: Path) -> None:
    """D09: later versions of mosquitto take no others."""
    folder = tmp_path / "broker"
    folder.mkdir()
    os.chown(folder, 0, 1)  # the group of a user of the same name, on any Debian: daemon
    files = BrokerFolder(folder)
    files.set_up("puzzle/1", HUB_PASSWORD)
    files.set_password(TABLE, PASSWORD)
    for name in ("passwd", "acl", "server.key"):
        found = (folder / name).stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (1, 1, 0o640), name
    assert (folder / "ca.key").stat().st_uid == 0, "the broker has no business with it"


# Clocks ----------------------------------------------------------------------------------------------


def seconds_ahead(year: int) -> float:
    return datetime(year, 1, 1, 0, 0, 30, tzinfo=UTC).timestamp() - wall_ms() / 1000


_CONNECTS = """
import queue, sys, time
from pathlib import Path
from shared.broker import BrokerSettings, Connected, Disconnected, Tls
from shared.mqtt import MqttClient
port, ca, name, password, certified = sys.argv[1:]
reports = queue.SimpleQueue()
settings = BrokerSettings("127.0.0.1", int(port), name, username=name, password=password,
                          tls=Tls(Path(ca), certified_name=certified))
client = MqttClient(settings, [], reports)
client.start()
while not isinstance(said := reports.get(timeout=30), Connected | Disconnected):
    pass
client.stop()
print(time.gmtime().tm_year, type(said).__name__, getattr(said, "reason", ""))
"""


@pytest.mark.skipif(not can_step(), reason="gcc is not there")
@pytest.mark.parametrize("year", [1970, 2024, 2028, 2036])
def test_a_table_whose_clock_shows_another_year_connects_and_still_trusts_nobody_else(
    broker: Broker, tmp_path: Path, year: int
) -> None:
    """D08: as a Raspberry Pi wakes up, as its image was made, and ahead; the certificate is checked all the same."""
    broker.start()
    clock = StepClock(tmp_path, "table")
    clock.set(seconds_ahead(year))
    other = tmp_path / "other.crt"
    other.write_bytes(make_ca().certificate)
    for ca, said in (
        (broker.files.ca_file, f"{year} Connected"),
        (other, f"{year} Disconnected"),
    ):
        words = [str(broker.tls_port), str(ca), TABLE, PASSWORD, CERTIFIED_NAME]
        done = subprocess.run(
            [sys.executable, "-c", _CONNECTS, *words],
            env={**clock.environment, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.stdout.startswith(said), done.stdout + done.stderr


# Connections -----------------------------------------------------------------------------------------


class Cutter:
    """Between a table and its broker: each connection passes so many bytes of the broker's, then is cut."""

    def __init__(self, port: int, passes: list[tuple[int, bytes]]) -> None:
        """`passes`: for each connection after how many bytes, and what comes in place of the rest."""
        self._passes = iter(passes)
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.cut = 0
        self._threads = [threading.Thread(target=self._serve, name="cutter")]
        self._threads[0].start()

    def close(self) -> None:
        """Take no more connections; back when all that there were have ended."""
        self._listening.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        with self._listening, contextlib.suppress(OSError):
            while True:
                table, _ = self._listening.accept()
                broker = socket.create_connection(("127.0.0.1", self._port))
                one = threading.Thread(
                    target=self._join, args=(table, broker, *next(self._passes, (-1, b"")))
                )
                self._threads.append(one)
                one.start()

    def _join(self, table: socket.socket, broker: socket.socket, left: int, instead: bytes) -> None:
        with table, broker:
            back = threading.Thread(target=self._pass, args=(table, broker, -1, b""))
            back.start()
            self._pass(broker, table, left, instead)
            back.join()

    def _pass(self, source: socket.socket, sink: socket.socket, left: int, instead: bytes) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(4096):
                if 0 <= left < len(chunk):
                    sink.sendall(chunk[:left] + instead)
                    self.cut += 1
                    break
                sink.sendall(chunk)
                left = left - len(chunk) if left >= 0 else left
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_a_connection_cut_or_spoiled_in_the_middle_of_an_encrypted_record_is_made_anew(
    broker: Broker, tmp_path: Path
) -> None:
    """D05: in the handshake, after it, and by bytes that are not the broker's; everything arrives in order."""
    broker.start()
    spoiled = [(700, b""), (1_100, b"\x17\x03\x03\x00\x40" + bytes(64)), (1_500, b"no record at all" * 10)]
    cutter = Cutter(broker.tls_port, spoiled)
    journal = Journal.open(tmp_path / "table", TABLE, lambda: "log")
    settings = LinkSettings(
        "127.0.0.1",
        cutter.port,
        TABLE,
        username=TABLE,
        password=PASSWORD,
        tls=Tls(broker.files.ca_file, certified_name=CERTIFIED_NAME),
        connack_s=5.0,
        retry_s=(0.05, 0.2),
    )
    link = Link(settings, journal, tmp_path / "table", queue.SimpleQueue(), {"log": "log"})
    for n in range(100):
        journal.append("pause_started", boot="b", mono_ms=n, wall_ms=None, run="r")
    with Client(hub(broker), TOPICS.up_event(TABLE)) as ears:
        ears.next(Connected)
        ears._client.publish(TOPICS.hub, wire.hub_presence_payload(HubPresence("e", online=True)), 1, True)
        link.start()
        taken: list[int] = []
        while len(taken) < 100:
            for item in wire.parse_batch(ears.next(Received).payload):
                if item.seq == len(taken) + 1:
                    taken.append(item.seq)
            ears._client.publish(
                TOPICS.down_ack(TABLE), wire.ack_payload(Ack("log", len(taken), "e")), 1, True
            )
        wait_until(lambda: link.unsent == 0)
    assert cutter.cut == len(spoiled)
    link.stop()
    journal.close()
    cutter.close()
