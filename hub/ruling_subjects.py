"""What a ruling is about, and the version of it that somebody looked at (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import groupby

from hub.projection import Projection
from shared.core.events import Event, EventType
from shared.core.rulings import ENTRANT, HEAT, RUN, TIE, Subject, named_by, subject_of
from shared.core.tournament import CategoryStandings

ANSWERED = "answered"
OPEN = "open"


def subject(projection: Projection, ruling: Event) -> Subject:
    """Of a ruling; taking one back is about what that one is about."""
    if ruling.type != EventType.RULING_REVOKED:
        return subject_of(ruling)
    key = named_by(ruling, "ruling")
    revoked = (r for r in projection.tournament.rulings_in_force() if r.key == key)
    return next((subject_of(r) for r in revoked), subject_of(ruling))


def version_of(projection: Projection, about: Subject) -> str:
    """Changes when anything about it does that a decision could hang on.

    Of a heat only the rulings count: its tables are pressed all the time.
    """
    tournament = projection.tournament
    seen: list[object] = [r.key for r in tournament.rulings_about(about)]
    match about:
        case (kind, run_id) if kind == RUN:
            run = tournament.runs.get(run_id)
            if run is not None:
                acts = [event.key for event in (run.start, *run.acts)]
                seen = [acts, [r.key for r in tournament.rulings_on(run)]]
        case (kind, category, entrant) if kind == ENTRANT:
            seen += runs_of(projection, category, entrant)
        case (kind, category) if kind == TIE:
            seen += [(place, order) for place, order in ties_in(projection, category)]
    return hashlib.sha256(repr((about, seen)).encode()).hexdigest()[:16]


def runs_about(projection: Projection, about: Subject, entrants: Iterable[str] = ()) -> set[str]:
    """The runs that a ruling on this is about."""
    runs = projection.tournament.runs
    match about:
        case (kind, run) if kind == RUN:
            return {run}
        case (kind, heat) if kind == HEAT:
            return {run.id for run in runs.values() if run.heat == heat}
        case (kind, category, entrant) if kind == ENTRANT:
            return set(runs_of(projection, category, entrant))
        case (kind, category) if kind == TIE:
            return {run for entrant in entrants for run in runs_of(projection, category, entrant)}
    return set()


def runs_of(projection: Projection, category: str, entrant: str) -> list[str]:
    """Of an entrant in a category, practice left out."""
    runs = projection.tournament.runs.values()
    return [
        r.id for r in runs if r.category == category and r.entrant == entrant and r.started and not r.practice
    ]


def ties_in(projection: Projection, category: str) -> list[tuple[int, tuple[str, ...]]]:
    """The places that several entrants of a category share, and who they are."""
    return ties_of(
        next(c for c in projection.tournament.standings(projection.until) if c.id == category)
        if category in projection.rulebook.categories
        else CategoryStandings(category, ())
    )


def ties_of(category: CategoryStandings) -> list[tuple[int, tuple[str, ...]]]:
    """The same, of standings at hand."""
    ranked = [s for s in category.standings if s.rank is not None]
    ties = []
    for place, tied in groupby(ranked, key=lambda s: s.rank or 0):
        entrants = tuple(s.result.entrant for s in tied if s.result.entrant is not None)
        if len(entrants) > 1:
            ties.append((place, entrants))
    return ties


def open_incidents(projection: Projection) -> list[Event]:
    """Incidents that nobody has answered, the oldest first."""
    told = [r for r in projection.tournament.rulings_in_force() if r.type == EventType.INCIDENT_NOTED]
    answered = {
        named_by(r, "answers") for r in told if r.data.get("state") == ANSWERED and "answers" in r.data
    }
    return [r for r in told if r.data.get("state", OPEN) == OPEN and r.key not in answered]
