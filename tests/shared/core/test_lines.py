"""Lines of a category: which of an entrant's runs counts, and who was absent."""

from __future__ import annotations

from itertools import permutations

import pytest

from shared.core.model import Mark, Status
from shared.core.ranking import Standing
from tests.builders import MINUTE, HubLog, TableLog, hub, log, tournament

HOUR = 60 * MINUTE


def adults(*logs: TableLog | HubLog) -> list[Standing]:
    return next(list(c.standings) for c in tournament(*logs).standings() if c.id == "adulto")


def short(*logs: TableLog | HubLog) -> list[tuple[str, int | None, Status, tuple[Mark, ...]]]:
    return [(s.result.run, s.rank, s.result.status, s.result.marks) for s in adults(*logs)]


def finished(run: str, ms: int, *, entrant: str = "e1", wall_ms: int | None = None) -> TableLog:
    table = log(run=run, name=f"log-{run}", device=f"t-{run}", boot=f"b-{run}", entrant=entrant)
    return table.start(0, wall_ms=wall_ms).finish(ms).accept(ms + 1)


def running(run: str, *, wall_ms: int | None = None) -> TableLog:
    return log(run=run, name=f"log-{run}", device=f"t-{run}", boot=f"b-{run}").start(0, wall_ms=wall_ms)


def counted(run: str, *, wall_ms: int | None = None) -> TableLog:
    return running(run, wall_ms=wall_ms).count(3 * HOUR, 0)


FINISHED, UNFINISHED = Status.FINISHED, Status.UNFINISHED


def test_of_two_live_runs_a_finished_one_counts_before_any_other() -> None:
    assert short(counted("r1", wall_ms=1), finished("r2", HOUR, wall_ms=2)) == [
        ("r2", 1, FINISHED, ()),
        ("r1", None, UNFINISHED, (Mark.TWO_RUNS,)),
    ]


def test_of_two_finished_runs_the_earlier_start_counts_by_the_label_of_wall_time() -> None:
    runs = [
        finished("r1", HOUR, wall_ms=9),
        finished("r2", 2 * HOUR, wall_ms=5),
        finished("r3", HOUR, wall_ms=7),
    ]
    for order in permutations(runs):
        assert [line[0] for line in short(*order)] == ["r2", "r1", "r3"]


def test_of_two_runs_in_one_log_the_earlier_counts_whatever_the_wall_clock_said() -> None:
    table = log().start(0, wall_ms=9).finish(HOUR).accept(HOUR + 1)
    table.next_run("r2").start(2 * HOUR, wall_ms=1).finish(3 * HOUR).accept(3 * HOUR + 1)
    assert [(run, rank) for run, rank, *_ in short(table)] == [("r1", 1), ("r2", None)]


def test_of_two_runs_with_a_clock_in_common_the_earlier_counts_whatever_the_wall_clock_said() -> None:
    first, second = finished("r1", HOUR, wall_ms=1), finished("r2", HOUR, wall_ms=9)
    first.anchor(0, 2_000_000)
    second.anchor(0, 1_000_000)
    assert [(run, rank) for run, rank, *_ in short(first, second)] == [("r2", 1), ("r1", None)]


def test_runs_that_started_at_one_instant_are_told_apart_by_wall_time() -> None:
    first, second = finished("r1", HOUR, wall_ms=9), finished("r2", HOUR, wall_ms=1)
    first.anchor(0, 1_000_000)
    second.anchor(0, 1_000_000)
    assert [run for run, *_ in short(first, second)] == ["r2", "r1"]


@pytest.mark.parametrize(
    ("rulings", "lines"),
    [
        (hub().void("r1"), [("r2", 1, FINISHED, (Mark.RERUN,))]),
        (hub().void("r2"), [("r1", 1, FINISHED, ())]),
        (hub().void("r1").void("r2"), [("r2", None, Status.VOID, ())]),
        (hub().void("r1").revoke(), [("r1", 1, FINISHED, ()), ("r2", None, FINISHED, (Mark.TWO_RUNS,))]),
        (hub().unfinished("r1"), [("r2", 1, FINISHED, ()), ("r1", None, Status.DNF, ())]),
        (hub().disqualify("r2"), [("r1", 1, FINISHED, ()), ("r2", None, Status.DSQ, ())]),
        (hub().reassign("r1", entrant="e2"), [("r1", 1, FINISHED, ()), ("r2", 2, FINISHED, ())]),
    ],
)
def test_a_ruling_settles_two_runs(
    rulings: HubLog, lines: list[tuple[str, int | None, Status, tuple[Mark, ...]]]
) -> None:
    assert short(finished("r1", HOUR, wall_ms=1), finished("r2", 2 * HOUR, wall_ms=2), rulings) == lines


def test_two_live_runs_after_a_void_one_are_both_repeats() -> None:
    runs = [finished(f"r{n}", HOUR + n, wall_ms=n) for n in (1, 2, 3)]
    assert [(line[0], line[3]) for line in short(*runs, hub().void("r1"))] == [
        ("r2", (Mark.RERUN,)),
        ("r3", (Mark.RERUN, Mark.TWO_RUNS)),
    ]


def test_one_entrant_may_have_a_run_in_each_of_two_categories() -> None:
    other = log("grupal-adulto", "r2", name="log-2").start(0).finish(HOUR).accept(HOUR + 1)
    folded = tournament(finished("r1", HOUR), other)
    assert [[s.rank for s in c.standings] for c in folded.standings() if c.standings] == [[1], [1]]


def test_runs_of_nobody_are_lines_of_their_own() -> None:
    nobody = [
        log(run=run, name=run, entrant=None).start(0).finish(HOUR + n).accept(2 * HOUR)
        for n, run in enumerate(("r1", "r2"))
    ]
    assert [(run, rank) for run, rank, *_ in short(*nobody)] == [("r1", 1), ("r2", 1)]


def test_practice_is_listed_not_ranked_and_is_no_second_run() -> None:
    practice = log(run="r0", name="log-0").start(0, practice=True).finish(HOUR).accept(2 * HOUR)
    assert short(practice, finished("r1", 2 * HOUR)) == [
        ("r1", 1, FINISHED, ()),
        ("r0", None, FINISHED, (Mark.PRACTICE,)),
    ]


def test_an_absent_entrant_has_a_line() -> None:
    (line,) = adults(hub().absent("e1").absent("e1").absent("e2", "infantil-5-7"))
    assert (line.rank, line.result.entrant, line.result.status, line.result.table) == (
        None,
        "e1",
        Status.DNS,
        0,
    )


def test_an_absence_that_was_revoked_leaves_no_line() -> None:
    assert adults(hub().absent("e1").revoke()) == []


def test_an_absent_entrant_whose_start_was_undone_has_a_line_of_their_own() -> None:
    (line,) = adults(log().start(0).undo(1), hub().absent("e1"))
    assert (line.result.run, line.result.status) == ("", Status.DNS)


def test_an_absent_entrant_who_practised_has_a_line_of_their_own() -> None:
    practice = log(run="r0").start(0, practice=True).finish(HOUR)
    assert [(run, status) for run, _, status, _ in short(practice, hub().absent("e1"))] == [
        ("r0", FINISHED),
        ("", Status.DNS),
    ]


def test_an_uncounted_run_awaits_its_count_without_a_rank() -> None:
    assert short(running("r1")) == [("r1", None, UNFINISHED, (Mark.AWAITING_COUNT,))]
