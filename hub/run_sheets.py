"""What a judge has to know of a run before ruling on it (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hub.projection import Projection
from hub.ruling_subjects import version_of
from shared.core.events import Event
from shared.core.model import State
from shared.core.rulings import RUN
from shared.core.run import Run, stamp_of
from shared.core.timeline import Span

Key = tuple[str, int]
"""Log and seq of an event."""
Steps = Mapping[Key, tuple[State, State]]
"""The states of a run before and after each of its acts."""


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
    entrants: Mapping[str, str]
    """Whose the run could be: the names of the category's planned entrants, by id."""


def latest_runs(projection: Projection) -> dict[int, RunLine]:
    """By table the run that the hub heard of last."""
    latest = {run.table: run for run in projection.tournament.runs.values()}
    return {table: line_of(projection, run) for table, run in latest.items()}


def runs_at(projection: Projection, table: int) -> list[RunLine]:
    """The runs at a table, newest first as far as the hub has heard of them."""
    runs = [run for run in projection.tournament.runs.values() if run.table == table]
    return [line_of(projection, run) for run in reversed(runs)]


def ids_of(projection: Projection, table: int | None, entrant: str | None) -> list[str]:
    """The runs at a table or of an entrant, by id or by public name; as they were timed and as was ruled."""
    found = []
    for run in projection.tournament.runs.values():
        result = projection.tournament.result(run, projection.until(run))
        tables = {run.table} if result is None else {run.table, result.table}
        entrants = {run.entrant} if result is None else {run.entrant, result.entrant}
        names = entrants | {projection.names.of(run.category, one) for one in entrants}
        if (table is None or table in tables) and (entrant is None or entrant in names):
            found.append(run.id)
    return found


def run_sheet(projection: Projection, run_id: str) -> RunSheet | None:
    """One run; None for one that is not there."""
    run = projection.tournament.runs.get(run_id)
    if run is None:
        return None
    rulings = projection.tournament.rulings_on(run)
    acts: list[Event] = [run.start, *run.acts]
    frame = run.frame
    return RunSheet(
        line=line_of(projection, run),
        state=str(run.at(projection.until(run)).state),
        count=str(frame.rules.count.kind),
        most_pieces=sum(map(frame.pieces_of, range(len(frame.rules.puzzles)))),
        times={event.key: run.span(stamp_of(event)) for event in acts},
        refused=frozenset(
            (p.log or "", p.seq or 0)
            for p in run.problems
            if p.code in ("act_refused", "act_after_undone_start")
        ),
        in_force=frozenset(ruling.key for ruling in rulings),
        version=version_of(projection, (RUN, run.id)),
        entrants=entrants_of(projection, run.category),
    )


def entrants_of(projection: Projection, category: str) -> Mapping[str, str]:
    """Names of the entrants that are planned in a category, by id."""
    return {entrant: name for (c, entrant), name in projection.names.by_entrant.items() if c == category}


def steps_of(projection: Projection, runs: Iterable[str]) -> Steps:
    """From which state to which each act of these runs led."""
    tournament, steps = projection.tournament, dict[Key, tuple[State, State]]()
    for run in (tournament.runs[run_id] for run_id in runs if run_id in tournament.runs):
        again = Run(run.start, run.frame.rules, tournament.timeline)
        again.refold(run.frame)
        steps[run.start.key] = State.READY, again.state.state
        for act in run.acts:
            before = again.at(again.elapsed_ms(stamp_of(act))).state
            again.apply(act)
            steps[act.key] = before, again.state.state
    return steps


def line_of(projection: Projection, run: Run) -> RunLine:
    """A run as a list shows it."""
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
