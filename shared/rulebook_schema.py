"""The schema of a rulebook file: its tables and keys, and how each becomes rules of the core.

A key that these models do not name is a problem, never ignored; docs/rulebook.md has them all.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal, TypeVar
from zoneinfo import available_timezones

from pydantic import BeforeValidator, Field

from shared.checked_toml import (
    Count,
    Id,
    Name,
    Seconds,
    SomeCount,
    SomeSeconds,
    Table,
)
from shared.core.eligibility import Among, Range, WhoRules
from shared.core.rules import (
    AssistRules,
    CategoryRules,
    CountKind,
    CountRules,
    EscapeRules,
    MissingRules,
    Order,
    PauseRules,
    RankingRules,
)


def _zone(value: object) -> object:
    if isinstance(value, str) and value in available_timezones():
        return value
    raise ValueError(f'{value!r} is no time zone; write for example "Europe/Madrid"')


def _names(value: object) -> object:
    return {"es": value, "en": value} if isinstance(value, str) else value


Names = Annotated[dict[Literal["es", "en"], Name], BeforeValidator(_names), Field(min_length=1)]
"""A name for people: one text, or one for each language."""


def _range(value: object) -> object:
    match = re.fullmatch(r"\s*(\d{0,4})\s*(-?)\s*(\d{0,4})\s*", value) if isinstance(value, str) else None
    if match is None or not (match[1] or match[3]) or bool(match[3]) > bool(match[2]):
        raise ValueError('a range is text, for example "2", "4-6", "18-" or "-2010"')
    least = int(match[1]) if match[1] else None
    most = int(match[3]) if match[3] else None if match[2] else least
    if least is not None and most is not None and least > most:
        raise ValueError(f'"{value}" runs backwards: write "{most}-{least}"')
    return Range(least, most)


Ages = Annotated[Range, BeforeValidator(_range)]
"""A range of whole numbers, written "2", "4-6", "18-" or "-2010"."""


def _none(value: object) -> object:
    return None if value == "none" else value


Some = TypeVar("Some")
NoneOr = Annotated[Some | None, BeforeValidator(_none)]
"""A table, or "none" for those who want to say that there is none."""


class TournamentTable(Table):
    """What the tournament is called and where its clocks are read."""

    name: Name
    time_zone: Annotated[str, BeforeValidator(_zone)] = "Europe/Madrid"
    language: Literal["es", "en"] = "es"
    ages_on: date | None = None
    """The date on which ages are taken, one for the whole tournament."""


class PausesTable(Table):
    """Absences that stop the clock: how many, how long each at most."""

    count: SomeCount
    each: SomeSeconds

    def rules(self) -> PauseRules:
        """The pauses as the core folds them."""
        return PauseRules(self.count, self.each * 1000)


class AssistsTable(Table):
    """The judge's help: how often, how long in all, and whether its time is added."""

    count: SomeCount
    total: SomeSeconds
    added: bool = True

    def rules(self) -> AssistRules:
        """The assists as the core folds them."""
        return AssistRules(self.count, self.total * 1000, self.added)


class MissingTable(Table):
    """Pieces missing at the claim: what each costs, and how many are charged at most."""

    per_piece: SomeSeconds
    most: SomeCount | None = None

    def rules(self) -> MissingRules:
        """The missing pieces as the core charges them."""
        return MissingRules(self.per_piece, self.most)


class AmongTable(Table):
    """So many of an entrant's people must be of these ages, born in these years, or have this flag."""

    least: SomeCount
    ages: Ages | None = None
    born: Ages | None = None
    flag: Id | None = None

    def rules(self) -> Among:
        """The same as the core checks it."""
        return Among(self.least, self.ages, self.born, self.flag)


class WhoTable(Table):
    """Who the category is for: people in an entrant, their ages or birth years, who must be among them."""

    people: Ages
    ages: Ages | None = None
    born: Ages | None = None
    among: tuple[AmongTable, ...] = ()

    def rules(self) -> WhoRules:
        """The same as the core checks it."""
        return WhoRules(self.people, self.ages, self.born, tuple(a.rules() for a in self.among))


class RankingTable(Table):
    """A further ranking from the same race: of the entrants with a flag."""

    id: Id
    name: Names
    flag: Id

    def rules(self) -> RankingRules:
        """The ranking as the core makes it."""
        return RankingRules(self.id, self.flag, tuple(self.name.items()))


class UnfinishedTable(Table):
    """How a puzzle that was not completed is measured, and where it stands."""

    count: CountKind
    group: SomeCount | None = None
    per_piece: Seconds = 0
    order: Order = Order.FINISHERS_FIRST


class EscapeTable(Table):
    """The escape stage: steps in order, its own limit, help paid with tickets."""

    steps: SomeCount
    limit: SomeSeconds
    tickets: Count
    hint_tickets: Count
    solution_tickets: Count
    help_wait: Seconds
    bought_ticket: Seconds
    redeemed_ticket: Seconds
    redeem_solved: Count
    redeem_stuck: tuple[Count, ...]

    def rules(self) -> EscapeRules:
        """The escape stage as the core folds it."""
        return EscapeRules(
            steps=self.steps,
            limit_ms=self.limit * 1000,
            tickets=self.tickets,
            hint_tickets=self.hint_tickets,
            solution_tickets=self.solution_tickets,
            help_wait_ms=self.help_wait * 1000,
            bought_ticket_s=self.bought_ticket,
            redeemed_ticket_s=self.redeemed_ticket,
            redeem_solved=self.redeem_solved,
            redeem_stuck=self.redeem_stuck,
        )


class CategoryTable(Table):
    """One category: who competes against whom is by `id`; the rest is how its runs are timed and judged."""

    id: Id
    name: Names
    pieces: SomeCount | None = None
    puzzles: Annotated[tuple[SomeCount, ...], Field(min_length=2)] | None = None
    limit: SomeSeconds
    preview: NoneOr[Seconds] = None
    pauses: NoneOr[PausesTable] = None
    assists: NoneOr[AssistsTable] = None
    unfinished: UnfinishedTable
    escape: EscapeTable | None = None
    missing: MissingTable | None = None
    guests: Id | None = None
    ranking: tuple[RankingTable, ...] = ()
    who: WhoTable | None = None

    def rules(self) -> CategoryRules:
        """The category as the core folds it."""
        puzzles = self.puzzles or (self.pieces or 0,)
        return CategoryRules(
            id=self.id,
            name=next(iter(self.name.values())),
            names=tuple(self.name.items()),
            pieces=puzzles[0],
            more_puzzles=puzzles[1:],
            limit_ms=self.limit * 1000,
            preview_ms=(self.preview or 0) * 1000,
            pauses=None if self.pauses is None else self.pauses.rules(),
            assists=None if self.assists is None else self.assists.rules(),
            count=CountRules(self.unfinished.count, self.unfinished.group or 1, self.unfinished.per_piece),
            order=self.unfinished.order,
            escape=None if self.escape is None else self.escape.rules(),
            missing=None if self.missing is None else self.missing.rules(),
            guests=self.guests,
            rankings=tuple(r.rules() for r in self.ranking),
            who=None if self.who is None else self.who.rules(),
        )


class ConfirmTable(Table):
    """A reading of a text that is silent or contradicts itself: to be confirmed before the day."""

    key: Name
    question: Names


class RulebookFile(Table):
    """The whole file."""

    tournament: TournamentTable
    confirm: tuple[ConfirmTable, ...] = ()
    category: Annotated[tuple[CategoryTable, ...], Field(min_length=1)]
