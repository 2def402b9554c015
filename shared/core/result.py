"""One run judged."""

from __future__ import annotations

from dataclasses import dataclass

from shared.core.model import Mark, Problem, Status


@dataclass(frozen=True, slots=True)
class Result:
    """One run judged: a status and numbers in whole seconds."""

    run: str
    category: str
    entrant: str | None
    table: int
    status: Status
    official_s: int | None = None
    raw_s: int | None = None
    assist_s: int = 0
    penalty_s: int = 0
    stage_s: int | None = None
    pieces: int | None = None
    low_s: int | None = None
    """Bounds of the official time where it is not exact: the table was off for an unknown time."""
    high_s: int | None = None
    marks: tuple[Mark, ...] = ()
    problems: tuple[Problem, ...] = ()
