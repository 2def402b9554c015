"""Rulings, clause by clause: what each changes, and that a revoked one was never given.

Long because each ruling has its cases here.
"""

from __future__ import annotations

import pytest

from shared.core.events import Event, EventType
from shared.core.model import Mark, Status
from shared.core.result import Result
from tests.builders import (
    CASTRILLO,
    HOUR,
    MINUTE,
    HubLog,
    TableLog,
    codes,
    hub,
    log,
    result,
    tournament,
)

S = 1000


def finished() -> TableLog:
    """Raw 48 minutes, an assist of one minute."""
    table = log().start(0, heat="h1").assist(3 * MINUTE).end_assist(4 * MINUTE)
    return table.finish(50 * MINUTE).accept(51 * MINUTE)


def uncounted(category: str = "adulto") -> TableLog:
    return log(category).start(0, heat="h1")


def counted(pieces: int, category: str = "adulto") -> TableLog:
    return uncounted(category).count(4 * HOUR, pieces)


RAW = 48 * 60
LIMIT_S = 7200


def facts(judged: Result) -> tuple[Status, int | None, int | None, tuple[Mark, ...]]:
    return judged.status, judged.official_s, judged.pieces, judged.marks


# Penalties ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [30, -30, 0])
def test_a_penalty_is_added_to_the_official_time_of_a_finisher(seconds: int) -> None:
    judged = result(finished(), hub().penalty(seconds))
    assert (judged.official_s, judged.penalty_s) == (RAW + 60 + seconds, seconds)


def test_a_penalty_is_added_to_the_registered_time_of_loose_pieces() -> None:
    judged = result(counted(3), hub().penalty(15))
    assert (judged.official_s, judged.penalty_s) == (LIMIT_S + 30 + 15, 15)


def test_no_official_time_is_below_zero() -> None:
    assert result(finished(), hub().penalty(-9000)).official_s == 0
    assert result(counted(0), hub().penalty(-9000)).official_s == 0


def test_a_penalty_where_pieces_rank_moves_nothing_and_says_so() -> None:
    table = log("castrillo").start(0).count(4 * HOUR, 300)
    judged = result(table, hub().penalty(60), rules={"castrillo": CASTRILLO["adulto"]})
    assert (judged.pieces, judged.official_s, judged.penalty_s) == (300, None, 60)
    assert codes(judged) == ["penalty_moves_nothing"]


def test_a_penalty_on_a_run_that_still_runs_waits_for_its_time() -> None:
    folded = tournament(uncounted(), hub().penalty(60))
    judged = folded.result(folded.runs["r1"], HOUR)
    assert judged is not None
    assert (judged.status, judged.official_s, judged.penalty_s) == (Status.RUNNING, None, 60)


# Pieces -------------------------------------------------------------------------------------------


def test_a_corrected_count_goes_over_the_one_at_the_table() -> None:
    judged = result(counted(9), hub().pieces(4))
    assert facts(judged) == (Status.UNFINISHED, LIMIT_S + 40, 4, (Mark.CORRECTED,))


def test_an_uncounted_run_is_counted_on_the_phone_of_the_judge() -> None:
    assert facts(result(uncounted(), hub().pieces(4))) == (Status.UNFINISHED, LIMIT_S + 40, 4, ())


def test_a_second_count_on_the_phone_is_a_correction() -> None:
    judged = result(uncounted(), hub().pieces(4).pieces(5))
    assert (judged.pieces, judged.marks) == (5, (Mark.CORRECTED,))


@pytest.mark.parametrize(("table", "left"), [(uncounted(), None), (counted(9), 9)])
def test_a_correction_out_of_range_is_a_problem_and_changes_nothing(
    table: TableLog, left: int | None
) -> None:
    judged = result(table, hub().pieces(201))
    assert (judged.pieces, codes(judged)) == (left, ["too_many_pieces"])
    assert (Mark.AWAITING_COUNT in judged.marks) is (left is None)


def test_a_correction_of_a_finished_run_is_a_problem_and_changes_nothing() -> None:
    judged = result(finished(), hub().pieces(4))
    assert (judged.status, judged.pieces, codes(judged)) == (Status.FINISHED, None, ["pieces_not_due"])


def test_a_correction_of_a_run_that_still_runs_is_a_problem_and_changes_nothing() -> None:
    folded = tournament(uncounted(), hub().pieces(4))
    judged = folded.result(folded.runs["r1"], HOUR)
    assert judged is not None
    assert (judged.status, judged.pieces, codes(judged)) == (Status.RUNNING, None, ["pieces_not_due"])


@pytest.mark.parametrize(
    ("rulings", "pieces", "problems"),
    [
        (hub().puzzle(190).pieces(195), None, ["too_many_pieces"]),
        (hub().puzzle(190).pieces(190), 190, []),
        (hub().pieces(195).puzzle(190), 195, ["too_many_pieces"]),
        (hub().pieces(190).puzzle(190), 190, []),
        (hub().puzzle(210).pieces(205), 205, []),
        (hub().puzzle(190).pieces(195).revoke(1), 195, []),
    ],
)
def test_a_puzzle_that_came_short_bounds_the_counts_that_follow(
    rulings: HubLog, pieces: int | None, problems: list[str]
) -> None:
    judged = result(uncounted(), rulings)
    assert (judged.pieces, codes(judged)) == (pieces, problems)


def test_a_puzzle_that_came_short_does_not_undo_a_count_made_before() -> None:
    judged = result(counted(195), hub().puzzle(190))
    assert (judged.pieces, codes(judged)) == (195, ["too_many_pieces"])


def test_a_puzzle_with_more_pieces_can_be_counted_at_the_table() -> None:
    assert result(hub().puzzle(210), counted(205)).pieces == 205


# A time set by hand -------------------------------------------------------------------------------


@pytest.mark.parametrize("rulings", [hub().penalty(30).time(2000), hub().time(2000).penalty(30)])
def test_to_a_time_set_no_assist_or_penalty_is_added_earlier_or_later(rulings: HubLog) -> None:
    judged = result(finished(), rulings)
    assert facts(judged) == (Status.FINISHED, 2000, None, (Mark.MANUAL,))
    assert (judged.raw_s, judged.assist_s, judged.penalty_s) == (RAW, 60, 30)


@pytest.mark.parametrize("table", [uncounted(), counted(9), log().start().finish(HOUR)])
def test_a_time_set_makes_any_run_a_finisher(table: TableLog) -> None:
    assert facts(result(table, hub().time(2000))) == (Status.FINISHED, 2000, None, (Mark.MANUAL,))


def test_a_time_set_makes_a_run_a_finisher_that_still_runs() -> None:
    folded = tournament(uncounted(), hub().time(2000))
    judged = folded.result(folded.runs["r1"], HOUR)
    assert judged is not None
    assert facts(judged) == (Status.FINISHED, 2000, None, (Mark.MANUAL,))


def test_of_several_times_set_the_last_holds() -> None:
    assert result(finished(), hub().time(2000).time(2100)).official_s == 2100


def test_a_status_goes_over_a_time_set_earlier_or_later() -> None:
    for rulings in (hub().disqualify().time(2000), hub().time(2000).disqualify()):
        judged = result(finished(), rulings)
        assert (judged.status, judged.official_s) == (Status.DSQ, 2000)


def test_a_count_after_a_time_set_is_a_problem_and_changes_nothing() -> None:
    judged = result(counted(9), hub().time(2000).pieces(4))
    assert (judged.pieces, codes(judged)) == (None, ["pieces_not_due"])


def test_a_penalty_of_an_unfinished_pair_moves_nothing_also_under_a_time_set() -> None:
    judged = result(log("parejas").start(0), hub().penalty(60).time(2000))
    assert (judged.official_s, judged.penalty_s, codes(judged)) == (2000, 60, [])


# Time granted -------------------------------------------------------------------------------------


def test_time_granted_to_a_run_and_to_its_heat_adds_up() -> None:
    judged = result(finished(), hub().grant(60, "r1").grant(120, heat="h1").grant(999, heat="h2"))
    assert judged.raw_s == RAW - 180


def test_time_granted_moves_the_limit_even_if_given_later() -> None:
    late = log().start(0, heat="h1").finish(123 * MINUTE).accept(124 * MINUTE)
    assert result(late).status is Status.UNFINISHED
    assert result(late, hub().grant(120, heat="h1")).raw_s == 119 * 60


def test_time_granted_that_was_revoked_was_never_granted() -> None:
    for rulings in (hub().grant(60, "r1").revoke(), hub().grant(60, heat="h1").revoke()):
        assert result(finished(), rulings) == result(finished())


def test_time_granted_before_the_run_arrived_counts() -> None:
    assert result(hub().grant(60, heat="h1"), finished()).raw_s == RAW - 60


def test_time_taken_away_makes_the_clock_show_more() -> None:
    judged = result(finished(), hub().grant(-60, "r1"))
    assert (judged.raw_s, judged.assist_s) == (RAW + 60, 60)


def test_time_granted_to_a_run_says_nothing_about_its_heat() -> None:
    other = log(run="r2", name="log-2", entrant="e2").start(0, heat="h1").finish(50 * MINUTE)
    grant = hub().rule(EventType.TIME_GRANTED, "r1", seconds=60, heat="h1")
    raw = {r.run: r.raw_s for r in tournament(finished(), other, grant).results()}
    assert raw == {"r1": RAW - 60, "r2": RAW}


def test_time_granted_to_nobody_is_a_problem() -> None:
    assert codes(tournament(finished(), hub().grant(60))) == ["ruling_without_run"]


# Status -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rulings", "status"),
    [
        (hub().disqualify(), Status.DSQ),
        (hub().unfinished(), Status.DNF),
        (hub().void(), Status.VOID),
        (hub().absent(), Status.DNS),
        (hub().disqualify().unfinished(), Status.DNF),
        (hub().unfinished().disqualify(), Status.DSQ),
        (hub().absent().disqualify(), Status.DSQ),
        (hub().disqualify().absent(), Status.DNS),
        (hub().absent().void(), Status.VOID),
        (hub().disqualify().unfinished().revoke(), Status.DSQ),
        (hub().disqualify().revoke(), Status.FINISHED),
        (hub().absent().revoke(), Status.FINISHED),
        (hub().absent("e2").absent(category="parejas"), Status.FINISHED),
    ],
)
def test_of_several_statuses_the_last_in_force_holds_and_numbers_stay(
    rulings: HubLog, status: Status
) -> None:
    judged = result(finished(), rulings)
    assert (judged.status, judged.official_s, judged.raw_s) == (status, RAW + 60, RAW)


def test_an_absent_entrant_with_a_run_is_a_problem() -> None:
    assert codes(result(finished(), hub().absent())) == ["did_not_start_but_has_a_run"]


def test_a_pieces_count_under_a_disqualification_stays_visible() -> None:
    judged = result(uncounted(), hub().disqualify().pieces(4))
    assert (judged.status, judged.pieces, judged.official_s) == (Status.DSQ, 4, LIMIT_S + 40)


# Reopened -----------------------------------------------------------------------------------------


def test_reopening_takes_back_the_accept() -> None:
    assert facts(result(finished(), hub().reopen())) == (
        Status.FINISHED,
        RAW + 60,
        None,
        (Mark.UNACCEPTED,),
    )


def test_reopening_takes_back_the_count() -> None:
    assert facts(result(counted(9), hub().reopen())) == (
        Status.UNFINISHED,
        None,
        None,
        (Mark.AWAITING_COUNT,),
    )
    assert facts(result(counted(9), hub().pieces(8).reopen())) == facts(result(counted(9), hub().reopen()))


def test_a_reopened_count_is_settled_at_the_hub() -> None:
    judged = result(counted(9), hub().reopen().pieces(4).penalty(5))
    assert facts(judged) == (Status.UNFINISHED, LIMIT_S + 45, 4, (Mark.CORRECTED,))


def test_a_reopened_finish_is_settled_by_a_time_or_a_status() -> None:
    assert facts(result(finished(), hub().reopen().time(2000)))[1:] == (2000, None, (Mark.MANUAL,))
    assert result(finished(), hub().reopen().unfinished()).status is Status.DNF
    assert codes(result(finished(), hub().reopen().pieces(3))) == ["pieces_not_due"]


@pytest.mark.parametrize(
    "logs",
    [
        (uncounted(), hub().reopen()),
        (log().start().finish(HOUR), hub().reopen()),
        (finished(), hub().reopen().reopen()),
        (finished(), hub().time(2000).reopen()),
        (counted(9), hub().time(2000).reopen()),
    ],
)
def test_what_is_not_closed_cannot_be_reopened(logs: tuple[TableLog, HubLog]) -> None:
    assert codes(result(*logs)) == ["nothing_to_reopen"]


# Reassigned, ties, incidents ----------------------------------------------------------------------


def test_a_run_goes_to_another_entrant_or_table() -> None:
    judged = result(finished(), hub().reassign(entrant="e9").reassign(table=7))
    assert (judged.entrant, judged.table) == ("e9", 7)


def test_a_run_started_without_an_entrant_is_bound_later() -> None:
    assert result(log(entrant=None).start().finish(HOUR), hub().reassign(entrant="e9")).entrant == "e9"


def test_an_incident_changes_nothing() -> None:
    rulings = hub().rule(EventType.INCIDENT_NOTED, "r1", text="box opened", state="open")
    assert result(finished(), rulings) == result(finished())


# Revoked ------------------------------------------------------------------------------------------


def test_a_revocation_that_is_revoked_leaves_the_ruling_in_force() -> None:
    judged = result(finished(), hub().penalty(30).revoke(1).revoke(2))
    assert judged.penalty_s == 30
    assert result(finished(), hub().penalty(30).revoke(1).revoke(2).revoke(3)).penalty_s == 0


def test_a_revocation_may_come_before_its_ruling() -> None:
    rulings = hub().penalty(30).grant(60, "r1").revoke(1).revoke(2)
    folded = tournament(finished())
    for ruling in reversed(rulings.events):
        folded.apply(ruling)
    assert folded.results() == [result(finished())]


@pytest.mark.parametrize("rulings", [hub().revoke(7), hub().penalty(1).revoke(2), hub().revoke(2).penalty(1)])
def test_a_revocation_of_no_earlier_ruling_is_a_problem_and_changes_nothing(rulings: HubLog) -> None:
    folded = tournament(finished(), rulings)
    assert codes(folded) == ["nothing_to_revoke"]
    assert folded.results()[0].penalty_s == sum(r.data.get("seconds", 0) for r in rulings.events)


def test_a_revocation_that_names_no_log_is_of_a_ruling_of_its_own_log() -> None:
    folded = tournament(finished(), hub("hub-a").penalty(30), hub("hub-b").penalty(5).revoke(1))
    assert folded.results()[0].penalty_s == 30


@pytest.mark.parametrize("later_first", [False, True])
def test_a_revocation_takes_back_a_ruling_of_the_log_that_it_names(later_first: bool) -> None:
    """A hub that was restored writes a new log; what was ruled before stands in the old one."""
    rulings = [hub("hub-a").penalty(30).penalty(7), hub("hub-b").revoke(1, "hub-a")]
    folded = tournament(finished(), *(rulings[::-1] if later_first else rulings))
    assert folded.results()[0].penalty_s == 7
    assert codes(folded) == []


def test_a_ruling_revoked_by_two_logs_counts_again_only_when_both_took_that_back() -> None:
    first, second = hub("hub-b").revoke(1, "hub-a"), hub("hub-c").revoke(1, "hub-a")
    given = hub("hub-a").penalty(30)
    assert result(finished(), given, first.revoke(1), second).penalty_s == 0
    assert result(finished(), given, first, second.revoke(1)).penalty_s == 30


@pytest.mark.parametrize("named", [("hub-a", 2), ("hub-a", 9), ("hub-z", 1)])
def test_a_revocation_in_another_log_can_name_a_ruling_only_and_one_that_is_there(
    named: tuple[str, int],
) -> None:
    """Else two logs could take back each other's revocations in a circle."""
    log, seq = named
    folded = tournament(finished(), hub("hub-a").penalty(30).revoke(1), hub("hub-b").revoke(seq, log))
    assert folded.results()[0].penalty_s == 0
    assert codes(folded) == ["nothing_to_revoke"]


# Where they come from -----------------------------------------------------------------------------


def test_the_log_of_an_earlier_database_comes_before_that_of_a_later_one() -> None:
    early, late = hub("hub-z", first_ms=1_000).disqualify(), hub("hub-a", first_ms=2_000).unfinished()
    for logs in ((early, late), (late, early)):
        assert result(finished(), *logs).status is Status.DNF


def test_rulings_without_a_date_keep_the_order_of_their_log() -> None:
    rulings = [
        Event("hub", "hub-1", seq, kind, run="r1", data={})
        for seq, kind in ((1, EventType.DISQUALIFIED), (2, EventType.RUN_VOIDED))
    ]
    folded = tournament(finished())
    for ruling in reversed(rulings):
        folded.apply(ruling)
    assert folded.results()[0].status is Status.VOID


def test_a_ruling_from_a_table_is_told_not_followed() -> None:
    table = finished().write(EventType.DISQUALIFIED, HOUR, run="r1", reason="x", by="y")
    folded = tournament(table)
    assert codes(folded) == ["ruling_from_a_table"]
    assert folded.results()[0].status is Status.FINISHED


def test_a_ruling_on_an_unknown_run_waits_and_is_told() -> None:
    folded = tournament(hub().penalty(30))
    assert codes(folded) == ["ruling_without_run"]
    for event in finished().events:
        folded.apply(event)
    assert codes(folded) == []
    assert folded.results()[0].penalty_s == 30


def test_a_ruling_on_a_run_whose_start_was_undone_is_told() -> None:
    assert codes(tournament(log().start(0).undo(1), hub().penalty(30))) == ["ruling_without_run"]


@pytest.mark.parametrize("rulings", [hub().absent(category="nowhere"), hub().tie("a", category="nowhere")])
def test_a_ruling_on_an_unknown_category_is_told(rulings: HubLog) -> None:
    assert codes(tournament(rulings)) == ["unknown_category"]


# Supposing a ruling -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rulings",
    [
        hub().penalty(60).penalty(30),
        hub().penalty(60).time(2000),
        hub().penalty(60).puzzle(150),
        hub().penalty(60).grant(600, "r1"),
        hub().penalty(60).grant(600, heat="h1"),
        hub().grant(600, heat="h1").revoke(),
        hub().penalty(60).disqualify(),
        hub().penalty(60).void(),
        hub().penalty(60).absent("e9"),
        hub().penalty(60).reopen(),
        hub().penalty(60).reassign(entrant="e9", table=7),
        hub().penalty(60).tie("e2", "e1"),
        hub().penalty(60).revoke(),
        hub().penalty(60, "unknown").revoke(9),
    ],
)
def test_a_ruling_supposed_does_what_it_does_when_given_and_leaves_no_trace(rulings: HubLog) -> None:
    other = log(run="r2", name="log-2", entrant="e2").start(0, heat="h1").finish(50 * MINUTE)
    *earlier, last = rulings.events
    before = hub()
    before.events = earlier
    asked, given = tournament(finished(), other, before), tournament(finished(), other, rulings)
    untouched = (asked.standings(), asked.problems, asked.rulings_in_force())
    supposed = asked.supposing(last)
    assert supposed.standings() == given.standings()
    assert supposed.rulings_in_force() == given.rulings_in_force()
    assert (asked.standings(), asked.problems, asked.rulings_in_force()) == untouched


def test_rulings_are_asked_for_by_what_they_are_about() -> None:
    rulings = hub().penalty(60).absent("e9").grant(60, heat="h1")
    folded = tournament(finished(), rulings)
    assert folded.rulings_in_force() == rulings.events
    assert folded.rulings_about(("heat", "h1"), ("run", "r1")) == [rulings.events[0], rulings.events[2]]
