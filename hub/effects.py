"""What a ruling changes: each line of the standings that is another one after it (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from shared.core.result import Result
from shared.core.tournament import CategoryStandings

MOST: Final = 200
"""More changed lines than these are told of no ruling."""
_Key = tuple[str, str]
"""Category, and the run, or the entrant who has none."""


@dataclass(frozen=True, slots=True)
class Worth:
    """A line of the standings as far as anybody asks what became of it."""

    entrant: str | None
    table: int
    rank: int | None
    status: str
    official_s: int | None
    pieces: int | None
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """What became of a line; None where there is none."""

    category: str
    run: str
    """Empty for an entrant who has none."""
    was: Worth | None
    became: Worth | None

    @property
    def entrant(self) -> str | None:
        """Whose line it is now, or was."""
        worth = self.became or self.was
        return None if worth is None else worth.entrant

    @property
    def changes(self) -> bool:
        """Whether anything is different; the run that a ruling is about is told of in any case."""
        return self.was != self.became

    def as_json(self) -> dict[str, Any]:
        """As it is kept beside the ruling."""
        return asdict(self)


def effect_from_json(data: Mapping[str, Any]) -> Effect:
    """An effect as it was kept."""
    return Effect(data["category"], data["run"], _worth(data["was"]), _worth(data["became"]))


def _worth(data: Mapping[str, Any] | None) -> Worth | None:
    return None if data is None else Worth(**{**data, "marks": tuple(data["marks"])})


def effects_of(
    before: Sequence[CategoryStandings], after: Sequence[CategoryStandings], about: Collection[str]
) -> tuple[Effect, ...]:
    """What differs. Runs that the ruling is `about` come first, changed or not, the others by their new place."""
    was, became = _lines(before), _lines(after)
    effects = [
        Effect(category, _run(name), was.get((category, name)), became.get((category, name)))
        for category, name in dict.fromkeys((*became, *was))
    ]
    found = [effect for effect in effects if effect.changes or effect.run in about]
    return tuple(sorted(found, key=lambda effect: effect.run not in about)[:MOST])


def _lines(standings: Iterable[CategoryStandings]) -> dict[_Key, Worth]:
    return {
        (category.id, _name(s.result)): Worth(
            entrant=s.result.entrant,
            table=s.result.table,
            rank=s.rank,
            status=str(s.result.status),
            official_s=s.result.official_s,
            pieces=s.result.pieces,
            marks=tuple(str(mark) for mark in s.result.marks),
        )
        for category in standings
        for s in category.standings
    }


def _name(result: Result) -> str:
    return result.run or f"\0{result.entrant}"


def _run(name: str) -> str:
    return "" if name.startswith("\0") else name
