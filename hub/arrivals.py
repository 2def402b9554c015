"""Judging what devices sent against how far their logs are known: pure, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.core.events import Event, EventType
from shared.wire import Ack, Unreadable

HUB_LOG: Final = "hub-"


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message of a device, taken apart; `device` as the topic names it, empty where it names none."""

    topic: str
    device: str
    items: Sequence[Event | Unreadable]


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the log of a device is committed."""

    device: str
    log: str
    last_seq: int


@dataclass(frozen=True, slots=True)
class Aside:
    """Something to be kept in quarantine."""

    topic: str
    device: str
    item: Event | Unreadable
    reason: str
    acknowledged: bool = False
    """The log goes on behind it: nobody will send it again."""


@dataclass(slots=True)
class Judgement:
    """What becomes of a batch: events in the order of their acceptance, cursors where they now stand."""

    accepted: list[Event] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    """The logs that moved."""
    duplicates: int = 0
    gaps: int = 0
    heard: dict[tuple[str, str], bool] = field(default_factory=dict)
    """(device, log) to acknowledge, in order, with whether something was missing."""
    gap_only: set[tuple[str, str]] = field(default_factory=set)


def logs_of(messages: Iterable[Incoming]) -> set[str]:
    """The logs a batch speaks of."""
    return {item.log for message in messages for item in message.items if item.log is not None}


def judge(messages: Iterable[Incoming], known: Mapping[str, Cursor]) -> Judgement:
    """Accept what is next in its log, count what is known, ask again for what is missing, keep the rest aside.

    `known` holds the cursors of the logs the batch speaks of, as far as they exist.
    """
    judgement = Judgement()
    for message in messages:
        for item in message.items:
            _judge_one(judgement, message, item, known)
    return judgement


def acks(judgement: Judgement, known: Mapping[str, Cursor], epoch: str) -> list[tuple[str, Ack]]:
    """What to tell which device once the batch is committed; a gap ack follows the ack of the same log."""
    told: list[tuple[str, Ack]] = []
    for (device, log), gap in judgement.heard.items():
        cursor = judgement.cursors.get(log) or known.get(log)
        ack = Ack(log, 0 if cursor is None else cursor.last_seq, epoch)
        if (device, log) not in judgement.gap_only:
            told.append((device, ack))
        if gap:
            told.append((device, Ack(log, ack.seq, epoch, gap=True)))
    return told


def _judge_one(
    judgement: Judgement, message: Incoming, item: Event | Unreadable, known: Mapping[str, Cursor]
) -> None:
    device, log, seq = message.device, item.log, item.seq

    def keep(reason: str, *, acknowledged: bool = False) -> None:
        judgement.asides.append(Aside(message.topic, device, item, reason, acknowledged))

    if log is None or seq is None:
        keep(item.reason if isinstance(item, Unreadable) else "no log")
        return
    cursor = judgement.cursors.get(log) or known.get(log)
    flaw = _flaw(item, device)
    if log.startswith(HUB_LOG):
        keep("the hub's own log on the topic of a device")
        return
    if cursor is not None and cursor.device != device:
        keep(f"log of device {cursor.device}")
        return
    if cursor is None and isinstance(item, Event) and item.device != device:
        keep(flaw or "")  # or a copied card would take a log away from its owner
        return
    last_seq = 0 if cursor is None else cursor.last_seq
    if seq > last_seq + 1:
        judgement.gaps += 1
        _hear(judgement, device, log, gap=True)
        return
    _hear(judgement, device, log, gap=False)
    if seq <= last_seq:
        judgement.duplicates += 1
        return
    if flaw is not None:
        keep(flaw, acknowledged=True)
    elif isinstance(item, Event):
        judgement.accepted.append(item)
        if item.type == EventType.RECORDS_MISSING:
            seq = int(item.data["to"])
    judgement.cursors[log] = Cursor(device, log, seq)


def _hear(judgement: Judgement, device: str, log: str, *, gap: bool) -> None:
    key = (device, log)
    if key not in judgement.heard and gap:
        judgement.gap_only.add(key)
    if not gap:
        judgement.gap_only.discard(key)
    judgement.heard[key] = judgement.heard.get(key, False) or gap


def _flaw(item: Event | Unreadable, device: str) -> str | None:
    """Why an item with log and seq is not taken as an event."""
    if isinstance(item, Unreadable):
        return item.reason
    if item.device != device:
        return f"event of device {item.device} on the topic of {device}"
    if item.type == EventType.RECORDS_MISSING and item.data["to"] < item.seq:
        return "records_missing ends before it begins"
    return None
