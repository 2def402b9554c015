"""A table that was off during a run: exact where it can be, else bounds that ask for a ruling."""

from __future__ import annotations

from shared.core.model import Mark, Status
from shared.core.result import Result
from shared.core.timeline import Stamp
from shared.core.tournament import Tournament
from tests.builders import MINUTE, TableLog, codes, hub, log, result, tournament

S = 1000


def off_in_between(alive_ms: int = 20 * MINUTE) -> TableLog:
    """Started at 10 s of its boot, the plug pulled later."""
    return log().start(10 * S).reboot("b2", alive_ms=alive_ms)


def bounds(judged: Result) -> tuple[int | None, int | None]:
    return judged.low_s, judged.high_s


def heard(folded: Tournament, boot: str, ms: int, hub_ms: int) -> Tournament:
    for event in hub().heard(boot, ms, hub_ms).events:
        folded.apply(event)
    return folded


def line(folded: Tournament) -> Result:
    (only,) = folded.results()
    return only


def test_a_finish_after_a_reboot_has_a_lower_bound_and_asks_for_a_ruling() -> None:
    judged = result(off_in_between().finish(5 * MINUTE))
    assert judged.status is Status.FINISHED
    assert judged.raw_s == 25 * 60 - 10 - 120
    assert bounds(judged) == (judged.raw_s, None)
    assert judged.marks == (Mark.UNACCEPTED, Mark.INTERRUPTED)
    assert codes(judged) == ["time_between_bounds"]


def test_a_finish_between_two_anchored_boots_is_exact() -> None:
    table = log().anchor(0, 100 * S).start(10 * S).reboot("b2", alive_ms=MINUTE)
    judged = result(table.anchor(5 * S, 700 * S).finish(20 * S).accept(30 * S))
    assert (judged.raw_s, bounds(judged), judged.marks) == (715 - 110 - 120, (None, None), ())


def test_a_late_anchor_makes_a_finish_exact() -> None:
    table = log().anchor(0, 100 * S).start(10 * S).reboot("b2", alive_ms=MINUTE).finish(20 * S).accept(30 * S)
    assert Mark.INTERRUPTED in result(table).marks
    judged = result(table.anchor(600 * S, 1295 * S))
    assert (judged.raw_s, judged.marks, judged.problems) == (715 - 110 - 120, (), ())


def test_a_finish_that_is_in_time_neither_at_the_earliest_nor_at_the_latest_is_not_certain() -> None:
    judged = result(log().start().reboot("b2", alive_ms=MINUTE).finish(S))  # else: in the preview
    assert judged.marks == (Mark.AWAITING_COUNT, Mark.INTERRUPTED)
    assert bounds(judged) == (0, None)


def test_a_late_anchor_of_the_boot_of_the_start_makes_a_finish_exact() -> None:
    table = log().start(10 * S).reboot("b2", alive_ms=MINUTE).anchor(5 * S, 700 * S).finish(20 * S)
    again = log(name="log-2").anchor(0, 100 * S)
    assert result(table, again).raw_s == 715 - 110 - 120


def test_an_anchor_to_another_clock_of_the_hub_leaves_it_inexact() -> None:
    table = log().anchor(0, 100 * S).start(10 * S).reboot("b2", alive_ms=20 * MINUTE)
    judged = result(table.anchor(5 * S, 700 * S, base="hub-boot-2").finish(5 * MINUTE))
    assert bounds(judged) == (25 * 60 - 10 - 120, None)


def test_what_the_hub_heard_first_of_the_new_boot_bounds_the_time_from_above() -> None:
    table = log().anchor(0, 100 * S).start(10 * S).reboot("b2", alive_ms=20 * MINUTE).finish(5 * MINUTE)
    judged = line(heard(tournament(table), "b2", 8 * S, 1400 * S))
    assert bounds(judged) == (25 * 60 - 130, 1400 + 300 - 8 - 110 - 120)


def test_bounds_that_meet_make_a_finish_exact() -> None:
    table = log().anchor(0, 100 * S).start(10 * S).reboot("b2", alive_ms=20 * MINUTE).finish(5 * MINUTE)
    judged = line(heard(tournament(table), "b2", 8 * S, 1308 * S))
    assert (judged.raw_s, judged.marks) == (25 * 60 - 130, (Mark.UNACCEPTED,))


def test_a_bound_beyond_the_limit_leaves_the_upper_end_open() -> None:
    table = log().anchor(0, 100 * S).start(10 * S).reboot("b2", alive_ms=20 * MINUTE).finish(5 * MINUTE)
    judged = line(heard(tournament(table), "b2", 8 * S, 9000 * S))
    assert bounds(judged) == (25 * 60 - 130, None)


def test_a_reboot_after_the_finish_changes_nothing() -> None:
    judged = result(log().start().finish(10 * MINUTE).reboot("b2", alive_ms=11 * MINUTE).accept(S))
    assert (judged.raw_s, judged.marks, bounds(judged)) == (480, (), (None, None))


def test_a_count_after_a_reboot_beyond_the_limit_is_certain() -> None:
    judged = result(log().start().reboot("b2", alive_ms=130 * MINUTE).count(S, 5))
    assert (judged.status, judged.official_s, judged.marks) == (Status.UNFINISHED, 7250, ())


def test_an_unknown_gap_that_changes_no_number_leaves_no_mark() -> None:
    table = log().start().reboot("b2", alive_ms=10 * MINUTE).pause(S).resume(MINUTE).count(130 * MINUTE, 5)
    judged = result(table)
    assert (judged.status, judged.official_s, judged.marks) == (Status.UNFINISHED, 7250, ())


def test_a_run_that_goes_on_after_a_reboot_is_marked_while_its_clock_is_not_known() -> None:
    folded = tournament(off_in_between().pause(5 * MINUTE))
    judged = folded.result(folded.runs["r1"], 26 * MINUTE)
    assert judged is not None
    assert (judged.status, judged.marks, bounds(judged)) == (
        Status.RUNNING,
        (Mark.INTERRUPTED,),
        (None, None),
    )


def test_a_pause_over_the_reboot_makes_the_time_shorter_the_longer_it_was() -> None:
    table = log().anchor(0, 0).start(0).pause(20 * MINUTE).reboot("b2", alive_ms=21 * MINUTE).resume(S)
    table.reboot("b3", alive_ms=2 * S).anchor(0, 60 * MINUTE).finish(S)
    judged = line(heard(tournament(table), "b2", S, 23 * MINUTE))
    assert bounds(judged) == (58 * 60 + 1 - 180, 58 * 60 + 1 - 61)
    assert judged.official_s == judged.high_s  # folded at the earliest; people are shown the lower bound


def met_again(table: TableLog) -> TableLog:
    """The third boot began 30 min after the start, told by the hub; the second one never met it."""
    return table.reboot("b3", alive_ms=4 * MINUTE).anchor(0, 30 * MINUTE)


def test_an_assist_within_a_boot_that_never_met_the_hub_is_exact() -> None:
    table = log().anchor(0, 0).start(0).reboot("b2", alive_ms=10 * MINUTE).assist(MINUTE).end_assist(90_500)
    judged = result(met_again(table).finish(5 * MINUTE).accept(6 * MINUTE))
    assert (judged.official_s, judged.assist_s, judged.marks) == (33 * 60 + 30, 30, ())


def test_a_pause_within_a_boot_that_never_met_the_hub_is_exact() -> None:
    table = log().anchor(0, 0).start(0).reboot("b2", alive_ms=10 * MINUTE).pause(MINUTE).resume(2 * MINUTE)
    judged = result(met_again(table).finish(5 * MINUTE).accept(6 * MINUTE))
    assert (judged.official_s, judged.marks) == (32 * 60, ())


def test_a_pause_that_may_have_been_refused_in_the_preview_is_not_exact() -> None:
    table = log().anchor(0, 0).start(0).reboot("b2", alive_ms=MINUTE).pause(S).resume(2 * MINUTE)
    judged = result(met_again(table).finish(5 * MINUTE))
    assert bounds(judged) == (33 * 60 - 119, 33 * 60)


def test_a_stage_that_is_not_certain_is_marked_though_the_whole_time_is() -> None:
    minutes = [n * MINUTE for n in (1, 2, 3, 4)]
    table = (
        log("parejas").anchor(0, 0).start(0).step(*minutes).reboot("b2", alive_ms=45 * MINUTE).step(MINUTE)
    )
    judged = result(table.reboot("b3", alive_ms=2 * MINUTE).anchor(0, 80 * MINUTE).finish(8 * MINUTE))
    assert bounds(judged) == (88 * 60 - 1800, 88 * 60 - 1800)
    assert Mark.INTERRUPTED in judged.marks


def test_bounds_count_each_reading_cut_to_seconds_also_between_their_ends() -> None:
    # two assists of 60 s in all, however they share the boundary: cut one by one they are 59 s or 60 s
    table = log().anchor(0, 0).start(0).assist(10 * MINUTE).reboot("b2", alive_ms=10 * MINUTE)
    table.end_assist(0).assist(0).reboot("b3", alive_ms=0).anchor(0, 11 * MINUTE).end_assist(0)
    judged = result(table.finish(5 * MINUTE))
    assert bounds(judged) == (14 * 60 + 59, 15 * 60)


def test_boots_with_a_clock_in_common_keep_their_distance_though_the_start_has_none() -> None:
    table = log().start(0).reboot("b2", alive_ms=10 * MINUTE).anchor(0, 0).pause(MINUTE)
    table.reboot("b3", alive_ms=MINUTE).anchor(0, 3 * MINUTE).resume(0).finish(9 * MINUTE)
    judged = result(table)
    assert bounds(judged) == (10 * 60 + 12 * 60 - 120 - 120, None)


def test_a_boot_that_may_lie_anywhere_before_an_exact_act_ends_before_it() -> None:
    # the second boot was alive for 4 min: the pause in its first minute began 26 min after the start at most
    table = log().anchor(0, 0).start(0).reboot("b2", alive_ms=10 * MINUTE).pause(0)
    judged = result(met_again(table).resume(0).finish(5 * MINUTE))
    assert bounds(judged) == (33 * 60 - 300, 33 * 60 - 240)


def test_a_spare_and_the_table_that_takes_the_run_back_keep_their_order() -> None:
    old = log(name="old").anchor(0, 0).start(0).reboot("b2", alive_ms=10 * MINUTE).pause(MINUTE)
    spare = log(name="spare", device="t99", boot="b9").take_over(0, "old", old.seq).resume(MINUTE)
    old.take_over(4 * MINUTE, "spare", spare.seq).finish(9 * MINUTE)
    judged = result(old, spare)
    assert bounds(judged) == (10 * 60 + 9 * 60 - 120 - 180, None)


def test_the_limit_is_declared_only_when_the_lower_bound_reaches_it() -> None:
    folded = tournament(log().start().pause(20 * MINUTE).reboot("b2", alive_ms=21 * MINUTE).resume(S))
    run = folded.runs["r1"]
    assert run.elapsed_ms(Stamp("b2", 2 * S)) == 21 * MINUTE + 2 * S
    assert not run.exactly_known(Stamp("b2", 2 * S))
    assert run.exactly_known(Stamp("b1", 99 * MINUTE))


def test_a_time_set_by_the_judges_settles_an_interrupted_run() -> None:
    judged = result(off_in_between().finish(5 * MINUTE), hub().time(1500))
    assert (judged.official_s, judged.marks, bounds(judged)) == (1500, (Mark.MANUAL,), (None, None))


def test_more_unsure_boots_than_can_be_told_apart_leave_all_to_the_judges() -> None:
    table = log().start(0)
    for n in range(2, 9):
        table.reboot(f"b{n}", alive_ms=3 * MINUTE).assist(S).end_assist(2 * S)
    assert bounds(result(table.finish(3 * S))) == (0, None)


def test_a_run_without_presses_in_most_of_its_boots_has_its_bounds() -> None:
    table = log().start(0)
    for n in range(2, 9):
        table.reboot(f"b{n}", alive_ms=3 * MINUTE)
    assert bounds(result(table.finish(3 * S))) == (19 * 60 + 3, None)


def test_a_start_undone_after_a_reboot_leaves_no_result_however_long_it_was() -> None:
    table = log().start().reboot("b2", alive_ms=MINUTE).undo(S, seq=1).finish(2 * S)
    assert tournament(table).results() == []


def test_a_start_that_may_have_been_undone_is_still_judged() -> None:
    # late enough the pause was refused and the undo took back the start
    table = log().start().reboot("b2", alive_ms=3 * MINUTE).pause(S).undo(2 * S, seq=1).resume(3 * S)
    assert result(table.finish(4 * S)).marks == (Mark.UNACCEPTED, Mark.INTERRUPTED)


def test_an_act_stamped_well_before_another_of_its_boot_is_folded_and_marked() -> None:
    judged = result(log().start().pause(10 * MINUTE).resume(10 * MINUTE - 10_001).finish(11 * MINUTE))
    assert (judged.raw_s, judged.marks) == (540, (Mark.INTERRUPTED, Mark.UNACCEPTED))
    assert codes(judged) == ["clock_went_back"]


def test_a_second_press_stamped_with_the_first_is_nothing_strange() -> None:
    assert codes(result(log("parejas").start().hint(10 * MINUTE).step(10 * MINUTE - 5 * S))) == []
