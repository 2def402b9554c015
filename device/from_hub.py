"""What delivery asks of the journal, and what it puts in the controller's inbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from shared.broker import RETRY_S, BrokerSettings, Tls, Version
from shared.core.events import Event
from shared.core.model import Problem
from shared.topics import DEFAULT_BASE
from shared.wire import RunRulings, StartOrder, TimeAnswer

SESSION_EXPIRY_S: Final = 30
"""Longer than the delay of the will, or the broker would speak it when the session ends."""


class Journal(Protocol):
    """What delivery needs of the journal; read while another thread appends."""

    @property
    def log(self) -> str:
        """Id of the log that is being written."""

    @property
    def last_seq(self) -> int:
        """Seq of its last durable event, 0 for none."""

    def read(self, from_seq: int, limit: int, log: str | None = None) -> list[Event]:
        """At most `limit` events in order from `from_seq` on, of this log or an earlier one. Raises OSError."""

    def earlier(self) -> list[list[Event]]:
        """What can be read of the logs closed before. Raises OSError."""


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Where the broker is and who this table is. Durations in seconds."""

    host: str
    port: int
    device: str
    base: str = DEFAULT_BASE
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: Tls | None = None
    connack_s: float = 5.0
    retry_s: tuple[float, float] = RETRY_S
    versions: tuple[Version, ...] = (Version.V5, Version.V311)
    patience_s: float = 30.0
    """A hub that is there and acknowledges nothing for so long: the connection is made anew."""

    def broker(self) -> BrokerSettings:
        """How this table's client reaches the broker; its session outlives the delay of its will."""
        return BrokerSettings(
            self.host,
            self.port,
            self.device,
            username=self.username,
            password=self.password,
            tls=self.tls,
            session_expiry_s=SESSION_EXPIRY_S,
            connack_s=self.connack_s,
            retry_s=self.retry_s,
            versions=self.versions,
        )


@dataclass(frozen=True, slots=True)
class PlanReceived:
    """A plan for this table: seat and next runs."""

    plan: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RulingsReceived:
    """The rulings in force on the run this table shows."""

    told: RunRulings


@dataclass(frozen=True, slots=True)
class StartOrdered:
    """A common start is ordered, cancelled or closed."""

    order: StartOrder


@dataclass(frozen=True, slots=True)
class CommandReceived:
    """A command, to be done once and answered with `Link.reply`."""

    command: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TimeAnswered:
    """The hub's answer to `Link.ask_time`; received at hand time `at_s`."""

    answer: TimeAnswer
    at_s: float


@dataclass(frozen=True, slots=True)
class LogArchived:
    """The hub has archived all of this log, which was closed before: its file may be deleted."""

    log: str


@dataclass(frozen=True, slots=True)
class DeliveryProblem:
    """Something in the delivery that people must be told."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """`connected` or `hub_online` changed."""


@dataclass(frozen=True, slots=True)
class LinkBroken:
    """The delivery thread ended on an error of ours; the process must end too."""

    error: BaseException
