"""Rulings as a table is told them: the whole list each time; and what they end."""

from __future__ import annotations

import pytest

from shared.core.events import Event
from shared.core.run import END_OF_TIME_MS
from tests.builders import HOUR, MINUTE, HubLog, TableLog, hub, log, tournament


def of_table(table: TableLog, *rulings: HubLog) -> tuple[bool, bool]:
    """Whether the run is settled while it runs, and at the end of time."""
    folded = tournament(table)
    folded.rule_anew(event for one in rulings for event in one.events)
    run = folded.runs["r1"]
    return folded.settled(run, 10 * MINUTE), folded.settled(run, END_OF_TIME_MS)


@pytest.mark.parametrize(
    ("rulings", "settled"),
    [
        (hub(), (False, False)),
        (hub().disqualify(), (True, True)),
        (hub().unfinished(), (True, True)),
        (hub().void(), (True, True)),
        (hub().time(3000), (True, True)),
        (hub().pieces(12), (False, True)),
        (hub().pieces(900), (False, False)),
        (hub().penalty(30), (False, False)),
        (hub().grant(60, "r1"), (False, False)),
        (hub().disqualify().revoke(1), (False, False)),
        (hub().pieces(12).reopen(), (False, False)),
    ],
)
def test_a_status_a_time_or_a_count_after_the_limit_settles_a_run(
    rulings: HubLog, settled: tuple[bool, bool]
) -> None:
    assert of_table(log().start(), rulings) == settled


def test_a_run_whose_start_was_undone_is_settled_by_nothing() -> None:
    assert of_table(log().start().undo(1000), hub().disqualify()) == (False, False)


def test_what_is_told_takes_the_place_of_all_that_was_told_before() -> None:
    folded = tournament(log().start().finish(50 * MINUTE).accept(51 * MINUTE))
    run = folded.runs["r1"]
    before = folded.result(run)
    folded.rule_anew(hub().grant(600, "r1").penalty(30).events)
    ruled = folded.result(run)
    folded.rule_anew(())
    assert before is not None
    assert ruled is not None
    assert (before.raw_s, ruled.raw_s, ruled.penalty_s) == (48 * 60, 38 * 60, 30)
    assert folded.result(run) == before


def test_a_run_that_was_voided_last_can_be_run_again() -> None:
    folded = tournament(log().start(), hub().disqualify().void())
    assert folded.voided(folded.runs["r1"])
    again = tournament(log().start(), hub().void().disqualify())
    assert not again.voided(again.runs["r1"])


def test_the_rulings_told_one_by_one_and_all_anew_give_the_same_result() -> None:
    table = log().start(heat="h1").count(4 * HOUR, 20)
    rulings: list[Event] = hub().grant(600, heat="h1").pieces(30).penalty(5).events
    live = tournament(table, hub().grant(600, heat="h1").pieces(30).penalty(5))
    told = tournament(table)
    told.rule_anew(rulings)
    assert told.result(told.runs["r1"]) == live.result(live.runs["r1"])
