"""Whether a ruling can be given, and what it would change (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hub.effects import Effect, effects_of
from hub.people import Person
from hub.projection import Projection
from hub.ruling_kinds import KINDS, for_judges
from hub.ruling_subjects import ANSWERED, OPEN, open_incidents, runs_about, subject, ties_in, version_of
from shared.core.events import HUB_DEVICE, Event, EventType
from shared.core.model import Status
from shared.core.rulings import RUN, named_by
from shared.core.tournament import Tournament

LONGEST_REASON: Final = 500
SAID_AGAIN_MS: Final = 60_000
_BEHIND_ALL: Final = 2**53 - 1
"""The seq of a ruling that is only looked at."""
#: What the core would tell of a ruling that does nothing: better not given at all.
_USELESS: Final = frozenset(
    {
        "nothing_to_reopen",
        "pieces_not_due",
        "ruling_says_nothing",
        "ruling_without_run",
        "unknown_category",
        "which_puzzle",
    }
)


class CannotRule(ValueError):
    """A ruling that is not given; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ChangedMeanwhile(Exception):
    """Something was pressed or ruled since the judge looked: look again, then decide."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What somebody decides."""

    kind: EventType
    reason: str
    by: Person
    seen: str
    """Version of what it is about as it was looked at."""
    run: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


def consider(
    projection: Projection, ruling: Ruling, log: str, now_ms: int
) -> tuple[Event, tuple[Effect, ...]]:
    """The ruling as it would stand in the hub's log, but for its seq, and what it would change.

    Raises CannotRule, ChangedMeanwhile.
    """
    meant = _meant(ruling, log, now_ms)
    revoked = _revoked(projection, meant)
    if not ruling.by.organises and not _is_a_judges(meant if revoked is None else revoked):
        raise CannotRule("not_yours")
    about = subject(projection, meant)
    if about[0] == RUN and about[1] not in projection.tournament.runs:
        raise CannotRule("no_run")
    if version_of(projection, about) != ruling.seen:
        raise ChangedMeanwhile
    _check_names(projection, meant)
    supposed = projection.tournament.supposing(meant)
    _check_use(projection, supposed, meant)
    before = projection.tournament.standings(projection.until)
    after = supposed.standings(projection.until)
    return meant, effects_of(before, after, runs_about(projection, about, meant.data.get("order", ())))


def is_said_again(projection: Projection, ruling: Ruling, now_ms: int) -> bool:
    """Whether the same person has noted the same incident within the last minute, and nobody answered it."""
    if ruling.kind is not EventType.INCIDENT_NOTED or "answers" in ruling.data:
        return False
    text = _reason(ruling).casefold()
    return any(
        (told.run, told.data["by"]) == (ruling.run, ruling.by.name)
        and told.data["text"].casefold() == text
        and told.wall_ms is not None
        and abs(now_ms - told.wall_ms) < SAID_AGAIN_MS
        for told in open_incidents(projection)
    )


def may_give(by: Person, ruling: Event) -> bool:
    """Whether somebody may give, and take back, such a ruling."""
    return by.organises or _is_a_judges(ruling)


def _is_a_judges(ruling: Event) -> bool:
    return for_judges(ruling.type, ruling.data, about_a_run=ruling.run is not None)


def _meant(ruling: Ruling, log: str, now_ms: int) -> Event:
    reason, kind = _reason(ruling), KINDS.get(ruling.kind)
    if not reason:
        raise CannotRule("no_reason")
    if len(reason) > LONGEST_REASON:
        raise CannotRule("long_reason")
    if kind is None or not kind.fits(ruling.data):
        raise CannotRule("bad_number")
    data = dict(ruling.data) | {"reason": reason, "by": ruling.by.name}
    if data.get("of_log") == log:
        del data["of_log"]
    if ruling.kind is EventType.INCIDENT_NOTED:
        data |= {"text": reason, "state": ANSWERED if "answers" in data else OPEN}
    return Event(HUB_DEVICE, log, _BEHIND_ALL, ruling.kind, wall_ms=now_ms, run=ruling.run, data=data)


def _reason(ruling: Ruling) -> str:
    return " ".join(ruling.reason.split())


def _revoked(projection: Projection, meant: Event) -> Event | None:
    """The ruling that is to be taken back, if one is."""
    if meant.type != EventType.RULING_REVOKED:
        return None
    for ruling in projection.tournament.rulings_in_force():
        if ruling.key == named_by(meant, "ruling") and ruling.run == meant.run:
            return ruling
    raise CannotRule("nothing_to_revoke")


def _check_names(projection: Projection, meant: Event) -> None:
    """Entrants of the plan, tied ones as they are tied, an incident that is open, pieces that a puzzle has."""
    data, runs = meant.data, projection.tournament.runs
    match meant.type:
        case EventType.DID_NOT_START:
            _check_entrant(projection, data["category"], data["entrant"])
        case EventType.RUN_REASSIGNED if data.get("entrant") is not None and meant.run is not None:
            _check_entrant(projection, runs[meant.run].category, data["entrant"])
        case EventType.TIE_BROKEN:
            ties = [set(tied) for _, tied in ties_in(projection, data["category"])]
            if set(data["order"]) not in ties:
                raise CannotRule("no_tie")
        case EventType.INCIDENT_NOTED if "answers" in data:
            here = [incident.key for incident in open_incidents(projection) if incident.run == meant.run]
            if named_by(meant, "answers") not in here:
                raise CannotRule("no_incident")
        case EventType.PIECES_CORRECTED if meant.run is not None:
            frame = runs[meant.run].frame
            if data["pieces"] > sum(map(frame.pieces_of, range(len(frame.rules.puzzles)))):
                raise CannotRule("too_many_pieces")


def _check_entrant(projection: Projection, category: str, entrant: str) -> None:
    if (category, entrant) not in projection.names.by_entrant:
        raise CannotRule("no_entrant")


def _check_use(projection: Projection, supposed: Tournament, meant: Event) -> None:
    """A ruling that does nothing is told before it is given."""
    problems, run = list(supposed.problems), supposed.runs.get(meant.run or "")
    result = None if run is None else supposed.result(run, projection.until(run))
    if result is not None:
        problems += result.problems
    for problem in problems:
        if (problem.log, problem.seq) == meant.key and problem.code in _USELESS:
            # Of a table that is not heard the hub does not know yet that its time is up.
            waits = (
                problem.code == "pieces_not_due" and result is not None and result.status is Status.RUNNING
            )
            if not waits:
                raise CannotRule(problem.code)
