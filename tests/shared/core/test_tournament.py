"""All logs folded: what does not fit is told, nothing raises, nothing counts twice."""

from __future__ import annotations

from shared.core.events import Event, EventType
from shared.core.model import Level, Problem
from shared.core.tournament import Tournament
from tests.builders import CASTRILLO, MINUTE, TORNEO, codes, hub, log, result, tournament

HOUR = 60 * MINUTE


def from_hub(kind: str, **data: object) -> Event:
    return Event("hub", "hub-1", 1, kind, run="r1", data=data)


def test_an_event_that_comes_twice_counts_once() -> None:
    table = log("parejas").start(0).hint(MINUTE).step(MINUTE)
    folded = tournament(table, hub().penalty(30))
    again = tournament(table, table, hub().penalty(30), hub().penalty(30))
    assert again.results() == folded.results()
    assert len(again.runs["r1"].acts) == 2


def test_a_start_in_a_category_nobody_knows_is_told_once_and_its_acts_wait() -> None:
    folded = tournament(log("nowhere").start(0).pause(HOUR).resume(HOUR))
    assert codes(folded) == ["unknown_category"]
    assert folded.results() == []


def test_acts_without_a_start_are_told() -> None:
    assert codes(tournament(log().pause(0))) == ["act_without_start"]


def test_a_table_that_timed_by_other_rules_is_folded_with_the_hubs_and_told() -> None:
    judged = result(log().start(0, rules="0" * 64).finish(HOUR))
    assert (judged.raw_s, codes(judged)) == (58 * 60, ["rules_differ"])
    assert codes(result(log().start(0, rules=TORNEO["adulto"].digest()).finish(HOUR))) == []


def test_lost_records_and_unknown_types_are_told() -> None:
    table = log().start(0).write("records_missing", MINUTE, to=9)
    table.write("lamp_lit", MINUTE)
    assert codes(tournament(table)) == ["records_missing", "unknown_type"]


def test_acts_and_boots_that_the_hub_cannot_have_seen_are_told() -> None:
    for event in (
        from_hub("run_started", entrant=None, category="adulto", table=1),
        from_hub("pause_started"),
        from_hub("run_taken_over", from_log="a", from_seq=1),
        from_hub("boot_started", previous_boot=None, alive_ms=0),
    ):
        folded = tournament()
        folded.apply(event)
        assert codes(folded) == ["act_from_the_hub"]


def test_what_the_hub_says_of_its_own_clock_folds_nothing() -> None:
    folded = tournament(log().start(0))
    folded.apply(from_hub("clock_anchored", hub_ms=1, base="x", error_ms=0))
    assert codes(folded) == []


def test_a_refused_press_folds_nothing() -> None:
    table = log().start(0).write("press_refused", MINUTE, run="r1", act="pause_started", reason="preview")
    folded = tournament(table)
    folded.apply(Event("hub", "hub-1", 1, EventType.PRESS_REFUSED, data={"act": "x", "reason": "y"}))
    assert (codes(folded), folded.runs["r1"].acts) == ([], [])


def test_the_first_boot_of_a_table_follows_none() -> None:
    table = log().write("boot_started", 0, previous_boot=None, alive_ms=0).start(0).finish(HOUR)
    assert result(table).marks == ("unaccepted",)


def test_a_table_may_find_the_rules_of_a_start_elsewhere() -> None:
    folded = Tournament({}, lambda start: CASTRILLO["adulto"] if start.data["category"] == "x" else None)
    for event in log("x").start(0).finish(HOUR).events:
        folded.apply(event)
    assert [r.raw_s for r in folded.results()] == [3600]
    assert folded.standings() == []


def test_a_problem_says_where_it_stands() -> None:
    problem = Problem("records_missing", Level.ERROR, "log-1", 3, detail={"to": 9})
    assert problem.as_json() == {
        "code": "records_missing",
        "level": "error",
        "log": "log-1",
        "seq": 3,
        "to": 9,
    }


def test_what_was_missing_and_comes_late_folds_as_if_it_had_come_in_its_turn() -> None:
    table = log().start(0).pause(MINUTE).resume(2 * MINUTE).finish(HOUR)
    first, pause, resume, finish = table.events
    mark = Event(first.device, first.log, 2, "records_missing", first.boot, MINUTE, data={"to": 3})
    late = tournament()
    for event in (first, mark, finish):
        late.apply(event)
    assert "records_missing" in codes(late)
    late.apply(resume)
    assert "records_missing" in codes(late)
    late.apply(pause)
    assert (codes(late), late.results()) == (codes(tournament(table)), tournament(table).results())
