"""Invented entrants for the demo: heats of Torneo III's adult category, one run for each table and heat (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hub.store import PlanRow

RULEBOOK: Final = "torneo-puzzles-2026"
CATEGORY: Final = "adulto"
ENTRANTS: Final = (
    "Lucía Á.",
    "Nicolás P.",
    "María José R.",
    "Íñigo Z.",
    "Begoña L.",
    "Óscar M.",
    "Ainhoa V.",
    "Xoán C.",
    "Núria F.",
    "Sergio T.",
    "Weronika K.",
    "Ramón D.",
)
"""Public names, as a spectator may read them; nobody is meant."""


def demo_plan(tables: int) -> Iterator[PlanRow]:
    """A dozen entrants, or one for each table where there are more; names begin anew with a number."""
    for number in range(max(len(ENTRANTS), tables)):
        heat, place = divmod(number, tables)
        again, name = divmod(number, len(ENTRANTS))
        yield PlanRow(
            heat=str(heat + 1),
            order_no=heat + 1,
            table_no=place + 1,
            entrant=f"demo-{number + 1:03}",
            category=CATEGORY,
            public_name=ENTRANTS[name] + (f" {again + 1}" if again else ""),
        )
