"""The MQTT client against real brokers, of MQTT 5 and of MQTT 3.1.1."""

from __future__ import annotations

import queue
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.broker import (
    BrokerSettings,
    ClientBroken,
    Connected,
    Disconnected,
    PublishRefused,
    Received,
    Report,
    Tls,
    Version,
    Will,
)
from shared.mqtt import MqttClient
from tests.brokers import Mosquitto, free_port, mosquitto
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import GENEROUS_S, wait_until


@pytest.fixture
def join() -> Iterator[Callable[..., Peer]]:
    peers: list[Peer] = []

    def make(settings: BrokerSettings, *topics: str, will: Will | None = None) -> Peer:
        peers.append(Peer(settings, *topics, will=will))
        return peers[-1]

    yield make
    for peer in peers:
        peer.client.stop()


def test_mosquitto_is_spoken_to_in_version_5(broker: Mosquitto, join: Callable[..., Peer]) -> None:
    peer = join(quick_settings(broker.port), "a/#")
    assert peer.until(Connected) == Connected(1, Version.V5)
    assert peer.client.publish("a/b", b"hello", 1, retain=False)
    received = peer.until(Received)
    assert (received.topic, received.payload, received.retain, received.conn) == ("a/b", b"hello", False, 1)


def test_version_3_1_1_is_spoken_where_it_is_the_only_choice(
    broker: Mosquitto, join: Callable[..., Peer]
) -> None:
    peer = join(replace(quick_settings(broker.port), versions=(Version.V311,)), "a/#")
    assert peer.until(Connected) == Connected(1, Version.V311)
    assert peer.client.publish("a/b", b"hello", 1, retain=False)
    assert peer.payloads(1) == [b"hello"]


def test_a_host_that_takes_the_call_and_says_nothing_is_asked_in_both_versions(
    join: Callable[..., Peer],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        peer = join(quick_settings(silent.getsockname()[1]))
        reasons = [peer.until(Disconnected).reason for _ in range(3)]
    assert reasons == ["no answer to MQTT V5", "no answer to MQTT V311", "no answer to MQTT V5"]


def test_a_host_that_talks_nonsense_is_a_failed_attempt(join: Callable[..., Peer]) -> None:
    def talk(server: socket.socket) -> None:
        for nonsense in (b"\x20\x01\x00", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x20\xff\xff\xff\xff\xff"):
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                connection.sendall(nonsense)

    with socket.create_server(("127.0.0.1", 0)) as server:
        talker = threading.Thread(target=talk, args=(server,))
        talker.start()
        peer = join(quick_settings(server.getsockname()[1]))
        for _ in range(3):
            peer.until(Disconnected)
        talker.join()
        assert peer.client.alive()


def test_nothing_is_kept_for_later_while_there_is_no_connection(
    tmp_path: Path, join: Callable[..., Peer]
) -> None:
    """D03: the library's queue holds nothing."""
    later = Mosquitto(tmp_path)
    peer = join(quick_settings(later.port), "a/#")
    assert "refused" in peer.until(Disconnected).reason
    assert not peer.client.publish("a/b", b"lost", 1, retain=False)
    later.start()
    try:
        peer.until(Connected)
        assert peer.client.publish("a/b", b"kept", 1, retain=False)
        assert peer.payloads(1) == [b"kept"]
    finally:
        later.stop()


def test_a_broker_that_was_killed_is_found_again_and_subscribed_again(
    broker: Mosquitto, join: Callable[..., Peer]
) -> None:
    peer = join(quick_settings(broker.port), "a/#")
    peer.until(Connected)
    broker.kill()
    peer.until(Disconnected)
    assert not peer.client.publish("a/b", b"lost", 1, retain=False)
    broker.start()
    assert peer.until(Connected) == Connected(2, Version.V5)
    assert peer.client.publish("a/b", b"kept", 1, retain=False)
    assert peer.payloads(1) == [b"kept"]


@pytest.mark.parametrize("version", [Version.V5, Version.V311])
def test_an_unacknowledged_message_comes_again_and_its_old_number_is_worth_nothing(
    broker: Mosquitto, join: Callable[..., Peer], version: Version
) -> None:
    mine = replace(
        quick_settings(broker.port, "hub"),
        versions=(version,),
        clean_start=False,
        session_expiry_s=0xFFFFFFFF,
        receive_maximum=500,
        manual_ack=True,
    )
    first = join(mine, "a/#")
    first.until(Connected)
    table = join(quick_settings(broker.port))
    table.until(Connected)
    assert table.client.publish("a/b", b"press", 1, retain=False)
    old = first.until(Received)
    assert first.client.stop()
    assert not first.client.ack(old)

    second = join(mine, "a/#")
    again = second.until(Received)
    assert again.payload == b"press"
    assert not second.client.ack(replace(old, conn=7))
    assert second.client.ack(again)
    assert second.client.stop()

    third = join(mine, "a/#")
    third.until(Connected)
    assert table.client.publish("a/b", b"next", 1, retain=False)
    assert third.payloads(1) == [b"next"]


def test_the_will_is_asked_for_each_connection_and_published_when_a_client_vanishes(
    broker: Mosquitto, join: Callable[..., Peer]
) -> None:
    watcher = join(quick_settings(broker.port, "hub"), "will")
    watcher.until(Connected)
    table = join(quick_settings(broker.port), will=Will("will", b"gone", delay_s=0))
    table.until(Connected)
    usurper = join(quick_settings(broker.port))  # the same name: the broker throws the first one out
    assert watcher.payloads(1) == [b"gone"]
    usurper.client.stop()


def test_a_goodbye_publishes_what_was_given_before_and_no_will(
    broker: Mosquitto, join: Callable[..., Peer]
) -> None:
    watcher = join(quick_settings(broker.port, "hub"), "a", "will")
    watcher.until(Connected)
    table = join(quick_settings(broker.port), will=Will("will", b"gone", delay_s=0))
    table.until(Connected)
    assert table.client.publish("a", b"bye", 1, retain=False)
    assert table.client.stop()
    assert not table.client.alive()
    other = join(quick_settings(broker.port, "t02"))
    other.until(Connected)
    assert other.client.publish("a", b"after", 1, retain=False)
    assert watcher.payloads(2) == [b"bye", b"after"]


def test_an_error_of_ours_is_reported_and_ends_the_thread(broker: Mosquitto) -> None:
    """D05: it is not swallowed; the program ends and is started again."""

    def broken_will() -> Will:
        raise RuntimeError("a bug")

    reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
    client = MqttClient(quick_settings(broker.port), [], reports, broken_will)
    client.start()
    report = reports.get(timeout=GENEROUS_S)
    assert isinstance(report, ClientBroken)
    assert str(report.error) == "a bug"
    wait_until(lambda: not client.alive())
    assert client.stop()


def test_a_wrong_password_is_told_and_a_right_one_works(tmp_path: Path, join: Callable[..., Peer]) -> None:
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(passwords), "t01", "secret"], check=True)
    acl = tmp_path / "acl"
    acl.write_text("pattern readwrite own/%u/#\n")
    acl.chmod(0o600)
    with mosquitto(tmp_path, [f"password_file {passwords}", f"acl_file {acl}"]) as broker:
        wrong = join(replace(quick_settings(broker.port, "t02"), username="t01", password="guess"))
        assert "authori" in wrong.until(Disconnected).reason.lower()
        right = join(replace(quick_settings(broker.port), username="t01", password="secret"), "own/t01/#")
        right.until(Connected)
        assert right.client.publish("own/t01/a", b"y", 1, retain=False)
        assert right.payloads(1) == [b"y"]
        assert right.client.publish("own/t02/a", b"x", 1, retain=False)
        assert "authori" in right.until(PublishRefused).reason.lower()


def test_a_broker_with_a_certificate_of_our_own_authority_is_trusted_and_no_other(
    tmp_path: Path, join: Callable[..., Peer]
) -> None:
    for name in ("ours", "other"):
        subprocess.run(
            f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={name}"
            f" -addext subjectAltName=IP:127.0.0.1 -keyout {name}.key -out {name}.crt".split(),
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )
    lines = ["allow_anonymous true", f"certfile {tmp_path}/ours.crt", f"keyfile {tmp_path}/ours.key"]
    with mosquitto(tmp_path, lines) as broker:
        good = join(replace(quick_settings(broker.port), tls=Tls(tmp_path / "ours.crt")), "a")
        good.until(Connected)
        assert good.client.publish("a", b"x" * 200_000, 1, retain=False)
        assert good.payloads(1) == [b"x" * 200_000]
        bad = join(replace(quick_settings(broker.port, "t02"), tls=Tls(tmp_path / "other.crt")))
        assert "certificate" in bad.until(Disconnected).reason.lower()


def test_a_client_that_never_reached_its_broker_stops_at_once(join: Callable[..., Peer]) -> None:
    peer = join(quick_settings(free_port()))
    peer.until(Disconnected)
    assert peer.client.stop()


def test_a_client_that_was_never_started_can_be_stopped() -> None:
    client = MqttClient(quick_settings(1), [], queue.SimpleQueue())
    assert not client.alive()
    assert client.stop()
