"""Rulings of judge and organiser: which are in force, and what they do to the way a run is folded."""

from __future__ import annotations

from collections.abc import Iterable

from shared.core.events import Event, EventType
from shared.core.state import Frame


def in_force(rulings: Iterable[Event]) -> list[Event]:
    """The rulings of one hub log that were not revoked, in their order; revocations themselves left out."""
    kept: list[Event] = []
    revoked: set[int] = set()
    for ruling in sorted(rulings, key=lambda r: r.seq, reverse=True):
        if ruling.seq in revoked:
            continue
        if ruling.type == EventType.RULING_REVOKED:
            revoked.add(ruling.data["ruling"])
        else:
            kept.append(ruling)
    kept.reverse()
    return kept


def concerns(ruling: Event, run: str, heat: str | None) -> bool:
    """Whether a ruling is about this run, by its id or by its heat."""
    if ruling.run is not None:
        return ruling.run == run
    return ruling.type == EventType.TIME_GRANTED and heat is not None and ruling.data.get("heat") == heat


def frame_with(frame: Frame, rulings: Iterable[Event]) -> Frame:
    """The rules with the time granted and the puzzle's pieces as the rulings on a run say."""
    granted_s, pieces = 0, None
    for ruling in rulings:
        if ruling.type == EventType.TIME_GRANTED:
            granted_s += ruling.data["seconds"]
        elif ruling.type == EventType.PUZZLE_PIECES_SET:
            pieces = ruling.data["pieces"]
    return Frame(frame.rules, granted_s * 1000, pieces)
