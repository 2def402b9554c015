"""Events: one fact in the log, past tense, validated when built and never edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

VERSION: Final = 1
HUB_DEVICE: Final = "hub"


class EventType(StrEnum):
    """Every kind of fact a log can hold."""

    RUN_STARTED = "run_started"
    PAUSE_STARTED = "pause_started"
    PAUSE_ENDED = "pause_ended"
    ASSIST_STARTED = "assist_started"
    ASSIST_ENDED = "assist_ended"
    STEP_SOLVED = "step_solved"
    HINT_GIVEN = "hint_given"
    SOLUTION_GIVEN = "solution_given"
    RUN_FINISHED = "run_finished"
    FINISH_ACCEPTED = "finish_accepted"
    FINISH_REJECTED = "finish_rejected"
    PIECES_COUNTED = "pieces_counted"
    NOTICE_DISMISSED = "notice_dismissed"
    ACT_UNDONE = "act_undone"
    PRESS_REFUSED = "press_refused"
    RUN_TAKEN_OVER = "run_taken_over"
    BOOT_STARTED = "boot_started"
    RECORDS_MISSING = "records_missing"
    CLOCK_ANCHORED = "clock_anchored"
    PENALTY_GIVEN = "penalty_given"
    PIECES_CORRECTED = "pieces_corrected"
    PUZZLE_PIECES_SET = "puzzle_pieces_set"
    TIME_SET = "time_set"
    TIME_GRANTED = "time_granted"
    DISQUALIFIED = "disqualified"
    DID_NOT_FINISH = "did_not_finish"
    RUN_VOIDED = "run_voided"
    DID_NOT_START = "did_not_start"
    RUN_REOPENED = "run_reopened"
    RUN_REASSIGNED = "run_reassigned"
    TIE_BROKEN = "tie_broken"
    INCIDENT_NOTED = "incident_noted"
    RULING_REVOKED = "ruling_revoked"


class Kind(StrEnum):
    """The JSON type a field of an event must have."""

    TEXT = "text"
    INT = "integer"
    COUNT = "integer >= 0"
    BOOL = "true or false"
    TEXT_OR_NULL = "text or null"
    TEXTS = "list of texts"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event type: name, JSON type, and whether it must be there."""

    name: str
    kind: Kind
    required: bool = True


def _fields(*required: tuple[str, Kind], optional: tuple[tuple[str, Kind], ...] = ()) -> tuple[Field, ...]:
    return tuple(Field(n, k) for n, k in required) + tuple(Field(n, k, required=False) for n, k in optional)


_RULING: Final = (("reason", Kind.TEXT), ("by", Kind.TEXT))
_RUN: Final = ("run", Kind.TEXT)
#: In which log what a ruling names stands, where that is another one: a restored hub writes a new log.
_OF_LOG: Final = ("of_log", Kind.TEXT)
_E = EventType

#: What each type carries beside `v device log seq type boot mono_ms wall_ms`.
FIELDS: Final[Mapping[EventType, tuple[Field, ...]]] = MappingProxyType(
    {
        _E.RUN_STARTED: _fields(
            _RUN,
            ("entrant", Kind.TEXT_OR_NULL),
            ("category", Kind.TEXT),
            ("table", Kind.INT),
            optional=(
                ("rules", Kind.TEXT),
                ("heat", Kind.TEXT),
                ("start", Kind.TEXT),
                ("overruled", Kind.TEXT),
                ("practice", Kind.BOOL),
            ),
        ),
        _E.PAUSE_STARTED: _fields(_RUN),
        _E.PAUSE_ENDED: _fields(_RUN),
        _E.ASSIST_STARTED: _fields(_RUN),
        _E.ASSIST_ENDED: _fields(_RUN),
        _E.STEP_SOLVED: _fields(_RUN),
        _E.HINT_GIVEN: _fields(_RUN),
        _E.SOLUTION_GIVEN: _fields(_RUN),
        _E.RUN_FINISHED: _fields(_RUN),
        _E.FINISH_ACCEPTED: _fields(_RUN, optional=(("missing", Kind.COUNT),)),
        _E.FINISH_REJECTED: _fields(_RUN),
        _E.PIECES_COUNTED: _fields(_RUN, ("pieces", Kind.COUNT)),
        _E.NOTICE_DISMISSED: _fields(_RUN),
        # a run whose log was closed as damaged goes on in a new one, and may undo what stands in the old one
        _E.ACT_UNDONE: _fields(_RUN, ("undone", Kind.INT), optional=(("undone_log", Kind.TEXT),)),
        _E.PRESS_REFUSED: _fields(
            ("act", Kind.TEXT),
            ("reason", Kind.TEXT),
            optional=(_RUN, ("count", Kind.COUNT)),
        ),
        _E.RUN_TAKEN_OVER: _fields(_RUN, ("from_log", Kind.TEXT), ("from_seq", Kind.INT)),
        _E.BOOT_STARTED: _fields(("previous_boot", Kind.TEXT_OR_NULL), ("alive_ms", Kind.COUNT)),
        _E.RECORDS_MISSING: _fields(("to", Kind.INT)),
        _E.CLOCK_ANCHORED: _fields(
            ("hub_ms", Kind.INT),
            ("base", Kind.TEXT),
            ("error_ms", Kind.COUNT),
            # the hub's own: by then it had heard of this instant of a table's boot
            optional=(("heard", Kind.TEXT), ("heard_ms", Kind.INT)),
        ),
        _E.PENALTY_GIVEN: _fields(_RUN, ("seconds", Kind.INT), *_RULING),
        _E.PIECES_CORRECTED: _fields(_RUN, ("pieces", Kind.COUNT), *_RULING),
        _E.PUZZLE_PIECES_SET: _fields(_RUN, ("pieces", Kind.COUNT), *_RULING),
        _E.TIME_SET: _fields(_RUN, ("seconds", Kind.COUNT), *_RULING),
        _E.TIME_GRANTED: _fields(("seconds", Kind.INT), *_RULING, optional=(_RUN, ("heat", Kind.TEXT))),
        _E.DISQUALIFIED: _fields(_RUN, *_RULING),
        _E.DID_NOT_FINISH: _fields(_RUN, *_RULING),
        _E.RUN_VOIDED: _fields(_RUN, *_RULING),
        _E.DID_NOT_START: _fields(("category", Kind.TEXT), ("entrant", Kind.TEXT), *_RULING),
        _E.RUN_REOPENED: _fields(_RUN, *_RULING),
        _E.RUN_REASSIGNED: _fields(_RUN, *_RULING, optional=(("entrant", Kind.TEXT), ("table", Kind.INT))),
        _E.TIE_BROKEN: _fields(("category", Kind.TEXT), ("order", Kind.TEXTS), *_RULING),
        _E.INCIDENT_NOTED: _fields(
            ("text", Kind.TEXT),
            *_RULING,
            optional=(_RUN, ("state", Kind.TEXT), ("answers", Kind.INT), _OF_LOG),
        ),
        _E.RULING_REVOKED: _fields(("ruling", Kind.INT), *_RULING, optional=(_RUN, _OF_LOG)),
    }
)

RULINGS: Final = frozenset(t for t, fs in FIELDS.items() if any(f.name == "by" for f in fs))
#: Acts of a run: what the run machine folds.
ACTS: Final = frozenset(
    {
        _E.RUN_STARTED,
        _E.PAUSE_STARTED,
        _E.PAUSE_ENDED,
        _E.ASSIST_STARTED,
        _E.ASSIST_ENDED,
        _E.STEP_SOLVED,
        _E.HINT_GIVEN,
        _E.SOLUTION_GIVEN,
        _E.RUN_FINISHED,
        _E.FINISH_ACCEPTED,
        _E.FINISH_REJECTED,
        _E.PIECES_COUNTED,
        _E.NOTICE_DISMISSED,
        _E.ACT_UNDONE,
    }
)
_NAMES: Final = {t.value: t for t in EventType}
KNOWN_TYPES: Final = frozenset(_NAMES)


@dataclass(frozen=True, slots=True)
class Event:
    """One fact of one log. `(log, seq)` is its identity; `mono_ms` counts within `boot` only."""

    device: str
    log: str
    seq: int
    type: str
    boot: str | None = None
    mono_ms: int | None = None
    wall_ms: int | None = None
    run: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """The identity by which duplicates are recognised, and nothing else."""
        return self.log, self.seq

    def as_json(self) -> dict[str, Any]:
        """The event as it stands on the wire and in the journal."""
        out: dict[str, Any] = {"v": VERSION, "device": self.device, "log": self.log, "seq": self.seq}
        if self.boot is not None:
            out["boot"], out["mono_ms"] = self.boot, self.mono_ms
        if self.wall_ms is not None:
            out["wall_ms"] = self.wall_ms
        out["type"] = self.type
        if self.run is not None:
            out["run"] = self.run
        return out | dict(self.data)


class BadEvent(ValueError):
    """A JSON value that is no event; says why in one clause."""


_ENVELOPE: Final = frozenset({"v", "device", "log", "seq", "type", "boot", "mono_ms", "wall_ms", "run"})


def _is_int(value: object) -> bool:
    return type(value) is int and abs(value) < 2**53  # what every JSON reader keeps exactly


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 500


_CHECKS: Final[Mapping[Kind, Any]] = MappingProxyType(
    {
        Kind.TEXT: lambda v: isinstance(v, str) and len(v) <= 5000,
        Kind.INT: _is_int,
        Kind.COUNT: lambda v: _is_int(v) and v >= 0,
        Kind.BOOL: lambda v: type(v) is bool,
        Kind.TEXT_OR_NULL: lambda v: v is None or (type(v) is str and len(v) <= 5000),
        Kind.TEXTS: lambda v: type(v) is list and all(type(x) is str for x in v),
    }
)


def event_from_json(value: object) -> Event:
    """The event a JSON object describes.

    Unknown fields are kept with the event, unknown types too (they change nothing).
    Raises BadEvent for a wrong `v`, a missing required field or a wrong type of value.
    """
    if not isinstance(value, dict):
        raise BadEvent("not a JSON object")
    if value.get("v") != VERSION or type(value["v"]) is not int:
        raise BadEvent(f"field v must be {VERSION}")
    for name in ("device", "log", "type"):
        if not _is_text(value.get(name)):
            raise BadEvent(f"field {name} must be text")
    if not _is_int(value.get("seq")) or value["seq"] < 1:
        raise BadEvent("field seq must be an integer >= 1")
    from_hub = value["device"] == HUB_DEVICE
    boot, mono_ms = value.get("boot"), value.get("mono_ms")
    if from_hub:
        boot = mono_ms = None
    elif not _is_text(boot) or not _is_int(mono_ms):
        raise BadEvent("fields boot and mono_ms must be text and integer")
    wall_ms = value.get("wall_ms")
    if wall_ms is not None and not _is_int(wall_ms):
        raise BadEvent("field wall_ms must be an integer or null")
    run = value.get("run")
    if run is not None and not _is_text(run):
        raise BadEvent("field run must be text")
    kind = _NAMES.get(value["type"])
    if kind is not None:
        _check_fields(kind, value)
    return Event(
        device=value["device"],
        log=value["log"],
        seq=value["seq"],
        type=kind or value["type"],
        boot=boot,
        mono_ms=mono_ms,
        wall_ms=wall_ms,
        run=run,
        data={k: v for k, v in value.items() if k not in _ENVELOPE},
    )


def _check_fields(kind: EventType, value: Mapping[str, Any]) -> None:
    for wanted in FIELDS[kind]:
        if wanted.name not in value:
            if wanted.required:
                raise BadEvent(f"{kind.value} needs field {wanted.name}")
        elif not _CHECKS[wanted.kind](value[wanted.name]):
            if value[wanted.name] is None and not wanted.required:
                continue
            raise BadEvent(f"field {wanted.name} of {kind.value} must be {wanted.kind.value}")
