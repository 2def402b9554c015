"""The broker inside the hub serves both versions of MQTT on this machine only."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import pytest

from hub.embedded_broker import BrokerError, EmbeddedBroker
from shared.broker import BrokerSettings, Connected, Received, Report, Version
from shared.mqtt import MqttClient
from tests.brokers import answers, free_port
from tests.waiting import GENEROUS_S


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
    settings = BrokerSettings("127.0.0.1", port, f"t-{version}", connack_s=1.0, retry_s=(0.05, 0.2))
    reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
    client = MqttClient(settings, [("a/#", 1)], reports)
    client.start()
    try:
        while not isinstance(report := reports.get(timeout=GENEROUS_S), Connected):
            pass
        assert report.version is version
        payload = b"x" * 250_000
        assert client.publish("a/b", payload, 1, retain=False)
        while not isinstance(message := reports.get(timeout=GENEROUS_S), Received):
            pass
        assert message.payload == payload
    finally:
        client.stop()


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
