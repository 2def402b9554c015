"""Scoring logs without a hub: the standings of any number of event files, as JSON, table or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hub.archive_file import PLAN, BadArchive, is_archive, member
from hub.csv_cells import safe_cell
from hub.logs import UnreadableLog, read_logs
from hub.plan_file import parse_plan_file
from shared.core.events import ACTS, Event
from shared.core.model import Problem
from shared.core.ranking import Standing
from shared.core.run import END_OF_TIME_MS, Run, stamp_of
from shared.core.tournament import CategoryStandings, Tournament, Until, end_of_time
from shared.duration import clock_text, seconds_from
from shared.rulebook import Rulebook
from shared.standings import line_json, official_words, standings_json


@dataclass(frozen=True, slots=True)
class Scored:
    """Standings as text, the problems that the text does not hold, and how many events there were."""

    text: str
    problems: list[Problem]
    events: int


class BadWhen(ValueError):
    """A `--at` that is neither a duration nor a date and time; says what to write."""


def score(
    rulebook: Rulebook, paths: list[Path], when: str | None, form: str, plan: Path | None = None
) -> Scored:
    """The standings of these logs as text in one of FORMATS; `plan` tells the flags of entrants.

    Logs may be archives, whose plan is then used unless another is given.
    """
    events, problems = read_logs(paths)
    tournament = _folded(rulebook, events)
    until: Until = end_of_time
    if when is not None:
        asked = when_from(when, rulebook)
        until = asked.until
        tournament = _folded(rulebook, _as_of(events, tournament, asked))
    tournament.flags = _flags(_plan(plan, paths), rulebook)
    categories = tournament.standings(until)
    problems += tournament.problems
    if form == "json":
        data = standings_json(len(events), categories, problems)
        return Scored(json.dumps(data, ensure_ascii=False, indent=1) + "\n", [], len(events))
    return Scored(FORMATS[form](categories), problems, len(events))


def _folded(rulebook: Rulebook, events: Iterable[Event]) -> Tournament:
    tournament = Tournament(rulebook.categories)
    for event in events:
        tournament.apply(event)
    return tournament


def _as_of(events: Iterable[Event], whole: Tournament, when: When) -> Iterator[Event]:
    """The events without the acts and rulings that come after the instant asked for."""
    until, at_ms = when.until, when.at_ms
    for event in events:
        run = whole.runs.get(event.run or "")
        if run is not None and event.boot is not None and event.type in ACTS:
            happened = run.elapsed_ms(stamp_of(event)) <= until(run)
        else:  # a ruling has no other time than its label
            happened = at_ms is None or event.wall_ms is None or event.wall_ms <= at_ms
        if happened:
            yield event


def _plan(plan: Path | None, paths: Iterable[Path]) -> bytes | None:
    """The plan file that was given, else the one of an archive among the logs."""
    try:
        if plan is None:
            return next((raw for path in paths if is_archive(path) and (raw := member(path, PLAN))), None)
        return plan.read_bytes()
    except BadArchive as error:
        raise UnreadableLog(str(error)) from error
    except OSError as error:
        raise UnreadableLog(f"{plan} cannot be read ({error.strerror})") from error


def _flags(plan: bytes | None, rulebook: Rulebook) -> dict[tuple[str, str], frozenset[str]]:
    if plan is None:
        return {}
    rows = parse_plan_file(plan, rulebook.categories)
    return {(r.category, r.entrant or ""): frozenset(r.flags.split()) for r in rows}


@dataclass(frozen=True, slots=True)
class When:
    """The instant that was asked for: of each run, and of the wall clock where it was one of those."""

    until: Until
    at_ms: int | None = None


def when_from(text: str, rulebook: Rulebook) -> When:
    """To which instant each run is folded: `45m` after its start, or a date and time.

    A date and time without an offset is read in the rulebook's time zone and compared with the wall
    time written at each start; a run without one is folded to its end.
    """
    try:
        elapsed_ms = seconds_from(text) * 1000
    except ValueError:
        pass
    else:
        return When(lambda run: elapsed_ms)  # noqa: ARG005
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        said = f'"{text}" is no time: write a duration since each start ("45m") or a date and time'
        raise BadWhen(f'{said} ("2026-05-09T11:30")') from error
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=rulebook.zone)
    at_ms = int(instant.timestamp() * 1000)

    def until(run: Run) -> int:
        return END_OF_TIME_MS if run.start.wall_ms is None else at_ms - run.start.wall_ms

    return When(until, at_ms)


def _cells(standing: Standing) -> list[str]:
    line = line_json(standing)
    rank = "" if line["rank"] is None else str(line["rank"])
    raw = "" if line["raw_s"] is None else clock_text(line["raw_s"])
    added = [clock_text(line[k]) if line[k] else "" for k in ("assist_s", "penalty_s")]
    pieces = "" if line["pieces"] is None else str(line["pieces"])
    marks = " ".join(line["marks"])
    entrant = line["entrant"] or ""
    return [rank, entrant, line["status"], official_words(line), raw, *added, pieces, marks]


_HEAD = ["rank", "entrant", "status", "official", "raw", "assist", "penalty", "pieces", "marks"]


def _as_table(categories: list[CategoryStandings]) -> str:
    blocks = []
    for category in categories:
        for title, standings in _rankings(category):
            rows = [_HEAD, *(_cells(s) for s in standings)]
            widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
            lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
            blocks.append("\n".join([title, *lines]) + "\n")
    return "\n".join(blocks)


def _rankings(category: CategoryStandings) -> Iterator[tuple[str, tuple[Standing, ...]]]:
    yield category.id, category.standings
    for ranking, standings in category.further:
        yield f"{category.id}/{ranking}", standings


def _as_csv(categories: list[CategoryStandings]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["category", *_HEAD, "official_s"])
    for category in categories:
        for title, standings in _rankings(category):
            for standing in standings:
                cells = [title, *_cells(standing)]
                official_s = standing.result.official_s
                writer.writerow([*map(safe_cell, cells), "" if official_s is None else official_s])
    return out.getvalue()


FORMATS: dict[str, Callable[[list[CategoryStandings]], str]] = {"table": _as_table, "csv": _as_csv}
