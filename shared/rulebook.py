"""A tournament's rulebook: one TOML file, checked whole, turned into the rules the core folds with.

The models below are the schema; a key that they do not name is a problem, never ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BeforeValidator, Field, model_validator

from shared.checked_toml import (
    BadFile,
    Count,
    Id,
    Name,
    Seconds,
    SomeCount,
    SomeSeconds,
    Table,
    load_toml,
    parse_toml,
)
from shared.core.rules import (
    AssistRules,
    CategoryRules,
    CountKind,
    CountRules,
    EscapeRules,
    Order,
    PauseRules,
)


def _zone(value: object) -> object:
    if isinstance(value, str) and value in available_timezones():
        return value
    raise ValueError(f'{value!r} is no time zone; write for example "Europe/Madrid"')


def _names(value: object) -> object:
    return {"es": value, "en": value} if isinstance(value, str) else value


Names = Annotated[dict[Literal["es", "en"], Name], BeforeValidator(_names), Field(min_length=1)]
"""A name for people: one text, or one for each language."""


class TournamentTable(Table):
    """What the tournament is called and where its clocks are read."""

    name: Name
    time_zone: Annotated[str, BeforeValidator(_zone)] = "Europe/Madrid"
    language: Literal["es", "en"] = "es"


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


class UnfinishedTable(Table):
    """How a puzzle that was not completed is measured, and where it stands."""

    count: CountKind
    group: SomeCount
    per_piece: Seconds = 0
    order: Order = Order.FINISHERS_FIRST

    @model_validator(mode="after")
    def _loose_pieces_cost(self) -> Self:
        if self.count is CountKind.LOOSE and self.per_piece == 0:
            raise ValueError('loose pieces need what each costs: write for example per_piece = "10s"')
        if self.count is CountKind.JOINED and self.per_piece:
            raise ValueError("joined pieces cost nothing: leave per_piece out")
        if self.count is CountKind.JOINED and self.order is Order.ONE_SCALE:
            raise ValueError("one scale needs loose pieces: joined pieces are no time")
        return self


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

    @model_validator(mode="after")
    def _one_number_a_step(self) -> Self:
        if len(self.redeem_stuck) != self.steps:
            raise ValueError(f"redeem_stuck needs one number for each of the {self.steps} steps")
        return self

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
    pieces: SomeCount
    limit: SomeSeconds
    preview: Seconds = 0
    pauses: PausesTable | None = None
    assists: AssistsTable | None = None
    unfinished: UnfinishedTable
    escape: EscapeTable | None = None

    @model_validator(mode="after")
    def _escape_fits(self) -> Self:
        if self.escape is not None and self.escape.limit > self.limit:
            raise ValueError("the escape's limit cannot be longer than the limit of the whole run")
        return self

    def rules(self) -> CategoryRules:
        """The category as the core folds it."""
        return CategoryRules(
            id=self.id,
            name=next(iter(self.name.values())),
            names=tuple(self.name.items()),
            pieces=self.pieces,
            limit_ms=self.limit * 1000,
            preview_ms=self.preview * 1000,
            pauses=None if self.pauses is None else self.pauses.rules(),
            assists=None if self.assists is None else self.assists.rules(),
            count=CountRules(self.unfinished.count, self.unfinished.group, self.unfinished.per_piece),
            order=self.unfinished.order,
            escape=None if self.escape is None else self.escape.rules(),
        )


class RulebookFile(Table):
    """The whole file."""

    tournament: TournamentTable
    category: Annotated[tuple[CategoryTable, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = [c.id for c in self.category]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"two categories have the id {', '.join(twice)}; give each its own")
        return self


class BadRulebook(BadFile):
    """A rulebook with problems, all of them."""


@dataclass(frozen=True, slots=True)
class Rulebook:
    """A tournament's rules, ready to be folded with."""

    name: str
    zone: ZoneInfo
    language: str
    categories: dict[str, CategoryRules]


def load_rulebook(path: Path) -> Rulebook:
    """The rulebook in a file, or BadRulebook with every problem of it."""
    try:
        return _rulebook(load_toml(RulebookFile, path, "a rulebook"))
    except BadFile as error:
        raise BadRulebook(error.name, error.problems) from error


def parse_rulebook(raw: bytes, name: str = "rulebook") -> Rulebook:
    """The rulebook in a file's bytes, or BadRulebook with every problem of it."""
    try:
        return _rulebook(parse_toml(RulebookFile, raw, name, "a rulebook"))
    except BadFile as error:
        raise BadRulebook(error.name, error.problems) from error


def _rulebook(file: RulebookFile) -> Rulebook:
    return Rulebook(
        name=file.tournament.name,
        zone=ZoneInfo(file.tournament.time_zone),
        language=file.tournament.language,
        categories={c.id: c.rules() for c in file.category},
    )


def shipped_rulebook(name: str) -> Rulebook:
    """A rulebook that comes with the program, by its file name without `.toml`."""
    source = resources.files("shared") / "rulebooks" / f"{name}.toml"
    return parse_rulebook(source.read_bytes(), f"{name}.toml")


def shipped_names() -> list[str]:
    """The names of the rulebooks that come with the program."""
    folder = resources.files("shared") / "rulebooks"
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))


def find_rulebook(name_or_path: str) -> Rulebook:
    """A rulebook by path, or by the name of one that comes with the program."""
    if name_or_path in shipped_names():
        return shipped_rulebook(name_or_path)
    return load_rulebook(Path(name_or_path))
