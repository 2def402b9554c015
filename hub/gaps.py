"""Marks in the place of events that a log cannot give: what of them is left when some come after all (pure)."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from dataclasses import replace

from shared.core.events import Event, EventType


def is_mark(event: Event) -> bool:
    """Whether an event only says that others are missing."""
    return event.type == EventType.RECORDS_MISSING


def marks_left(marks: Iterable[Event], there: Container[int]) -> dict[int, Event]:
    """By its seq each mark that is still needed in a log that has the events `there`.

    A mark stands on the first seq that is missing; of two on one seq the longer one is kept.
    """
    left: dict[int, Event] = {}
    for mark in marks:
        to = mark.data["to"]
        seq = next((seq for seq in range(mark.seq, to + 1) if seq not in there), None)
        if seq is not None:
            moved = mark if seq == mark.seq else replace(mark, seq=seq)
            left[seq] = max(left.get(seq, moved), moved, key=_length)
    return left


def _length(mark: Event) -> tuple[int, str]:
    return mark.data["to"], json.dumps(mark.as_json())
