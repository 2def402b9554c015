"""What holds for any log: the laws of the core."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shared.core import machine
from shared.core.events import ACTS, Event, EventType, event_from_json
from shared.core.model import Mark, State, Status
from shared.core.ranking import rank, sort_key
from shared.core.result import Result
from shared.core.rules import CategoryRules
from shared.core.run import END_OF_TIME_MS, Run, stamp_of
from shared.core.scoring import judge
from shared.core.state import ActRef, Frame, RunState, assisted_ms, counted_ms, paused_until
from shared.core.timeline import Timeline
from shared.core.tournament import CategoryStandings, Tournament
from tests.strategies import BUSY, CATEGORIES, PLAIN, S, gaps, logs, one_run, wild_event, woven

few = settings(max_examples=100, deadline=None)
many = settings(max_examples=200, deadline=None)
times = st.integers(0, 900 * S)


def folded(events: list[Event]) -> Tournament:
    tournament = Tournament(CATEGORIES)
    for event in events:
        tournament.apply(event)
    return tournament


def told(tournament: Tournament) -> tuple[list[CategoryStandings], list[object]]:
    return tournament.standings(), [problem.as_json() for problem in tournament.problems]


def alone(events: list[Event]) -> Run:
    """A run as its table folds it, press by press."""
    start, *acts = events
    run = Run(start, CATEGORIES[start.data["category"]], Timeline())
    for act in acts:
        run.apply(act)
    return run


def refused(run: Run) -> int:
    return sum(problem.code in ("act_refused", "act_after_undone_start") for problem in run.problems)


def seen(run: RunState, frame: Frame, t_ms: int) -> tuple[object, ...]:
    """Everything of a run at an instant that anybody can see."""
    now = machine.at(run, frame, max(t_ms, run.act_ms))
    return (
        now.state,
        now.pauses,
        now.paused_ms,
        now.pause_ms,
        now.assists,
        now.assist_lengths_ms,
        now.assist_ms,
        now.escape,
        now.handed_over,
        now.finish_ms,
        now.pieces,
        now.notice,
    )


# Folding ------------------------------------------------------------------------------------------


@few
@given(st.data())
def test_folding_in_pieces_equals_folding_whole(data: st.DataObject) -> None:
    events = data.draw(woven(data.draw(logs())))
    pieces = Tournament(CATEGORIES)
    for event in events:
        pieces.apply(event)
        if data.draw(st.integers(0, 4)) == 0:
            told(pieces)
            pieces.standings(lambda run: run.state.act_ms)
    assert told(pieces) == told(folded(events))


@many
@given(one_run(), times, times)
def test_a_run_looked_at_in_between_is_the_run_looked_at_once(events: list[Event], a: int, b: int) -> None:
    run = alone(events)
    first, second = sorted((max(a, run.state.act_ms), max(b, run.state.act_ms)))
    assert machine.at(run.at(first), run.frame, second) == run.at(second)


@many
@given(one_run())
def test_a_table_and_the_hub_agree_on_any_log(events: list[Event]) -> None:
    at_the_table = alone(events)
    at_the_hub = folded(events).runs["r1"]
    assert at_the_table.state == at_the_hub.state
    mine = judge(at_the_table, [], END_OF_TIME_MS)
    results = folded(events).results()
    assert [facts(r) for r in (mine,) if r is not None] == [facts(result) for result in results]


def facts(result: Result) -> tuple[object, ...]:
    return result.status, result.official_s, result.raw_s, result.assist_s, result.stage_s, result.pieces


@few
@given(st.data())
def test_the_order_between_logs_does_not_matter(data: st.DataObject) -> None:
    threads = data.draw(logs())
    one_after_another = [event for thread in threads for event in thread]
    assert told(folded(data.draw(woven(threads)))) == told(folded(one_after_another))


@few
@given(st.data())
def test_what_counts_is_which_events_there_are_not_how_they_came(data: st.DataObject) -> None:
    events = [event for thread in data.draw(logs()) for event in thread]
    assert told(folded(data.draw(st.permutations(events)))) == told(folded(events))


@few
@given(st.data())
def test_a_duplicate_changes_nothing(data: st.DataObject) -> None:
    events = data.draw(woven(data.draw(logs())))
    assume(events)
    again = list(events)
    for event in data.draw(st.lists(st.sampled_from(events), max_size=8)):
        again.insert(data.draw(st.integers(events.index(event) + 1, len(again))), event)
    assert told(folded(again)) == told(folded(events))


# The run machine ----------------------------------------------------------------------------------


@many
@given(one_run(), times)
def test_an_undo_equals_the_log_without_that_act_and_what_came_to_nothing_since(
    events: list[Event], later_ms: int
) -> None:
    """Only the assist that a finish ended stays ended, at that stamp, when the finish is taken back."""
    run = alone(events[:1])
    stack = [[events[0]]]  # each act in effect with what was noted behind it
    for event in events[1:]:
        t_ms = machine.instant(run.state, run.elapsed_ms(stamp_of(event)))
        assisting = machine.at(run.state, run.frame, t_ms, act=event.type).assist_ms is not None
        refused_before = refused(run)
        run.apply(event)
        if refused(run) > refused_before:
            continue
        if event.type == EventType.NOTICE_DISMISSED:
            stack[-1].append(event)
        elif event.type in (EventType.ACT_UNDONE, EventType.FINISH_REJECTED):
            undone, *noted = stack.pop()
            if not stack:
                assert not run.started
                return
            stack[-1] += [n for n in noted if n.type == EventType.NOTICE_DISMISSED]
            if undone.type == _FINISH_ENDING_AN_ASSIST:
                stack[-1].append(replace(undone, type=EventType.ASSIST_ENDED))
            without = alone([e for entry in stack for e in entry])
            at_ms = max(later_ms, t_ms)
            assert seen(run.state, run.frame, at_ms) == seen(without.state, without.frame, at_ms)
        elif event.type == EventType.RUN_FINISHED and assisting:
            stack.append([replace(event, type=_FINISH_ENDING_AN_ASSIST)])
        else:
            stack.append([event])


_FINISH_ENDING_AN_ASSIST = "run_finished that ended an assist"


@many
@given(one_run(), times)
def test_no_reachable_state_ignores_every_button(events: list[Event], t_ms: int) -> None:
    run = alone(events)
    now = run.at(t_ms)
    if now.state in (State.SEALED, State.READY):
        return
    data = {"pieces": 0, "undone": 0 if run.state.last_act is None else run.state.last_act.seq}
    taken = {
        act
        for act in ACTS
        if machine.take(run.state, run.frame, ActRef("log-1", 999, act), t_ms, data).refusal is None
    }
    assert EventType.ACT_UNDONE in taken
    if now.state is not State.PREVIEW:  # it ends by itself
        assert taken - {EventType.ACT_UNDONE, EventType.NOTICE_DISMISSED}


@many
@given(one_run())
def test_the_display_at_the_stop_is_the_result(events: list[Event]) -> None:
    run = alone(events[:1])
    for event in events[1:]:
        run.apply(event)
        if run.state.last_act == (event.log, event.seq, EventType.RUN_FINISHED):
            t_ms = machine.instant(run.state, run.elapsed_ms(stamp_of(event)))
            shown_s = counted_ms(run.at(t_ms), run.frame, t_ms) // 1000
            judged = judge(run, [], t_ms)
            assert judged is not None
            assert judged.raw_s == shown_s
            assert shown_s * 1000 <= run.frame.rules.limit_ms


@many
@given(one_run(), times)
def test_pauses_and_assists_are_never_longer_than_allowed(events: list[Event], t_ms: int) -> None:
    run = alone(events)
    now, rules = run.at(t_ms), run.frame.rules
    assert rules.pauses is not None
    assert rules.assists is not None
    assert now.pauses <= rules.pauses.count
    assert 0 <= paused_until(now, run.frame, max(t_ms, run.state.act_ms)) <= now.pauses * rules.pauses.each_ms
    assert now.assists <= rules.assists.count
    assert all(length_ms >= 0 for length_ms in now.assist_lengths_ms)
    assert 0 <= assisted_ms(now, run.frame, max(t_ms, run.state.act_ms)) <= rules.assists.total_ms


@many
@given(one_run(), times, gaps)
def test_counted_time_never_runs_backwards(events: list[Event], t_ms: int, gap_ms: int) -> None:
    run = alone(events)
    a, b = sorted(max(t, run.state.act_ms) for t in (t_ms, t_ms + gap_ms))
    assert counted_ms(run.at(a), run.frame, a) <= counted_ms(run.at(b), run.frame, b)


@many
@given(one_run())
def test_a_refused_act_leaves_the_run_as_it_was(events: list[Event]) -> None:
    run = alone(events[:1])
    for event in events[1:]:
        before, refused_before = run.state, refused(run)
        run.apply(event)
        assert refused(run) == refused_before or run.state is before


# Anything at all ----------------------------------------------------------------------------------


@many
@given(st.lists(wild_event(), max_size=25), times)
def test_no_sequence_of_events_raises(values: list[dict[str, object]], t_ms: int) -> None:
    tournament = folded([event_from_json(value) for value in values])
    told(tournament)
    for result in (*tournament.results(), *tournament.results(lambda _: t_ms)):
        assert result.official_s is None or result.official_s >= 0
        assert result.assist_s >= 0
        assert result.status is not Status.FINISHED or result.official_s is not None


# Ranking ------------------------------------------------------------------------------------------

_MARKS = st.sampled_from([(), (), (), (Mark.PRACTICE,), (Mark.TWO_RUNS,), (Mark.MANUAL,)])


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    out = []
    for n in range(draw(st.integers(0, 12))):
        status = draw(st.sampled_from([*Status, Status.FINISHED, Status.UNFINISHED]))
        seconds = draw(st.integers(100, 104))
        pieces = draw(st.sampled_from([None, 3, 4])) if status is Status.UNFINISHED else None
        official_s = None if status is Status.UNFINISHED and pieces is None else seconds
        marks = draw(_MARKS)
        out.append(
            Result(f"r{n}", "busy", f"e{n}", n, status, official_s=official_s, pieces=pieces, marks=marks)
        )
    return out


@many
@given(results(), st.sampled_from([BUSY, PLAIN]), st.randoms(use_true_random=False))
def test_ranking_is_a_total_stable_preorder_with_skipped_places(
    judged: list[Result], rules: CategoryRules, chance: object
) -> None:
    standings = rank(judged, rules)
    assert {s.result.run for s in standings} == {r.run for r in judged}
    ranked = [s for s in standings if s.rank is not None]
    assert ranked == standings[: len(ranked)]
    assert all(sort_key(s.result, rules) is None for s in standings[len(ranked) :])
    keys = [key for s in ranked if (key := sort_key(s.result, rules)) is not None]
    assert len(keys) == len(ranked)
    assert keys == sorted(keys)
    place = 1
    for _, equal in groupby(zip(keys, ranked, strict=True), key=lambda pair: pair[0]):
        tied = [s for _, s in equal]
        assert {s.rank for s in tied} == {place}
        place += len(tied)
    assert rank(judged[::-1], rules) == standings


@many
@given(results(), st.lists(st.permutations(["e0", "e1", "e2", "e3"]), max_size=3))
def test_a_broken_tie_moves_nobody_out_of_the_tie(judged: list[Result], ties: list[list[str]]) -> None:
    before = {s.result.run: s.rank for s in rank(judged, BUSY)}
    after = rank(judged, BUSY, ties)
    keys = {s.result.run: sort_key(s.result, BUSY) for s in after}
    for s in after:
        alike = sum(1 for key in keys.values() if key is not None and key == keys[s.result.run])
        place = before[s.result.run]
        assert (s.rank is None) == (place is None)
        assert s.rank is None or place is None or place <= s.rank < place + alike
    places = [s.rank for s in after if s.rank is not None]
    assert all(a <= b for a, b in pairwise(places))
