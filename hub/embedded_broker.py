"""A broker inside the hub, for demos and small rooms: rumqttd from a wheel, nothing to install.

It keeps nothing on disk and checks nobody, so it listens on this machine only; delivery does not
depend on its memory. MQTT 5 and MQTT 3.1.1 need a listener each.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from iotcore import Broker

HOST: Final = "127.0.0.1"
_MAX_PAYLOAD: Final = 256 * 1024
_MAX_CONNECTIONS: Final = 1000

_ROUTER: Final = f"""\
id = 0
[router]
id = 0
max_connections = {_MAX_CONNECTIONS}
max_outgoing_packet_count = 200
max_segment_size = 10485760
max_segment_count = 10
"""
_LISTENER: Final = """
[{kind}.1]
name = "{kind}"
listen = "{host}:{port}"
next_connection_delay_ms = 1
[{kind}.1.connections]
connection_timeout_ms = 60000
max_payload_size = {max_payload}
max_inflight_count = 100
"""


class BrokerError(Exception):
    """The embedded broker does not start; says why and what to do."""


class EmbeddedBroker:
    """A broker in a child process that ends with this one."""

    def __init__(self, port: int, port_311: int | None = None) -> None:
        """`port` speaks MQTT 5; `port_311`, where given, MQTT 3.1.1."""
        self.port = port
        self.port_311 = port_311
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._broker: Broker | None = None

    @property
    def running(self) -> bool:
        """Whether the child process lives."""
        return self._broker is not None and self._broker.is_running

    def start(self) -> None:
        """Start and wait until it takes connections. Raises BrokerError, with a taken port named."""
        if self._broker is not None:
            return
        folder = tempfile.TemporaryDirectory(prefix="timer-hub-broker-")
        config = Path(folder.name) / "broker.toml"
        config.write_text(_ROUTER + _listener("v5", self.port) + _listener("v4", self.port_311))
        try:
            broker = Broker(config_path=str(config))
            broker.start()
        except (OSError, RuntimeError, ValueError) as error:
            folder.cleanup()
            raise BrokerError(
                f"the embedded broker does not start: {error}. "
                "Free that port, choose another, or use the broker that runs there."
            ) from error
        self._broker, self._folder = broker, folder

    def stop(self) -> None:
        """End the child process and free its ports; may be called twice."""
        if self._broker is not None:
            self._broker.stop()
            self._broker = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _listener(kind: str, port: int | None) -> str:
    if port is None:
        return ""
    return _LISTENER.format(kind=kind, host=HOST, port=port, max_payload=_MAX_PAYLOAD)
