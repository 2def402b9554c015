"""The one entrance for foreign bytes: what a peer sent becomes a checked value or a BadPayload.

Long because every kind of message is judged here and nowhere else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from shared.core.events import HUB_DEVICE, RULINGS, BadEvent, Event, event_from_json

MAX_PAYLOAD: Final = 64 * 1024
MAX_BATCH: Final = 16
MAX_DEPTH: Final = 12
_MAX_INT: Final = 2**53
_MAX_TEXT: Final = 500


class BadPayload(ValueError):
    """Bytes that are not what their topic promises; says why in one clause."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is kept aside of a message: why, and which record it was where that can be read."""

    reason: str
    payload: bytes
    log: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Ack:
    """The hub, with database `epoch`, has committed everything of `log` up to `seq`.

    `gap` asks to send again from `seq + 1`; `archived` allows the device to delete that log.
    """

    log: str
    seq: int
    epoch: str
    gap: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class HubPresence:
    """Whether the hub with database `epoch` is there."""

    epoch: str
    online: bool


@dataclass(frozen=True, slots=True)
class EarlierClock:
    """The hub's clock before its machine was started again: it would read `ahead_us` more than the one now."""

    base: str
    ahead_us: int
    error_us: int


@dataclass(frozen=True, slots=True)
class TimeAnswer:
    """A clock exchange in microseconds: `t1` of the asker, `t2` received, `t3` answered on clock `base`."""

    t1_us: int
    t2_us: int
    t3_us: int
    base: str
    earlier: tuple[EarlierClock, ...] = ()
    """Clocks of earlier boots of the hub, where it can relate them to this one."""


class StartState(StrEnum):
    """What becomes of a start order."""

    ORDERED = "ordered"
    CANCELLED = "cancelled"
    CLOSED = "closed"
    """The heat has begun; who comes later is started by the judge."""


@dataclass(frozen=True, slots=True)
class StartOrder:
    """The tables of a heat start when the hub's clock `base` reads `at_ms`."""

    id: str
    heat: str
    at_ms: int
    base: str
    state: StartState = StartState.ORDERED

    def as_json(self) -> dict[str, Any]:
        """The order as it stands on the wire and in the hub's database."""
        return {
            "id": self.id,
            "heat": self.heat,
            "at": self.at_ms,
            "base": self.base,
            "state": self.state.value,
        }


class Do(StrEnum):
    """What the hub may ask of a table; none of it changes a run."""

    IDENTIFY = "identify"
    SHOW_TEXT = "show_text"
    SELFTEST = "selftest"
    RELOAD = "reload"


@dataclass(frozen=True, slots=True)
class Command:
    """To be done once, unless the hub's clock `base` reads more than `expires_ms` by then."""

    id: str
    expires_ms: int
    base: str
    do: Do
    text: str = ""
    """What `show_text` shows."""

    def as_json(self) -> dict[str, Any]:
        """The command as it stands on the wire."""
        told = {"id": self.id, "expires_ms": self.expires_ms, "base": self.base, "do": self.do.value}
        return told | ({"text": self.text} if self.text else {})


@dataclass(frozen=True, slots=True)
class RunRulings:
    """The rulings in force on the run that a table shows, in their order: all of them, each time."""

    run: str
    rulings: tuple[Event, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As it stands on the wire and on the table's disk."""
        return {"run": self.run, "rulings": [ruling.as_json() for ruling in self.rulings]}


def parse_object(payload: bytes) -> dict[str, Any]:
    """Any JSON object within the limits: plan, command, state, reply."""
    value = _object(payload)
    if (flaw := _flaw(value)) is not None:
        raise BadPayload(flaw)
    return value


def parse_batch(payload: bytes) -> list[Event | Unreadable]:
    """Events of one message in their order; an event that is none is told apart from its good neighbours.

    Raises BadPayload when the message as a whole is no batch: 1 to 16 events of one log, in order.
    """
    events = _object(payload).get("events")
    if not isinstance(events, list) or not 1 <= len(events) <= MAX_BATCH:
        raise BadPayload(f"field events must be a list of 1 to {MAX_BATCH}")
    items = [_event(value) for value in events]
    if len({item.log for item in items if item.log is not None}) > 1:
        raise BadPayload("events of more than one log in a message")
    seqs = [item.seq for item in items if item.seq is not None]
    if seqs != sorted(set(seqs)):
        raise BadPayload("events of a message out of order")
    return items


def parse_ack(payload: bytes) -> Ack:
    """An acknowledgement of the hub. Raises BadPayload."""
    value = parse_object(payload)
    return Ack(
        log=_need(value, "log", _is_text, "text"),
        seq=_need(value, "seq", _is_count, "an integer >= 0"),
        epoch=_need(value, "epoch", _is_text, "text"),
        gap=_may(value, "gap"),
        archived=_may(value, "archived"),
    )


def parse_hub_presence(payload: bytes) -> HubPresence:
    """The hub's birth or will. Raises BadPayload."""
    value = parse_object(payload)
    return HubPresence(
        epoch=_need(value, "epoch", _is_text, "text"),
        online=_need(value, "online", _is_bool, "true or false"),
    )


def parse_status(payload: bytes) -> dict[str, Any]:
    """A device's status: an object with `online` and `session`, and what else it tells. Raises BadPayload."""
    value = parse_object(payload)
    _need(value, "online", _is_bool, "true or false")
    _need(value, "session", _is_count, "an integer >= 0")
    return value


def parse_time_question(payload: bytes) -> int:
    """The asker's `t1` in microseconds. Raises BadPayload."""
    return int(_need(parse_object(payload), "t1", _is_int, "an integer"))


def parse_time_answer(payload: bytes) -> TimeAnswer:
    """The hub's answer to a question for its time. Raises BadPayload."""
    value = parse_object(payload)
    t1, t2, t3 = (_need(value, name, _is_int, "an integer") for name in ("t1", "t2", "t3"))
    earlier = value.get("earlier", [])
    if not isinstance(earlier, list) or not all(isinstance(clock, dict) for clock in earlier):
        raise BadPayload("field earlier must be a list of objects")
    clocks = tuple(_earlier_clock(clock) for clock in earlier)
    return TimeAnswer(t1, t2, t3, _need(value, "base", _is_text, "text"), clocks)


def _earlier_clock(value: Mapping[str, Any]) -> EarlierClock:
    return EarlierClock(
        _need(value, "base", _is_text, "text"),
        _need(value, "ahead", _is_int, "an integer"),
        _need(value, "error", _is_count, "an integer >= 0"),
    )


def parse_start_order(payload: bytes) -> StartOrder:
    """An order for a common start. Raises BadPayload."""
    value = parse_object(payload)
    return StartOrder(
        id=_need(value, "id", _is_text, "text"),
        heat=_need(value, "heat", _is_text, "text"),
        at_ms=_need(value, "at", _is_int, "an integer"),
        base=_need(value, "base", _is_text, "text"),
        state=StartState(_need(value, "state", _is_start_state, " or ".join(StartState))),
    )


def command_from(value: Mapping[str, Any]) -> Command:
    """The command in an object that came as one. Raises BadPayload."""
    do = Do(_need(value, "do", _is_deed, " or ".join(Do)))
    return Command(
        id=_need(value, "id", _is_text, "text"),
        expires_ms=_need(value, "expires_ms", _is_int, "an integer"),
        base=_need(value, "base", _is_text, "text"),
        do=do,
        text=_need(value, "text", _is_text, "text") if do is Do.SHOW_TEXT else "",
    )


def parse_rulings(payload: bytes) -> RunRulings:
    """The rulings on a run. Raises BadPayload: half of them would be a wrong result."""
    value = parse_object(payload)
    found = _need(value, "rulings", lambda rulings: isinstance(rulings, list), "a list")
    rulings = [_event(ruling) for ruling in found]
    for ruling in rulings:
        if isinstance(ruling, Unreadable):
            raise BadPayload(f"a ruling that cannot be read: {ruling.reason}")
        if ruling.device != HUB_DEVICE or ruling.type not in RULINGS:
            raise BadPayload(f"{ruling.type} of {ruling.device} is no ruling")
    kept = tuple(ruling for ruling in rulings if isinstance(ruling, Event))
    return RunRulings(_need(value, "run", _is_text, "text"), kept)


def batch_payload(events: Sequence[Event]) -> bytes:
    """A message of events. Its length may exceed MAX_PAYLOAD: the sender then takes fewer events."""
    if not 1 <= len(events) <= MAX_BATCH:
        raise ValueError(f"a message holds 1 to {MAX_BATCH} events, not {len(events)}")
    return _dump({"events": [event.as_json() for event in events]})


def ack_payload(ack: Ack) -> bytes:
    """An acknowledgement as sent by the hub."""
    value: dict[str, Any] = {"log": ack.log, "seq": ack.seq, "epoch": ack.epoch}
    flags = {"gap": ack.gap, "archived": ack.archived}
    return _dump(value | {name: True for name, is_set in flags.items() if is_set})


def hub_presence_payload(presence: HubPresence) -> bytes:
    """The hub's birth or will."""
    return _dump({"epoch": presence.epoch, "online": presence.online})


def time_question_payload(t1_us: int) -> bytes:
    """A question for the hub's time."""
    return _dump({"t1": t1_us})


def time_answer_payload(answer: TimeAnswer) -> bytes:
    """The answer to a question for the hub's time."""
    told: dict[str, Any] = {
        "t1": answer.t1_us,
        "t2": answer.t2_us,
        "t3": answer.t3_us,
        "base": answer.base,
    }
    if answer.earlier:
        told["earlier"] = [
            {"base": clock.base, "ahead": clock.ahead_us, "error": clock.error_us} for clock in answer.earlier
        ]
    return _dump(told)


def object_payload(value: Mapping[str, Any]) -> bytes:
    """Any JSON object for the wire. Raises ValueError above MAX_PAYLOAD: no reader would take it."""
    payload = _dump(value)
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"payload of {len(payload)} bytes, at most {MAX_PAYLOAD} are read")
    return payload


@dataclass(frozen=True, slots=True)
class _Unfit:
    """Stands in a parsed value where a number was that JSON readers do not agree on."""

    clause: str


def _dump(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _int(text: str) -> int | _Unfit:
    # the length first: int() of thousands of digits is slow, and raises above 4300
    if len(text) > 17 or abs(int(text)) >= _MAX_INT:
        return _Unfit("an integer beyond 2^53")
    return int(text)


def _float(text: str) -> float | _Unfit:
    number = float(text)
    return number if math.isfinite(number) else _Unfit("a number too large")


def _object(payload: bytes) -> dict[str, Any]:
    if len(payload) > MAX_PAYLOAD:
        raise BadPayload(f"payload of {len(payload)} bytes, at most {MAX_PAYLOAD} are read")
    try:
        value = json.loads(
            payload.decode("utf-8"),
            parse_int=_int,
            parse_float=_float,
            parse_constant=lambda name: _Unfit(f"{name}, which is no JSON"),
        )
    except UnicodeDecodeError:
        raise BadPayload("not UTF-8") from None
    except RecursionError:
        raise BadPayload(f"nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:
        raise BadPayload(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadPayload("not a JSON object")
    return value


def _flaw(value: object) -> str | None:
    """Why a parsed value cannot be kept or passed on, or None: depth, numbers, halves of characters."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for item in level:
            if isinstance(item, _Unfit):
                return item.clause
            if isinstance(item, str):
                if not _is_unicode(item):
                    return "text that is not Unicode"
            elif isinstance(item, dict):
                below += [*item.keys(), *item.values()]
            elif isinstance(item, list):
                below += item
        if not below:
            return None
        level = below
    return f"nested deeper than {MAX_DEPTH}"


def _event(value: object) -> Event | Unreadable:
    flaw = _flaw(value)
    if flaw is None:
        try:
            return event_from_json(value)
        except BadEvent as error:
            flaw = str(error)
    log = seq = None
    if isinstance(value, dict):
        named, counted = value.get("log"), value.get("seq")
        log = named if _is_text(named) else None
        seq = counted if _is_count(counted) and counted != 0 else None
    return Unreadable(flaw, _kept(value), log, seq)


def _kept(value: object) -> bytes:
    """An unreadable event as bytes to keep aside; numbers that were unfit are named, not repeated."""
    try:
        return json.dumps(value, separators=(",", ":"), default=lambda unfit: unfit.clause).encode()
    except RecursionError:
        return b""


def _need(value: Mapping[str, Any], name: str, check: Callable[[object], bool], kind: str) -> Any:
    found = value.get(name)
    if not check(found):
        raise BadPayload(f"field {name} must be {kind}")
    return found


def _may(value: Mapping[str, Any], name: str) -> bool:
    return name in value and bool(_need(value, name, _is_bool, "true or false"))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, written as \ud800
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_TEXT and _is_unicode(value)


def _is_int(value: object) -> bool:
    return type(value) is int


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_start_state(value: object) -> bool:
    return isinstance(value, str) and value in set(StartState)


def _is_deed(value: object) -> bool:
    return isinstance(value, str) and value in set(Do)


def _is_bool(value: object) -> bool:
    return type(value) is bool
