"""Who is where: one sort key for every page, file and screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from shared.core.model import Mark, Status
from shared.core.result import Result
from shared.core.rules import CategoryRules, Order

Key = tuple[int, int]
_NOT_RANKED: Final = frozenset({Mark.PRACTICE, Mark.OUT_OF_COMPETITION, Mark.TWO_RUNS})
_LISTED: Final = (Status.RUNNING, Status.UNFINISHED, Status.DNF, Status.DSQ, Status.DNS, Status.VOID)


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a category's ranking; `rank` None where none is due."""

    rank: int | None
    result: Result


def sort_key(result: Result, rules: CategoryRules) -> Key | None:
    """What ranks a result, smallest first; None for one that is not ranked.

    Finishers by official time; then, unless the rules want one scale, the unfinished: by registered
    time where loose pieces cost seconds, by pieces joined, most first, elsewhere.
    """
    if _NOT_RANKED.intersection(result.marks):
        return None
    if result.status is Status.FINISHED:
        assert result.official_s is not None, "a finisher has an official time"
        return 0, result.official_s
    if result.status is not Status.UNFINISHED or result.pieces is None:
        return None
    if rules.pieces_rank:
        return 1, -result.pieces
    assert result.official_s is not None, "loose pieces register as time"
    return (0 if rules.order is Order.ONE_SCALE else 1), result.official_s


def rank(
    results: Iterable[Result], rules: CategoryRules, ties_broken: Sequence[Sequence[str]] = ()
) -> list[Standing]:
    """The category's standings: equal keys share a place and the next place is skipped (1, 1, 3).

    A broken tie makes the places of the entrants it names distinct, best first. Inside a tie the order
    is by entrant, stable and no ranking. Results not ranked stand below, by status.
    """
    ranked: list[tuple[Key, Result]] = []
    below: list[Result] = []
    for result in results:
        key = sort_key(result, rules)
        if key is None:
            below.append(result)
        else:
            ranked.append((key, result))
    ranked.sort(key=lambda kr: (kr[0], *_name(kr[1])))
    standings: list[Standing] = []
    for _, tied in groupby(ranked, key=lambda kr: kr[0]):
        standings += _placed([r for _, r in tied], len(standings) + 1, ties_broken)
    below.sort(key=lambda r: (_LISTED.index(r.status) if r.status in _LISTED else -1, *_name(r)))
    return standings + [Standing(None, r) for r in below]


def further(standings: Iterable[Standing], has_flag: Callable[[str], bool]) -> list[Standing]:
    """A further ranking from the same race: of ranked entrants with a flag, places numbered anew.

    Who shares a place in the race shares it here; a tie broken there is broken here.
    """
    chosen = [s for s in standings if s.rank is not None and has_flag(s.result.entrant or "")]
    places: dict[int, int] = {}
    for n, standing in enumerate(chosen, start=1):
        places.setdefault(standing.rank or 0, n)
    return [Standing(places[s.rank or 0], s.result) for s in chosen]


def _name(result: Result) -> tuple[str, str]:
    return result.entrant or "", result.run


def _placed(tied: list[Result], place: int, ties_broken: Sequence[Sequence[str]]) -> list[Standing]:
    if len(tied) == 1:
        return [Standing(place, tied[0])]
    order: Sequence[str] = ()
    for ruled in ties_broken:  # the last ruling on these entrants holds
        if sum(r.entrant in ruled for r in tied) > 1:
            order = ruled
    named = sorted((r for r in tied if r.entrant in order), key=lambda r: order.index(r.entrant or ""))
    others = [r for r in tied if r.entrant not in order]
    standings = [Standing(place + i, r) for i, r in enumerate(named)]
    return standings + [Standing(place + len(named), r) for r in others]
