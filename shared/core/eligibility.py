"""Who may compete in a category: people, ages or birth years, and who must be among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.core.model import Level, Problem


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `least` to `most`, both included; None is open."""

    least: int | None = None
    most: int | None = None

    def __contains__(self, number: int) -> bool:
        above = self.least is None or number >= self.least
        return above and (self.most is None or number <= self.most)

    def __str__(self) -> str:
        if self.least == self.most:
            return str(self.least)
        return f"{'' if self.least is None else self.least}-{'' if self.most is None else self.most}"


@dataclass(frozen=True, slots=True)
class Among:
    """So many people of an entrant must be of these ages, born in these years, or have this flag."""

    least: int
    ages: Range | None = None
    born: Range | None = None
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class WhoRules:
    """Who a category is for."""

    people: Range
    ages: Range | None = None
    born: Range | None = None
    among: tuple[Among, ...] = ()


@dataclass(frozen=True, slots=True)
class Person:
    """One competitor: age on the tournament's date, year of birth, and flags such as `resident`."""

    age: int
    birth_year: int
    flags: frozenset[str] = frozenset()


def why_not(people: Sequence[Person], who: WhoRules) -> list[Problem]:
    """Everything that keeps these people out of a category, at once; nothing if they fit."""
    return list(_reasons(people, who))


def _reasons(people: Sequence[Person], who: WhoRules) -> Iterator[Problem]:
    if len(people) not in who.people:
        yield _problem("wrong_number_of_people", people=len(people), allowed=str(who.people))
    for place, person in enumerate(people, start=1):
        if who.ages is not None and person.age not in who.ages:
            yield _problem("wrong_age", person=place, age=person.age, allowed=str(who.ages))
        if who.born is not None and person.birth_year not in who.born:
            yield _problem("wrong_birth_year", person=place, year=person.birth_year, allowed=str(who.born))
    for among in who.among:
        found = sum(_is_among(person, among) for person in people)
        if found < among.least:
            wanted = among.flag or f"{among.ages or among.born}"
            yield _problem("too_few_among", found=found, least=among.least, wanted=wanted)


def _is_among(person: Person, among: Among) -> bool:
    of_age = among.ages is None or person.age in among.ages
    of_year = among.born is None or person.birth_year in among.born
    return of_age and of_year and (among.flag is None or among.flag in person.flags)


def _problem(code: str, **detail: object) -> Problem:
    return Problem(code, Level.ERROR, detail=detail)
