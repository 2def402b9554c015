"""What a scripted judge has in mind for one run, drawn before it begins (pure: chance is passed in)."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

_OVER_THE_LIMIT: Final = 0.15
_REJECTED: Final = 0.2
_MOST_LOOSE: Final = 40


@dataclass(frozen=True, slots=True)
class Absence:
    """A pause or an assist: when it begins, as a share of the limit, and how long it takes in run time."""

    at: float
    length_ms: int


@dataclass(frozen=True, slots=True)
class Script:
    """One run. Shares are of the category's limit; more pauses or assists than it has are left out."""

    wait_ms: int
    """Run time from the first look at READY to the START."""
    finish_at: float
    """1 and more: the limit comes first."""
    rejected: bool
    """The first FINISH was too early: held START, and FINISH again a little later."""
    pauses: tuple[Absence, ...]
    assists: tuple[Absence, ...]
    pieces: int
    """Counted when the limit came first."""
    rest_ms: int
    """Run time for which the result stays on the display."""
    choice: int
    """Which of the categories, where there is no plan."""


def script(random: Random) -> Script:
    """Draw one. The same numbers are drawn whatever the category, so that a seed means the same day."""
    wait_ms = random.randrange(5_000, 40_000)
    finish_at = random.uniform(0.35, 0.95)
    late = random.random() < _OVER_THE_LIMIT
    rejected = random.random() < _REJECTED
    pauses = _absences(random, 2, 0.35, (60_000, 280_000))
    assists = _absences(random, 3, 0.5, (30_000, 200_000))
    return Script(
        wait_ms=wait_ms,
        finish_at=2.0 if late else finish_at,
        rejected=rejected,
        pauses=pauses,
        assists=assists,
        pieces=random.randint(1, _MOST_LOOSE),
        rest_ms=random.randrange(60_000, 150_000),
        choice=random.randrange(0, 1_000),
    )


def _absences(random: Random, most: int, chance: float, length_ms: tuple[int, int]) -> tuple[Absence, ...]:
    drawn = [
        (random.random() < chance, Absence(random.uniform(0.1, 0.85), random.randrange(*length_ms)))
        for _ in range(most)
    ]
    return tuple(sorted((absence for wanted, absence in drawn if wanted), key=lambda a: a.at))
