"""What a judge has to know of a run before ruling on it (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hub.projection import Projection
from shared.core.events import Event
from shared.core.run import Run, stamp_of
from shared.core.timeline import Span

Key = tuple[str, int]
"""Log and seq of an event."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a list."""

    run: str
    table: int
    entrant: str | None
    name: str | None
    category: str
    category_name: Mapping[str, str]
    heat: str | None
    status: str | None
    """None for a run whose start was undone."""
    marks: tuple[str, ...]
    official_s: int | None
    raw_s: int | None
    assist_s: int
    penalty_s: int
    pieces: int | None
    problems: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class RunSheet:
    """A run with what was pressed and ruled."""

    line: RunLine
    state: str
    count: str
    most_pieces: int
    times: Mapping[Key, Span]
    """How long after the start each act was."""
    refused: frozenset[Key]
    in_force: frozenset[Key]
    """The rulings that count."""
    version: str
    """Changes with every act and every ruling on the run."""


def latest_runs(projection: Projection) -> dict[int, RunLine]:
    """By table the run that the hub heard of last."""
    latest = {run.table: run for run in projection.tournament.runs.values()}
    return {table: _line(projection, run) for table, run in latest.items()}


def runs_at(projection: Projection, table: int) -> list[RunLine]:
    """The runs at a table, newest first as far as the hub has heard of them."""
    runs = [run for run in projection.tournament.runs.values() if run.table == table]
    return [_line(projection, run) for run in reversed(runs)]


def ids_of(projection: Projection, table: int | None, entrant: str | None) -> list[str]:
    """The runs at a table or of an entrant, by id or by public name."""
    return [
        run.id
        for run in projection.tournament.runs.values()
        if (table is None or run.table == table)
        and (entrant is None or entrant in (run.entrant, projection.names.of(run.category, run.entrant)))
    ]


def run_sheet(projection: Projection, run_id: str) -> RunSheet | None:
    """One run; None for one that is not there."""
    run = projection.tournament.runs.get(run_id)
    if run is None:
        return None
    rulings = projection.tournament.rulings_on(run)
    acts: list[Event] = [run.start, *run.acts]
    keys = [event.key for event in (*acts, *rulings)]
    return RunSheet(
        line=_line(projection, run),
        state=str(run.at(projection.until(run)).state),
        count=str(run.frame.rules.count.kind),
        most_pieces=sum(run.frame.rules.puzzles),
        times={event.key: run.span(stamp_of(event)) for event in acts},
        refused=frozenset(
            (p.log or "", p.seq or 0)
            for p in run.problems
            if p.code in ("act_refused", "act_after_undone_start")
        ),
        in_force=frozenset(ruling.key for ruling in rulings),
        version=hashlib.sha256(repr(keys).encode()).hexdigest()[:16],
    )


def _line(projection: Projection, run: Run) -> RunLine:
    result = projection.tournament.result(run, projection.until(run))
    entrant = run.entrant if result is None else result.entrant
    rules = projection.rulebook.categories.get(run.category)
    names = {} if rules is None else {language: rules.name_in(language) for language in ("es", "en")}
    return RunLine(
        run=run.id,
        table=run.table if result is None else result.table,
        entrant=entrant,
        name=projection.names.of(run.category, entrant),
        category=run.category,
        category_name=names,
        heat=run.heat,
        status=None if result is None else str(result.status),
        marks=() if result is None else tuple(str(mark) for mark in result.marks),
        official_s=None if result is None else result.official_s,
        raw_s=None if result is None else result.raw_s,
        assist_s=0 if result is None else result.assist_s,
        penalty_s=0 if result is None else result.penalty_s,
        pieces=None if result is None else result.pieces,
        problems=() if result is None else tuple(p.as_json() for p in result.problems),
    )
