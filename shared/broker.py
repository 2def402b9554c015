"""How a broker is reached and what an MQTT client reports about it; no library, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Final, Protocol

#: Longest and shortest pause before another attempt, in seconds; each is shortened by up to a half at random.
RETRY_S: Final = (1.0, 5.0)


class Version(IntEnum):
    """Versions of MQTT, by the number that stands in the CONNECT packet."""

    V311 = 4
    V5 = 5


@dataclass(frozen=True, slots=True)
class Tls:
    """Files for an encrypted connection; the certificate only where the broker asks for one.

    `certified_name` is what the broker's certificate says, where that is not the host it is found at:
    addresses change from hall to hall.
    """

    ca_file: Path
    cert_file: Path | None = None
    key_file: Path | None = None
    certified_name: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """How one client reaches its broker. Durations in seconds."""

    host: str
    port: int
    client_id: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: Tls | None = None
    clean_start: bool = True
    session_expiry_s: int = 0
    receive_maximum: int | None = None
    manual_ack: bool = False
    keepalive_s: int = 10
    connack_s: float = 5.0
    retry_s: tuple[float, float] = RETRY_S
    versions: tuple[Version, ...] = (Version.V5, Version.V311)


@dataclass(frozen=True, slots=True)
class Will:
    """What the broker publishes for a client that went without a word; the delay needs MQTT 5."""

    topic: str
    payload: bytes
    qos: int = 1
    retain: bool = True
    delay_s: int = 10


@dataclass(frozen=True, slots=True)
class Connected:
    """The broker took the connection and all subscriptions; `conn` counts the connections from 1.

    Messages of an older session may have been received on it before.
    """

    conn: int
    version: Version


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A connection ended, or an attempt failed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Received:
    """A message; `mid` means something on connection `conn` only, `at_s` is hand time."""

    topic: str
    payload: bytes
    retain: bool
    conn: int
    mid: int
    qos: int
    at_s: float


@dataclass(frozen=True, slots=True)
class PublishRefused:
    """The broker answered a QoS 1 message with an error; MQTT 5 only."""

    reason: str


@dataclass(frozen=True, slots=True)
class ClientBroken:
    """The network thread ended on an error of ours; nothing will work any more."""

    error: BaseException


Report = Connected | Disconnected | Received | PublishRefused | ClientBroken


class Sink(Protocol):
    """Where the network thread leaves its reports, like `queue.SimpleQueue`."""

    def put(self, item: Report, /) -> None:
        """Take a report; must not wait and not fail."""


class VersionChoice:
    """Which MQTT version to try next: the next one after a failure, the one that worked with patience.

    A broker that is just starting resets connections too: a version that has worked is given up
    only after three failures in a row.
    """

    _PATIENCE: Final = 3

    def __init__(self, versions: Sequence[Version] = (Version.V5, Version.V311)) -> None:
        self._versions = versions
        self.version = versions[0]
        self._good: Version | None = None
        self._failures = 0

    def worked(self) -> None:
        """The broker took a connection of this version."""
        self._good, self._failures = self.version, 0

    def failed(self) -> None:
        """There was a broker, but it took no connection of this version."""
        self._failures += 1
        if self._failures >= (self._PATIENCE if self.version is self._good else 1):
            self.version = self._versions[(self._versions.index(self.version) + 1) % len(self._versions)]
            self._failures = 0
