"""What a table is told of the rulings on the run it shows (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from shared.core.events import Event, EventType
from shared.wire import RunRulings

MOST_RULINGS: Final = 100
"""What fits one message; a run of more is settled at the hub only."""
_REASON: Final = 80


def for_table(run: str, rulings: Iterable[Event]) -> RunRulings:
    """The rulings in force that change what a table shows; why they were given stays at the hub, but for a hint."""
    told = [_shortened(ruling) for ruling in rulings if ruling.type != EventType.INCIDENT_NOTED]
    return RunRulings(run, tuple(told) if len(told) <= MOST_RULINGS else ())


def _shortened(ruling: Event) -> Event:
    return replace(ruling, data={**ruling.data, "reason": str(ruling.data["reason"])[:_REASON]})
