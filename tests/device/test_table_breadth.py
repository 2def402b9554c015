"""Contests beyond the two seeds, and the escape stage, played with the four buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from device.debounce import Button
from device.from_hub import PlanReceived
from shared.core.events import EventType
from shared.core.model import State
from shared.core.rules import CategoryRules, CountKind, CountRules, MissingRules
from shared.duration import clock_text
from shared.plan import Plan, PlannedRun
from tests.device.rig import CASTRILLO, Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
ADULT = CASTRILLO["adulto"]
Play = Callable[[CategoryRules], Rig]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """A table with two entrants of a category, running."""
    rigs: list[Rig] = []

    def begin(rules: CategoryRules) -> Rig:
        rig = Rig(tmp_path)
        rigs.append(rig)
        runs = tuple(
            PlannedRun(order=n, heat="1", entrant=f"e{n}", public_name=f"N{n}", category=rules.id)
            for n in (1, 2)
        )
        plan = Plan(revision=1, table=7, categories={rules.id: rules}, runs=runs)
        rig.inbox.append(PlanReceived(plan.as_json()))
        rig.wait(1)
        rig.press(START)
        assert rig.state == State.RUNNING
        return rig

    yield begin
    for rig in rigs:
        rig.unplug()


def says(rig: Rig, text: str) -> bool:
    """Whether the bottom line says this within the six seconds in which its texts take turns."""
    for _ in range(7):
        if rig.screen.bottom.startswith(text):
            return True
        rig.wait(1)
    return False


def test_a_finish_is_held_off_for_five_real_seconds_after_the_hand_over_also_in_a_fast_demo(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, "castrillo-parejas", speed=30.0)
    rig.press(START)
    for _ in range(5):
        rig.press(FINISH)
        rig.press(FINISH)
    rig.wait(1)
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "just_handed_over"
    rig.wait(5)
    rig.press(FINISH)
    assert rig.state == State.CLAIMED
    rig.unplug()


def test_the_final_time_is_told_with_all_its_parts(play: Play) -> None:
    rig = play(replace(CASTRILLO["parejas"], missing=MissingRules(10)))
    for _ in range(5):
        rig.wait(60)
        rig.press(FINISH)
        rig.press(FINISH)
    rig.wait(600)
    rig.press(FINISH)
    rig.press(FINISH)
    result = rig.history.run and rig.history.result(rig.history.run, rig.now)
    assert result
    assert result.raw_s is not None
    assert result.official_s is not None
    assert says(rig, f"{clock_text(result.raw_s)} − {clock_text(result.raw_s - result.official_s)}")
    assert says(rig, "START = siguiente")


def test_the_judge_sets_the_missing_pieces_before_accepting(play: Play) -> None:
    rig = play(replace(ADULT, missing=MissingRules(10, 20)))
    rig.wait(600)
    rig.press(FINISH)
    assert says(rig, "faltan 0 · PAUSE − · ASSIST +")
    assert says(rig, "FINISH sí · mantén START no")
    for _ in range(3):
        rig.press(ASSIST)
    rig.press(PAUSE)
    assert says(rig, "faltan 2 · PAUSE − · ASSIST +")
    rig.press(FINISH)
    assert rig.events(EventType.FINISH_ACCEPTED)[0].data["missing"] == 2
    assert rig.screen.clock == "10:20"


def test_a_new_claim_counts_its_missing_pieces_from_zero(play: Play) -> None:
    rig = play(replace(ADULT, missing=MissingRules(10)))
    rig.wait(600)
    rig.press(FINISH)
    rig.press(ASSIST)
    rig.press(START, hold=2.2)
    rig.wait(60)
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.events(EventType.FINISH_ACCEPTED)[0].data["missing"] == 0


def test_accepting_a_puzzle_hands_over_the_next_while_the_clock_runs_on(play: Play) -> None:
    rig = play(replace(ADULT, more_puzzles=(1000,)))
    rig.wait(600)
    assert rig.screen.top == "PUZZLE 1/2"
    rig.press(FINISH)
    assert rig.state == State.CLAIMED
    rig.wait(30)
    rig.press(FINISH)
    assert rig.state == State.RUNNING
    assert rig.screen.top == "PUZZLE 2/2"
    assert rig.screen.clock.startswith("10:3")
    rig.wait(600)
    rig.press(FINISH)
    stopped = rig.screen.clock
    rig.press(FINISH)
    assert (rig.state, rig.screen.clock) == (State.SEALED, stopped)


def test_the_count_at_the_limit_is_of_the_puzzle_on_the_table(play: Play) -> None:
    rig = play(replace(ADULT, more_puzzles=(1000,)))
    rig.press(FINISH)
    rig.press(FINISH)
    rig.wait(9000)
    rig.press(FINISH)
    rig.press(ASSIST, hold=12)
    assert rig.screen.clock == "1000"


def test_where_only_complete_counts_start_goes_on_to_the_next_entrant_after_the_limit(play: Play) -> None:
    rig = play(replace(ADULT, count=CountRules(CountKind.NOTHING, 1)))
    rig.wait(9001)
    assert (rig.state, rig.screen.top, rig.screen.bottom) == (State.TIME_UP, "¡TIEMPO!", "START = siguiente")
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "after_limit"
    rig.press(START)
    assert (rig.state, rig.screen.lines[0]) == (State.READY, "N2")


def test_an_escape_is_played_with_four_buttons_from_start_to_seal(play: Play) -> None:
    rig = play(CASTRILLO["parejas"])
    rig.wait(300)
    assert rig.screen.top == "ESCAPE 1/5"
    assert says(rig, "billetes 11 · ASSIST pista")
    assert says(rig, "FINISH · prueba 1 resuelta")
    rig.press(ASSIST)
    assert rig.screen.bottom == "pista: 1 billete · ASSIST = sí"
    rig.press(ASSIST)
    assert says(rig, "billetes 10 · solución en 4:5")
    rig.wait(301)
    assert says(rig, "billetes 10 · ASSIST solución")
    rig.press(ASSIST)
    assert rig.screen.bottom == "solución: 2 billetes · ASSIST = sí"
    rig.press(ASSIST)
    for step in range(1, 6):
        first = rig.now
        rig.press(FINISH)
        assert rig.screen.bottom == f"prueba {step} resuelta: FINISH = sí"
        rig.press(FINISH)
        assert rig.events()[-1].mono_ms == int(first * 1000), "stamped with the first press"
    assert (rig.screen.top, rig.screen.bottom) == ("PUZZLE", "entrega el puzzle")
    rig.wait(6)
    assert rig.screen.top == "Mesa 7"
    rig.wait(600)
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.state == State.SEALED
    assert rig.types() == [
        "run_started", "hint_given", "solution_given", *["step_solved"] * 5, "run_finished", "finish_accepted",
    ]  # fmt: skip


def test_a_step_not_confirmed_within_five_seconds_is_none(play: Play) -> None:
    rig = play(CASTRILLO["parejas"])
    rig.press(FINISH)
    rig.wait(5)
    rig.press(FINISH)
    rig.wait(6)
    assert rig.types() == ["run_started"]


def test_any_other_button_disarms(play: Play) -> None:
    rig = play(CASTRILLO["parejas"])
    rig.press(FINISH)
    rig.press(ASSIST)
    assert rig.screen.bottom == "pista: 1 billete · ASSIST = sí"
    rig.press(PAUSE)
    rig.wait(4)
    rig.press(ASSIST)
    assert EventType.HINT_GIVEN not in rig.types()
    assert [e.data["reason"] for e in rig.events(EventType.PRESS_REFUSED)] == ["escape_running"]


def test_help_asked_too_soon_says_how_long_to_wait(play: Play) -> None:
    rig = play(CASTRILLO["parejas"])
    rig.press(ASSIST)
    rig.press(ASSIST)
    rig.wait(120)
    rig.press(ASSIST)
    assert rig.screen.bottom == "ayuda en 2:59"
    assert rig.screen.bottom_inverse


def test_a_second_press_that_is_too_soon_answers_nothing_and_the_question_stays(play: Play) -> None:
    rig = play(CASTRILLO["parejas"])
    rig.down(FINISH)
    rig.wait(0.06)
    rig.up(FINISH)
    rig.wait(0.06)
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "too_soon"
    rig.press(FINISH)
    assert rig.types()[-1] == "step_solved"


def test_the_forced_hand_over_comes_at_ninety_minutes_and_a_finish_right_after_it_is_refused(
    play: Play,
) -> None:
    rig = play(CASTRILLO["parejas"])
    rig.wait(5400)
    assert rig.screen.top == "PUZZLE"
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "just_handed_over"
    rig.wait(5)
    rig.press(FINISH)
    assert rig.state == State.CLAIMED


def test_a_step_whose_first_press_was_in_time_counts_when_confirmed_after_the_forced_hand_over(
    play: Play,
) -> None:
    rig = play(CASTRILLO["parejas"])
    for _ in range(4):
        rig.press(FINISH)
        rig.press(FINISH)
    started = rig.events()[0].mono_ms or 0
    rig.wait(started / 1000 + 5399.5 - rig.now)
    rig.press(FINISH)
    rig.wait(1)
    rig.press(FINISH)
    rig.wait(1)
    assert rig.types()[-1] == "step_solved"
    run = rig.history.run
    assert run is not None
    over = run.at(6_000_000).handed_over
    assert over is not None
    assert over.solved
