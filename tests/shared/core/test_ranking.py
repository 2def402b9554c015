"""Places: equal ones share a place and the next is skipped; a broken tie makes them distinct."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.core.model import Mark, Status
from shared.core.ranking import rank
from shared.core.result import Result
from shared.core.rules import CategoryRules, Order
from tests.builders import CASTRILLO, TORNEO

LOOSE, JOINED = TORNEO["adulto"], CASTRILLO["adulto"]
ONE_SCALE = replace(LOOSE, order=Order.ONE_SCALE)


def finisher(entrant: str, seconds: int, *marks: Mark) -> Result:
    return Result(f"run-{entrant}", "adulto", entrant, 1, Status.FINISHED, official_s=seconds, marks=marks)


def unfinished(entrant: str, *, seconds: int | None = None, pieces: int | None = 5) -> Result:
    return Result(
        f"run-{entrant}", "adulto", entrant, 1, Status.UNFINISHED, official_s=seconds, pieces=pieces
    )


def ruled(entrant: str, status: Status) -> Result:
    return Result(f"run-{entrant}", "adulto", entrant, 1, status)


def places(results: list[Result], rules: CategoryRules = LOOSE, *ties: list[str]) -> str:
    return " ".join(f"{s.result.entrant}:{s.rank or '-'}" for s in rank(results, rules, ties))


def test_equal_times_share_a_place_and_the_next_place_is_skipped() -> None:
    assert places([finisher("c", 61), finisher("b", 60), finisher("a", 60)]) == "a:1 b:1 c:3"


def test_finishers_stand_before_the_unfinished_by_registered_time() -> None:
    results = [unfinished("a", seconds=50), finisher("b", 60), unfinished("c", seconds=40)]
    assert places(results) == "b:1 c:2 a:3"


def test_on_one_scale_the_registered_time_ranks_among_the_finishers() -> None:
    results = [unfinished("a", seconds=50), finisher("b", 60), unfinished("c", seconds=60)]
    assert places(results, ONE_SCALE) == "a:1 b:2 c:2"


def test_where_pieces_are_joined_the_most_pieces_come_first_after_the_finishers() -> None:
    results = [unfinished("a", pieces=5), unfinished("b", pieces=9), finisher("c", 999)]
    assert places(results, JOINED) == "c:1 b:2 a:3"


def test_who_is_not_ranked_stands_below_by_status() -> None:
    results = [
        ruled("v", Status.VOID),
        ruled("n", Status.DNS),
        ruled("q", Status.DSQ),
        ruled("f", Status.DNF),
        unfinished("u", pieces=None),
        ruled("r", Status.RUNNING),
        finisher("two", 1, Mark.TWO_RUNS),
        finisher("out", 1, Mark.OUT_OF_COMPETITION),
        finisher("try", 1, Mark.PRACTICE),
        finisher("a", 60, Mark.SUPERSEDED, Mark.INTERRUPTED),
    ]
    assert places(results) == "a:1 out:- try:- two:- r:- u:- f:- q:- n:- v:-"


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ([["b", "a", "c"]], "b:1 a:2 c:3 d:4"),
        ([["b", "a"]], "b:1 a:2 c:3 d:4"),
        ([["c", "b", "a"], ["a", "c", "b"]], "a:1 c:2 b:3 d:4"),
        ([["d", "a"]], "a:1 b:1 c:1 d:4"),
        ([["x", "y"]], "a:1 b:1 c:1 d:4"),
        ([], "a:1 b:1 c:1 d:4"),
    ],
)
def test_a_broken_tie_makes_the_places_of_whom_it_names_distinct(
    ties: list[list[str]], expected: str
) -> None:
    results = [finisher("a", 60), finisher("b", 60), finisher("c", 60), finisher("d", 61)]
    assert places(results, LOOSE, *ties) == expected


def test_two_that_a_tie_ruling_leaves_out_still_share_their_place() -> None:
    results = [finisher(name, 60) for name in "abcd"]
    assert places(results, LOOSE, ["d", "b"]) == "d:1 b:2 a:3 c:3"


def test_nobody_ranks_in_an_empty_category() -> None:
    assert rank([], LOOSE) == []
