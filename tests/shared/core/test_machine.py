"""The run machine: every act in every state is taken or refused, and what ends by itself has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from shared.core import machine
from shared.core.events import ACTS, EventType
from shared.core.guards import help_wait_ms
from shared.core.model import Notice, Refusal, State
from shared.core.run import END_OF_TIME_MS, Run
from shared.core.state import ActRef, Frame, RunState, assisted_ms, counted_ms
from tests.builders import CASTRILLO, HOUR, MINUTE, TORNEO, TableLog, codes, log, result, tournament

E = EventType
TWO_MINUTES = 2 * MINUTE
LIMIT = TWO_MINUTES + 120 * MINUTE


def run_of(table: TableLog) -> Run:
    return tournament(table).runs[table.run]


def refusal(run: Run, act: EventType, t_ms: int, data: Mapping[str, Any] | None = None) -> str | None:
    _, refused = machine.take(run.state, run.frame, ActRef("log-1", 99, act), t_ms, data or {})
    return refused


def started() -> TableLog:
    return log().start()


def pair() -> TableLog:
    return log("parejas").start()


STATES = {
    State.PREVIEW: (started(), MINUTE),
    State.RUNNING: (started(), 3 * MINUTE),
    State.PAUSED: (started().pause(3 * MINUTE), 4 * MINUTE),
    State.ASSISTING: (started().assist(3 * MINUTE), 4 * MINUTE),
    State.CLAIMED: (started().finish(3 * MINUTE), 4 * MINUTE),
    State.TIME_UP: (started(), LIMIT + 1),
    State.SEALED: (started().finish(3 * MINUTE).accept(4 * MINUTE), 5 * MINUTE),
}
R = Refusal
_ELSEWHERE: dict[EventType, Refusal | None] = {
    E.RUN_STARTED: R.ALREADY_STARTED,
    E.FINISH_ACCEPTED: R.NOT_CLAIMED,
    E.FINISH_REJECTED: R.NOT_CLAIMED,
    E.PIECES_COUNTED: R.NOT_TIME_UP,
    E.NOTICE_DISMISSED: R.NO_NOTICE,
    E.ACT_UNDONE: R.NOT_THE_LAST_ACT,
}
_ESCAPE: dict[EventType, Refusal | None] = {
    E.STEP_SOLVED: R.NO_ESCAPE,
    E.HINT_GIVEN: R.NO_ESCAPE,
    E.SOLUTION_GIVEN: R.NO_ESCAPE,
}
_CLOCK_ACTS = (
    E.PAUSE_STARTED,
    E.PAUSE_ENDED,
    E.ASSIST_STARTED,
    E.ASSIST_ENDED,
    E.STEP_SOLVED,
    E.HINT_GIVEN,
    E.SOLUTION_GIVEN,
    E.RUN_FINISHED,
)


def everywhere(reason: Refusal) -> dict[EventType, Refusal | None]:
    return {**dict.fromkeys(_CLOCK_ACTS, reason), **_ELSEWHERE}


#: What becomes of each act; None: taken.
TAKEN: dict[State, dict[EventType, Refusal | None]] = {
    State.PREVIEW: everywhere(R.PREVIEW),
    State.RUNNING: _ELSEWHERE
    | _ESCAPE
    | {
        E.PAUSE_STARTED: None,
        E.PAUSE_ENDED: R.NOT_PAUSED,
        E.ASSIST_STARTED: None,
        E.ASSIST_ENDED: R.NOT_ASSISTING,
        E.RUN_FINISHED: None,
    },
    State.PAUSED: everywhere(R.PAUSED) | {E.PAUSE_ENDED: None},
    State.ASSISTING: _ELSEWHERE
    | {
        E.STEP_SOLVED: R.ASSISTING,
        E.HINT_GIVEN: R.ASSISTING,
        E.SOLUTION_GIVEN: R.ASSISTING,
        E.PAUSE_STARTED: None,
        E.PAUSE_ENDED: R.NOT_PAUSED,
        E.ASSIST_STARTED: R.ASSISTING,
        E.ASSIST_ENDED: None,
        E.RUN_FINISHED: None,
    },
    State.CLAIMED: everywhere(R.CLAIMED) | {E.FINISH_ACCEPTED: None, E.FINISH_REJECTED: None},
    State.TIME_UP: everywhere(R.AFTER_LIMIT) | {E.PIECES_COUNTED: None},
    State.SEALED: dict.fromkeys(ACTS, R.SEALED),
}


@pytest.mark.parametrize(
    ("state", "act"), [(state, act) for state in TAKEN for act in sorted(ACTS)], ids=lambda v: str(v)
)
def test_every_act_in_every_state_is_taken_or_refused_with_its_reason(state: State, act: EventType) -> None:
    table, t_ms = STATES[state]
    run = run_of(table)
    assert run.at(t_ms).state is state
    assert refusal(run, act, t_ms, {"pieces": 0, "undone": 77}) == TAKEN[state][act]


@pytest.mark.parametrize("act", sorted(ACTS - {E.RUN_STARTED}))
def test_before_the_start_everything_else_is_refused(act: EventType) -> None:
    ready = Frame(TORNEO["adulto"])
    taken = machine.take(RunState(), ready, ActRef("log-1", 1, act), 0, {"pieces": 0, "undone": 1})
    reason = (
        _ELSEWHERE[act] if act in (E.FINISH_ACCEPTED, E.FINISH_REJECTED, E.PIECES_COUNTED) else R.NOT_STARTED
    )
    assert taken == (RunState(), reason)


@pytest.mark.parametrize(
    ("table", "act", "t_ms", "reason"),
    [
        (log("grupal-adulto").start(), E.PAUSE_STARTED, 3 * MINUTE, R.NO_PAUSES),
        (log("parejas").start(), E.PAUSE_STARTED, MINUTE, R.NO_PAUSES),
        (log("parejas").start(), E.ASSIST_STARTED, MINUTE, R.NO_ASSISTS),
        (log("parejas").start(), E.RUN_FINISHED, MINUTE, R.ESCAPE_RUNNING),
        (log("parejas").start().hint(MINUTE), E.HINT_GIVEN, 10 * MINUTE, R.HINT_ALREADY_GIVEN),
        (log("parejas").start(), E.SOLUTION_GIVEN, 10 * MINUTE, R.HINT_FIRST),
        (
            log("parejas").start().hint(MINUTE).solution(6 * MINUTE),
            E.SOLUTION_GIVEN,
            20 * MINUTE,
            R.SOLUTION_ALREADY_GIVEN,
        ),
        (log("parejas").start().hint(MINUTE), E.SOLUTION_GIVEN, 6 * MINUTE - 1, R.HELP_TOO_SOON),
        (log("parejas").start().hint(MINUTE), E.SOLUTION_GIVEN, 6 * MINUTE, None),
        (
            started().pause(3 * MINUTE).resume(4 * MINUTE).pause(5 * MINUTE).resume(6 * MINUTE),
            E.PAUSE_STARTED,
            7 * MINUTE,
            R.NO_PAUSE_LEFT,
        ),
        (
            started()
            .assist(180_000)
            .end_assist(181_000)
            .assist(182_000)
            .end_assist(183_000)
            .assist(184_000)
            .end_assist(185_000),
            E.ASSIST_STARTED,
            190_000,
            R.NO_ASSIST_LEFT,
        ),
        (started().assist(3 * MINUTE), E.ASSIST_STARTED, 13 * MINUTE, R.ASSIST_BUDGET_USED),
        (started(), E.PIECES_COUNTED, LIMIT, R.TOO_MANY_PIECES),
    ],
)
def test_a_guard_refuses_with_its_reason(
    table: TableLog, act: EventType, t_ms: int, reason: Refusal | None
) -> None:
    assert refusal(run_of(table), act, t_ms, {"pieces": 201}) == reason


@pytest.mark.parametrize("act", [E.PAUSE_STARTED, E.ASSIST_STARTED])
def test_at_exactly_the_limit_only_a_finish_still_counts(act: EventType) -> None:
    run = run_of(started())
    assert refusal(run, act, LIMIT) == R.AFTER_LIMIT
    assert refusal(run, E.RUN_FINISHED, LIMIT) is None
    assert refusal(run, E.RUN_FINISHED, LIMIT + 1) == R.AFTER_LIMIT


def test_at_ninety_minutes_a_step_counts_and_help_does_not() -> None:
    run = run_of(pair())
    assert refusal(run, E.STEP_SOLVED, 90 * MINUTE) is None
    assert refusal(run, E.HINT_GIVEN, 90 * MINUTE) == R.NO_ESCAPE
    assert refusal(run, E.STEP_SOLVED, 90 * MINUTE + 1) == R.NO_ESCAPE


def test_a_press_when_the_pause_runs_out_comes_after_its_end() -> None:
    run = run_of(started().pause(3 * MINUTE))
    assert refusal(run, E.PAUSE_ENDED, 8 * MINUTE) == R.NOT_PAUSED
    assert run.at(8 * MINUTE).notice is Notice.PAUSE_RAN_OUT


def test_an_act_stamped_before_the_last_one_is_taken_at_its_instant() -> None:
    judged = result(started().pause(10 * MINUTE).resume(9 * MINUTE).finish(11 * MINUTE))
    assert judged.raw_s == 9 * 60
    assert result(log().start(5_000).finish(2_000)).raw_s is None  # at the start, in the preview


# Notices ------------------------------------------------------------------------------------------


def test_a_pause_that_ran_out_leaves_a_notice_until_it_is_dismissed() -> None:
    table = started().pause(3 * MINUTE)
    assert run_of(table).at(9 * MINUTE).notice is Notice.PAUSE_RAN_OUT
    assert run_of(table.dismiss(10 * MINUTE)).at(11 * MINUTE).notice is None


def test_an_assist_that_used_the_budget_leaves_a_notice_until_the_next_act() -> None:
    table = started().assist(3 * MINUTE)
    assert run_of(table).at(13 * MINUTE).notice is Notice.ASSIST_RAN_OUT
    assert run_of(table.finish(14 * MINUTE)).at(15 * MINUTE).notice is None


def test_a_second_dismissal_is_refused() -> None:
    assert codes(result(started().pause(3 * MINUTE).dismiss(9 * MINUTE).dismiss(9 * MINUTE))) == [
        "act_refused"
    ]


def test_a_dismissed_notice_does_not_come_back_with_an_undo() -> None:
    table = started().pause(3 * MINUTE).dismiss(9 * MINUTE).assist(10 * MINUTE).undo(11 * MINUTE)
    assert run_of(table).at(12 * MINUTE).notice is None


def test_a_notice_that_an_act_covered_comes_back_with_its_undo() -> None:
    table = started().pause(3 * MINUTE).assist(10 * MINUTE).undo(11 * MINUTE)
    assert run_of(table).at(12 * MINUTE).notice is Notice.PAUSE_RAN_OUT


def test_a_notice_dismissed_after_an_act_stays_dismissed_when_the_act_is_undone() -> None:
    table = started().assist(3 * MINUTE).pause(5 * MINUTE).dismiss(14 * MINUTE).undo(15 * MINUTE, seq=3)
    assert run_of(table).at(16 * MINUTE).notice is None


# Undo ---------------------------------------------------------------------------------------------


def test_undoing_an_assist_removes_it_whole_also_after_a_rejected_finish() -> None:
    table = started().assist(3 * MINUTE).finish(4 * MINUTE).reject(5 * MINUTE).undo(6 * MINUTE, seq=2)
    run = run_of(table)
    assert run.at(7 * MINUTE).assist_lengths_ms == ()
    assert run.at(7 * MINUTE).assists == 0


def test_an_undone_pause_lets_the_assist_go_on_that_it_ended() -> None:
    run = run_of(started().assist(3 * MINUTE).pause(4 * MINUTE).undo(5 * MINUTE))
    assert run.at(6 * MINUTE).state is State.ASSISTING
    assert assisted_ms(run.at(6 * MINUTE), run.frame, 6 * MINUTE) == 3 * MINUTE


def test_a_rejected_finish_does_not_give_back_the_assist_it_ended() -> None:
    run = run_of(started().assist(3 * MINUTE).finish(4 * MINUTE).reject(5 * MINUTE))
    assert run.at(6 * MINUTE).state is State.RUNNING
    assert run.at(6 * MINUTE).assist_lengths_ms == (MINUTE,)


def test_a_finish_rejected_after_the_limit_leaves_a_count_to_be_made() -> None:
    run = run_of(started().finish(LIMIT - 1).reject(LIMIT + MINUTE))
    assert run.at(LIMIT + MINUTE).state is State.TIME_UP


def test_a_rejection_and_an_undo_cannot_be_undone() -> None:
    assert codes(result(started().finish(3 * MINUTE).reject(4 * MINUTE).undo(5 * MINUTE))) == ["act_refused"]
    assert codes(result(started().pause(3 * MINUTE).undo(4 * MINUTE).undo(5 * MINUTE))) == ["act_refused"]


def test_an_undone_start_leaves_no_result_and_uses_its_run_up() -> None:
    table = started().undo(MINUTE).finish(5 * MINUTE)
    folded = tournament(table.start(6 * MINUTE))
    assert folded.results() == []
    assert sorted(codes(folded)) == ["act_after_undone_start", "run_id_used_twice"]


# Clocks -------------------------------------------------------------------------------------------


def test_a_run_without_preview_starts_at_once() -> None:
    assert run_of(pair()).at(0).state is State.RUNNING
    assert run_of(started()).at(0).state is State.PREVIEW


def test_what_is_due_next_is_told() -> None:
    paused = run_of(started().pause(3 * MINUTE))
    assert machine.next_due_ms(paused.at(0), paused.frame) == 8 * MINUTE
    assert machine.next_due_ms(run_of(started()).at(0), paused.frame) == TWO_MINUTES
    assert machine.limit_due(paused.at(9 * MINUTE), paused.frame) == LIMIT + 5 * MINUTE
    claimed = run_of(started().finish(3 * MINUTE))
    assert machine.next_due_ms(claimed.state, claimed.frame) is None


def test_help_is_due_five_minutes_after_the_last_one_given() -> None:
    run = run_of(pair().hint(MINUTE))
    assert help_wait_ms(run.at(MINUTE).escape, run.frame, 2 * MINUTE) == 4 * MINUTE
    assert help_wait_ms(None, run.frame, MINUTE) == 0
    assert help_wait_ms(run_of(pair()).state.escape, run.frame, MINUTE) == 0


def test_the_escape_ends_by_itself_and_the_step_reached_is_kept() -> None:
    run = run_of(pair().step(10 * MINUTE, 20 * MINUTE))
    over = run.at(90 * MINUTE).handed_over
    assert over is not None
    assert (over.counted_ms, over.solved, over.escape.solved_steps) == (90 * MINUTE, False, 2)


def test_assistance_in_all_is_never_above_its_budget() -> None:
    run = run_of(started().assist(3 * MINUTE))
    assert assisted_ms(run.state, run.frame, HOUR) == 10 * MINUTE
    assert assisted_ms(run.at(HOUR), run.frame, HOUR) == 10 * MINUTE


def test_an_open_pause_stops_the_clock_for_its_maximum_at_most() -> None:
    run = run_of(started().pause(10 * MINUTE))
    assert counted_ms(run.state, run.frame, 12 * MINUTE) == 8 * MINUTE
    assert counted_ms(run.state, run.frame, 20 * MINUTE) == 13 * MINUTE


def test_time_taken_away_ends_a_run_at_its_preview_at_the_earliest() -> None:
    run = run_of(started())
    frame = run.frame._replace(granted_ms=-10 * HOUR)
    assert machine.at(run.state, frame, TWO_MINUTES - 1).state is State.PREVIEW
    assert machine.at(run.state, frame, TWO_MINUTES).state is State.TIME_UP
    taken = machine.take(run.state, frame, ActRef("log-1", 2, E.RUN_FINISHED), TWO_MINUTES, {})
    assert taken.refusal == R.AFTER_LIMIT


def test_time_taken_away_from_a_pair_ends_both_stages_without_negative_lengths() -> None:
    run = run_of(pair())
    frame = Frame(CASTRILLO["parejas"], granted_ms=-10 * HOUR)
    now = machine.at(run.state, frame, END_OF_TIME_MS)
    assert now.state is State.TIME_UP
    assert now.handed_over is not None
    assert now.handed_over.counted_ms == 90 * MINUTE
