"""One run over several logs: a spare table goes on, and what the old one still says is kept, not folded."""

from __future__ import annotations

from itertools import permutations

import pytest

from shared.core.model import Mark, Status
from shared.core.timeline import Stamp
from tests.builders import MINUTE, TableLog, codes, hub, log, result, tournament

S = 1000


def old() -> TableLog:
    """Started, one pause; the finish, seq 5, comes after the spare took over."""
    table = log(name="old").anchor(0, 0).start(0).pause(10 * MINUTE)
    return table.resume(11 * MINUTE).finish(13 * MINUTE)


def spare(name: str = "spare", from_log: str = "old", from_seq: int = 4) -> TableLog:
    """Its boot began 12 minutes after the start of the run."""
    table = log(name=name, device="t99", boot="b9").anchor(0, 12 * MINUTE)
    return table.take_over(MINUTE, from_log, from_seq)


def test_a_spare_table_goes_on_where_the_old_one_stopped() -> None:
    judged = result(old(), spare().finish(18 * MINUTE).accept(19 * MINUTE))
    assert (judged.status, judged.raw_s) == (Status.FINISHED, 30 * 60 - 120 - 60)


def test_what_the_old_table_says_later_is_kept_and_shown_but_not_folded() -> None:
    judged = result(old(), spare())
    assert judged.raw_s is None
    assert Mark.SUPERSEDED in judged.marks
    assert codes(judged) == ["superseded"]


def test_a_take_over_without_late_presses_at_the_old_table_leaves_no_mark() -> None:
    judged = result(log(name="old").start(0), spare(from_seq=1).finish(S))
    assert Mark.SUPERSEDED not in judged.marks


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_take_over_means_the_same_whichever_log_comes_first(order: tuple[int, ...]) -> None:
    third = log(name="third", device="t98", boot="b8").anchor(0, 20 * MINUTE)
    third.take_over(S, "spare", 3).finish(2 * S).accept(3 * S)
    logs = [old(), spare().pause(2 * MINUTE).resume(3 * MINUTE), third]
    judged = result(*(logs[i] for i in order))
    assert judged == result(*logs)
    # the spare's resume came after the third table had taken over: its pause runs out by itself
    assert judged.raw_s == 20 * 60 + 2 - 120 - 60 - 300


def test_the_old_table_may_take_its_run_back() -> None:
    first = log(name="old").start(0).pause(10 * MINUTE)
    between = log(name="spare", device="t99").take_over(11 * MINUTE, "old", 2).resume(12 * MINUTE)
    first.resume(13 * MINUTE).take_over(14 * MINUTE, "spare", 2).finish(20 * MINUTE)
    for logs in ((first, between), (between, first)):
        judged = result(*logs)
        assert judged.raw_s == 20 * 60 - 120 - 120
        assert codes(judged) == ["superseded"]


def test_a_damaged_log_goes_on_in_the_new_log_of_its_table() -> None:
    new = log(name="b").take_over(6 * MINUTE, "a", 2).resume(7 * MINUTE).finish(9 * MINUTE)
    judged = result(log(name="a").start(0).pause(5 * MINUTE), new)
    assert (judged.raw_s, judged.problems) == (9 * 60 - 120 - 120, ())


def test_a_take_over_written_twice_is_one() -> None:
    new = log(name="b").take_over(6 * MINUTE, "a", 2).take_over(7 * MINUTE, "a", 2).finish(9 * MINUTE)
    judged = result(log(name="a").start(0), new)
    assert (judged.raw_s, judged.problems) == (7 * 60, ())


def test_a_spare_without_a_clock_in_common_took_over_after_the_last_act_at_least() -> None:
    new = log(name="spare", device="t99", boot="b9").take_over(100 * MINUTE, "old", 3).finish(110 * MINUTE)
    folded = tournament(log(name="old").start(0).pause(10 * MINUTE).resume(11 * MINUTE), new)
    run = folded.runs["r1"]
    assert run.elapsed_ms(Stamp("b9", 110 * MINUTE)) == 21 * MINUTE
    assert run.device == "t99"
    (judged,) = folded.results()
    assert (judged.low_s, judged.high_s) == (21 * 60 - 120 - 60, None)


def test_the_bounds_of_a_spare_keep_their_order() -> None:
    new = log(name="spare", device="t99", boot="b9").take_over(MINUTE, "old", 4).finish(20 * MINUTE)
    folded = tournament(log(name="old").anchor(0, 0).start(0).pause(10 * MINUTE).resume(11 * MINUTE), new)
    for event in hub().heard("b9", 0, 15 * MINUTE).events:
        folded.apply(event)
    span = folded.runs["r1"].span(Stamp("b9", 20 * MINUTE))
    assert span == (30 * MINUTE, 35 * MINUTE)


def test_one_run_in_two_logs_without_a_take_over_is_folded_and_marked() -> None:
    judged = result(
        log(name="a").start(0).pause(5 * MINUTE), log(name="b").resume(6 * MINUTE).finish(9 * MINUTE)
    )
    assert (judged.raw_s, codes(judged)) == (9 * 60 - 120 - 60, ["one_run_in_two_logs"])
    assert Mark.INTERRUPTED in judged.marks


def test_two_spares_that_take_over_at_once_are_folded_and_marked() -> None:
    judged = result(old(), spare("s1").pause(2 * MINUTE), spare("s2").resume(4 * MINUTE))
    assert Mark.INTERRUPTED in judged.marks
    assert "one_run_in_two_logs" in codes(judged)


def test_a_take_over_from_a_log_that_nobody_sent_is_folded_and_marked() -> None:
    judged = result(
        log(name="a").anchor(0, 0).start(0), spare(from_log="lost", from_seq=7).finish(2 * MINUTE)
    )
    assert (judged.raw_s, codes(judged)) == (12 * 60, ["one_run_in_two_logs"])


def test_a_take_over_that_names_itself_comes_to_an_end() -> None:
    table = log(name="a").start(0).take_over(MINUTE, "a", 2).finish(5 * MINUTE)
    assert "one_run_in_two_logs" in codes(result(table))


def test_logs_that_take_over_from_each_other_in_a_circle_come_to_an_end() -> None:
    first = log(name="a").take_over(0, "b", 9).start(0)
    second = log(name="b").take_over(MINUTE, "a", 2).finish(5 * MINUTE)
    assert result(first, second).raw_s == 180


def test_parts_of_two_logs_that_follow_each_other_crosswise_keep_their_order() -> None:
    # b is taken over at 3, before what it took over from c at 1: nothing sane, and nothing raised
    first = log(name="a").start(0)
    second = log(name="b").take_over(2 * MINUTE, "c", 1).pause(3 * MINUTE).take_over(4 * MINUTE, "a", 1)
    third = log(name="c").take_over(5 * MINUTE, "b", 3)
    one = tournament(first, second, third)
    second.finish(9 * MINUTE)
    one.apply(second.events[-1])
    assert one.results() == tournament(third, second, first).results()


def test_acts_that_come_before_their_start_wait_for_it() -> None:
    table = old()
    folded = tournament(spare().finish(18 * MINUTE))
    assert codes(folded) == ["act_without_start", "act_without_start"]
    for event in reversed(table.events):
        folded.apply(event)
    assert folded.results() == tournament(table, spare().finish(18 * MINUTE)).results()
    assert codes(folded) == []


def test_an_act_before_the_start_in_its_own_log_is_told_not_folded() -> None:
    judged = result(log().pause(0).start(S).finish(5 * MINUTE))
    assert (judged.raw_s, codes(judged)) == (179, ["act_without_start"])


def test_of_two_starts_with_one_id_the_same_counts_whichever_comes_first() -> None:
    first, second = log(name="a", entrant="e1").start(0), log(name="b", entrant="e2").start(5 * MINUTE)
    for logs in ((first, second), (second, first)):
        judged = result(*logs)
        assert (judged.entrant, codes(judged)) == ("e1", ["run_id_used_twice"])
