"""A plain MQTT client for the other end of a test."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import TypeVar

from shared.broker import BrokerSettings, Connected, Received, Report, Will
from shared.mqtt import MqttClient
from tests.waiting import GENEROUS_S

R = TypeVar("R", bound=Report)


def quick_settings(port: int, client_id: str = "t01") -> BrokerSettings:
    """A client of a local broker that loses no time when there is none."""
    return BrokerSettings("127.0.0.1", port, client_id, connack_s=0.5, retry_s=(0.05, 0.2))


class Peer:
    """A client with the queue it reports to."""

    def __init__(self, settings: BrokerSettings, *topics: str, will: Will | None = None) -> None:
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self.client = MqttClient(settings, [(t, 1) for t in topics], self.reports, lambda: will)
        self.client.start()

    def until(self, kind: type[R], wanted: Callable[[R], bool] = lambda _: True) -> R:
        """The next report of this kind; what came before it is skipped."""
        end_s = time.monotonic() + GENEROUS_S
        while True:
            report = self.reports.get(timeout=max(0.0, end_s - time.monotonic()))
            if isinstance(report, kind) and wanted(report):
                return report

    def on(self, topic: str) -> bytes:
        """The payload of the next message on this topic."""
        return self.until(Received, lambda received: received.topic == topic).payload

    def payloads(self, count: int) -> list[bytes]:
        """The payloads of the next messages."""
        return [self.until(Received).payload for _ in range(count)]

    def connected(self) -> Peer:
        """Itself, once there is a connection."""
        self.until(Connected)
        return self

    def send(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish with QoS 1."""
        assert self.client.publish(topic, payload, 1, retain)
