"""An MQTT client of the broker that hears every batch the tables send, and can send it again."""

from __future__ import annotations

import json
import queue
import threading
from typing import Any, Final

from shared.broker import BrokerSettings, Received
from shared.mqtt import MqttClient
from shared.topics import Topics

EVENTS: Final = "puzzle/1/+/up/event"


class Witness:
    """What went over the air, by identity; two different things under one identity are told."""

    def __init__(self, port: int) -> None:
        self._reports: queue.SimpleQueue[object] = queue.SimpleQueue()
        settings = BrokerSettings("127.0.0.1", port, "witness", retry_s=(0.1, 0.3))
        self._client = MqttClient(settings, [(EVENTS, 1)], self._reports)
        self._thread = threading.Thread(target=self._hear, name="witness", daemon=True)
        self.heard: list[tuple[str, bytes]] = []
        """Topic and payload of each batch, in order."""
        self.events: dict[tuple[str, int], dict[str, Any]] = {}
        self.contradictions: set[tuple[str, int]] = set()
        """Identities that were given to two different events."""

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()
        self._client.start()

    def stop(self) -> None:
        """End."""
        self._client.stop()
        self._reports.put(None)
        self._thread.join()

    def repeat(self, draw: float) -> None:
        """Send again a few batches of some time ago, the newest of them last; any that is heard is heard again."""
        if not self.heard:
            return
        first = int(draw * len(self.heard))
        for topic, payload in self.heard[first : first + 5]:
            self._client.publish(topic, payload, 1, retain=False)

    def _hear(self) -> None:
        while (report := self._reports.get()) is not None:
            if isinstance(report, Received) and Topics().parse(report.topic) is not None:
                self.heard.append((report.topic, report.payload))
                for event in json.loads(report.payload)["events"]:
                    identity = event["log"], event["seq"]
                    if self.events.setdefault(identity, event) != event:
                        self.contradictions.add(identity)
