"""The broker inside the hub serves both versions of MQTT on this machine only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hub.embedded_broker import BrokerError, EmbeddedBroker
from shared.broker import Connected, Version
from tests.brokers import answers, free_port
from tests.mqtt_peer import Peer, quick_settings


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    running = EmbeddedBroker(free_port(), free_port())
    running.start()
    yield running
    running.stop()


@pytest.mark.parametrize("version", [Version.V5, Version.V311])
def test_a_large_message_passes_in_either_version(broker: EmbeddedBroker, version: Version) -> None:
    port = broker.port if version is Version.V5 else broker.port_311
    assert port is not None
    peer = Peer(quick_settings(port), "a/#")
    try:
        assert peer.until(Connected).version is version
        payload = b"x" * 250_000
        peer.send("a/b", payload)
        assert peer.on("a/b") == payload
    finally:
        peer.client.stop()


def test_a_taken_port_is_named_in_the_error(broker: EmbeddedBroker) -> None:
    second = EmbeddedBroker(broker.port)
    with pytest.raises(BrokerError, match=str(broker.port)):
        second.start()
    assert not second.running
    second.stop()


def test_a_stopped_broker_frees_its_port_and_can_start_again() -> None:
    broker = EmbeddedBroker(free_port())
    broker.start()
    assert broker.running
    broker.stop()
    assert not answers(broker.port)
    broker.start()
    assert broker.running
    broker.stop()
