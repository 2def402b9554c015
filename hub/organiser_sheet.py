"""What an organiser has to know of the whole tournament before ruling on more than one run (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hub.projection import Projection
from hub.ruling_subjects import open_incidents, runs_of, subject, ties_of, version_of
from hub.run_sheets import RunLine, line_of
from shared.core.events import Event, EventType
from shared.core.model import Mark, Status
from shared.core.rulings import ENTRANT, HEAT, NOTHING, RUN, TIE, subject_of
from shared.core.tournament import CategoryStandings

#: Marks that wait for somebody's decision.
UNDECIDED: Final = frozenset({Mark.AWAITING_COUNT, Mark.INTERRUPTED, Mark.TWO_RUNS, Mark.UNACCEPTED})


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody of the plan in a category."""

    category: str
    category_name: Mapping[str, str]
    id: str
    name: str
    seen: str
    """Version for a ruling on this entrant."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A place that several share."""

    category: str
    category_name: Mapping[str, str]
    place: int
    entrants: tuple[tuple[str, str], ...]
    """Id and name of each."""
    seen: str


@dataclass(frozen=True, slots=True)
class Heat:
    """A heat that has begun."""

    name: str
    runs: int
    granted_s: int
    seen: str


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident that nobody has answered."""

    number: int
    event: Event
    run: RunLine | None
    seen: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A ruling in force on more than one run."""

    number: int
    event: Event
    name: str | None
    seen: str


@dataclass(frozen=True, slots=True)
class OrganiserSheet:
    """All of it."""

    undecided: tuple[RunLine, ...]
    incidents: tuple[Incident, ...]
    ties: tuple[Tie, ...]
    heats: tuple[Heat, ...]
    absent: tuple[Entrant, ...]
    """Planned, without a run and not said to be absent."""
    rulings: tuple[Standing, ...]
    seen: str
    """Version for what is about nothing in particular."""


def organiser_sheet(projection: Projection) -> OrganiserSheet:
    """As things stand."""
    standings = projection.tournament.standings(projection.until)
    return OrganiserSheet(
        undecided=tuple(_undecided(projection, standings)),
        incidents=tuple(_incident(projection, event) for event in open_incidents(projection)),
        ties=tuple(tie for category in standings for tie in _ties(projection, category)),
        heats=tuple(_heats(projection)),
        absent=tuple(_absent(projection)),
        rulings=tuple(_rulings(projection)),
        seen=version_of(projection, (NOTHING,)),
    )


def _undecided(projection: Projection, standings: list[CategoryStandings]) -> list[RunLine]:
    runs = projection.tournament.runs
    results = [s.result for category in standings for s in category.standings]
    waiting = [r.run for r in results if UNDECIDED.intersection(r.marks) and r.status is not Status.RUNNING]
    return [line_of(projection, runs[run]) for run in waiting if run in runs]


def _incident(projection: Projection, event: Event) -> Incident:
    run = projection.tournament.runs.get(event.run or "")
    line = None if run is None else line_of(projection, run)
    return Incident(event.seq, event, line, version_of(projection, subject_of(event)))


def _ties(projection: Projection, category: CategoryStandings) -> list[Tie]:
    seen = version_of(projection, (TIE, category.id))
    return [
        Tie(
            category.id,
            projection.category_names(category.id),
            place,
            tuple((entrant, projection.names.of(category.id, entrant) or entrant) for entrant in entrants),
            seen,
        )
        for place, entrants in ties_of(category)
    ]


def _heats(projection: Projection) -> list[Heat]:
    tournament = projection.tournament
    names = dict.fromkeys(run.heat for run in tournament.runs.values() if run.heat is not None)
    return [
        Heat(
            name,
            sum(run.heat == name for run in tournament.runs.values()),
            sum(ruling.data["seconds"] for ruling in tournament.rulings_about((HEAT, name))),
            version_of(projection, (HEAT, name)),
        )
        for name in names
    ]


def _absent(projection: Projection) -> list[Entrant]:
    ruled = {
        subject_of(r) for r in projection.tournament.rulings_in_force() if r.type == EventType.DID_NOT_START
    }
    return [
        Entrant(category, projection.category_names(category), entrant, name, version_of(projection, about))
        for (category, entrant), name in projection.names.by_entrant.items()
        if (about := (ENTRANT, category, entrant)) not in ruled and not runs_of(projection, category, entrant)
    ]


def _rulings(projection: Projection) -> list[Standing]:
    return [
        Standing(
            ruling.seq,
            ruling,
            projection.names.of(ruling.data.get("category"), ruling.data.get("entrant")),
            version_of(projection, subject(projection, ruling)),
        )
        for ruling in projection.tournament.rulings_in_force()
        if subject_of(ruling)[0] != RUN
    ]
