"""Every ruling there is: who may give it, with which numbers, and whether its effect is shown first (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.core.events import EventType

LONGEST_TIME_S: Final = 7 * 86_400
MOST_PIECES: Final = 100_000
MOST_TABLES: Final = 999
MOST_TIED: Final = 200
LONGEST_LOG: Final = 200

Data = Mapping[str, Any]
Fits = Callable[[Data], bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of ruling."""

    fits: Fits
    """Whether the numbers and names given with it can be."""
    judges: bool = True
    """Whether judges may give it; organisers may all."""
    grave: bool = False
    """Whether its effect is shown first, and it is given only then."""


def _number(name: str, least: int, most: int, *, not_null: bool = False) -> Fits:
    def fits(data: Data) -> bool:
        value = data.get(name)
        return type(value) is int and least <= value <= most and not (not_null and value == 0)

    return fits


def _texts(*names: str) -> Fits:
    return lambda data: all(isinstance(data.get(name), str) and data[name] for name in names)


def _reassigned(data: Data) -> bool:
    entrant, table = data.get("entrant"), data.get("table")
    named = entrant is None or (isinstance(entrant, str) and entrant != "")
    there = table is None or (type(table) is int and 1 <= table <= MOST_TABLES)
    return named and there and (entrant, table) != (None, None)


def _order(data: Data) -> bool:
    order = data.get("order")
    if not (isinstance(order, list) and 2 <= len(order) <= MOST_TIED):
        return False
    return all(isinstance(entrant, str) and entrant for entrant in order) and len(set(order)) == len(order)


def _named(name: str) -> Fits:
    """A ruling by its number, in the log of another database where one is named."""
    fits = _number(name, 1, 2**53 - 1)

    def named(data: Data) -> bool:
        log = data.get("of_log", "this")
        return fits(data) and isinstance(log, str) and 1 <= len(log) <= LONGEST_LOG

    return named


def _incident(data: Data) -> bool:
    return "answers" not in data or _named("answers")(data)


KINDS: Final[Mapping[EventType, Kind]] = {
    EventType.PENALTY_GIVEN: Kind(_number("seconds", -LONGEST_TIME_S, LONGEST_TIME_S, not_null=True)),
    EventType.PIECES_CORRECTED: Kind(_number("pieces", 0, MOST_PIECES)),
    EventType.PUZZLE_PIECES_SET: Kind(_number("pieces", 1, MOST_PIECES)),
    EventType.TIME_SET: Kind(_number("seconds", 0, LONGEST_TIME_S), grave=True),
    EventType.TIME_GRANTED: Kind(_number("seconds", 1, LONGEST_TIME_S), grave=True),
    EventType.DISQUALIFIED: Kind(lambda _: True, grave=True),
    EventType.DID_NOT_FINISH: Kind(lambda _: True, grave=True),
    EventType.RUN_VOIDED: Kind(lambda _: True, grave=True),
    EventType.RUN_REOPENED: Kind(lambda _: True, grave=True),
    EventType.INCIDENT_NOTED: Kind(_incident),
    EventType.RULING_REVOKED: Kind(_named("ruling")),
    EventType.RUN_REASSIGNED: Kind(_reassigned, judges=False, grave=True),
    EventType.DID_NOT_START: Kind(_texts("category", "entrant"), judges=False, grave=True),
    EventType.TIE_BROKEN: Kind(_order, judges=False, grave=True),
}


def for_judges(kind: str, data: Data, *, about_a_run: bool) -> bool:
    """Whether a judge may give it: what concerns more than one run, and an answer, is the organiser's."""
    known = KINDS.get(EventType(kind)) if kind in KINDS else None
    answers = kind == EventType.INCIDENT_NOTED and "answers" in data
    return known is not None and known.judges and about_a_run and not answers
