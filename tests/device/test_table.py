"""What a judge presses at a table is what the journal holds and the display says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from device.debounce import Button
from device.from_hub import PlanReceived
from shared.core.events import EventType
from shared.core.model import State
from shared.plan import Plan, PlannedRun
from tests.device.rig import TORNEO, Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path, "adulto")
    yield rig
    rig.unplug()


@contextmanager
def table(folder: Path, *categories: str, **options: float | str) -> Iterator[Rig]:
    rig = Rig(folder, *categories, **options)  # type: ignore[arg-type]
    yield rig
    rig.unplug()


def running(rig: Rig) -> None:
    rig.press(START)
    rig.wait(121)
    assert rig.state == State.RUNNING


def test_a_run_from_start_to_seal_is_journaled_with_the_times_of_the_presses(rig: Rig) -> None:
    began = rig.now
    rig.press(START)
    assert rig.screen.clock == "2:00"
    rig.wait(119)
    assert rig.screen.clock == "0:01"
    rig.wait(2600)
    pressed = rig.now
    rig.press(FINISH)
    assert rig.state == State.CLAIMED
    rig.press(FINISH)
    assert rig.types() == ["run_started", "run_finished", "finish_accepted"]
    start, finish, _ = rig.events()
    assert start.mono_ms == int(began * 1000)
    assert finish.mono_ms == int(pressed * 1000)
    assert rig.screen.top == "FINAL"
    assert rig.screen.clock == "43:19"


def test_the_display_at_the_stop_equals_the_result(rig: Rig) -> None:
    running(rig)
    rig.wait(1234.567)
    rig.press(FINISH)
    stopped = rig.screen.clock
    rig.press(FINISH)
    assert rig.screen.clock == stopped


def test_finish_twice_within_a_second_gives_one_result_and_the_acceptance_waits_for_the_question(
    rig: Rig,
) -> None:
    running(rig)
    rig.down(FINISH)
    rig.wait(0.05)
    rig.up(FINISH)
    rig.wait(0.05)
    rig.press(FINISH)
    assert rig.state == State.CLAIMED
    assert [e.data["reason"] for e in rig.events(EventType.PRESS_REFUSED)] == ["too_soon"]
    rig.press(FINISH)
    assert rig.state == State.SEALED


def test_two_presses_that_a_slow_disk_delivers_together_are_one_finish(rig: Rig) -> None:
    running(rig)
    for _ in range(2):
        rig.down(FINISH)
        rig.now += 0.1
        rig.up(FINISH)
        rig.now += 0.1
    rig.wait(1)
    assert rig.state == State.CLAIMED
    assert len(rig.events(EventType.RUN_FINISHED)) == 1


def test_a_bouncing_contact_is_one_press_stamped_at_its_first_edge(rig: Rig) -> None:
    first = rig.now
    for _ in range(15):
        rig.down(START)
        rig.now += 0.0003
        rig.up(START)
        rig.now += 0.0003
    rig.down(START)
    rig.wait(1)
    assert rig.types() == ["run_started"]
    assert rig.events()[0].mono_ms == int(first * 1000)


def test_who_leans_on_start_at_a_common_start_is_started(rig: Rig) -> None:
    rig.press(START, hold=5.0)
    assert rig.state == State.PREVIEW
    assert rig.types() == ["run_started"]


def test_start_held_two_seconds_undoes_and_says_what(rig: Rig) -> None:
    running(rig)
    rig.press(PAUSE)
    rig.down(START)
    rig.wait(1.0)
    assert rig.screen.top == "DESHACER PAUSA"
    assert rig.screen.bar == pytest.approx(0.5, abs=0.1)
    rig.wait(1.1)
    rig.up(START)
    rig.wait(0.3)
    assert rig.state == State.RUNNING
    assert rig.types()[-1] == "act_undone"
    rig.press(PAUSE)
    rig.press(PAUSE)
    rig.press(PAUSE)
    assert rig.state == State.PAUSED


def test_start_let_go_at_1_9_seconds_only_resumes(rig: Rig) -> None:
    running(rig)
    rig.press(PAUSE)
    rig.press(START, hold=1.9)
    assert rig.types()[-1] == "pause_ended"


def test_a_start_can_be_undone_in_the_preview_and_leaves_the_table_ready(rig: Rig) -> None:
    rig.press(START)
    rig.press(START, hold=2.2)
    assert rig.state == State.READY
    rig.press(START)
    runs = [e.run for e in rig.events(EventType.RUN_STARTED)]
    assert len(set(runs)) == 2


def test_a_start_is_not_undone_after_the_preview(rig: Rig) -> None:
    running(rig)
    rig.press(START, hold=2.2)
    assert rig.state == State.RUNNING
    assert rig.screen.bottom == "deshacer: en central"


def test_holding_start_in_claimed_rejects_the_finish_and_the_clock_never_stopped(rig: Rig) -> None:
    running(rig)
    rig.press(FINISH)
    rig.wait(20)
    rig.press(START, hold=2.2)
    assert rig.types()[-1] == "finish_rejected"
    assert rig.state == State.RUNNING


def test_the_judge_who_comes_back_late_to_resume_does_not_start_a_second_pause(rig: Rig) -> None:
    running(rig)
    rig.press(PAUSE)
    rig.wait(301)
    assert rig.screen.top == "PAUSA AGOTADA, CORRE"
    rig.press(PAUSE)
    assert rig.types()[-1] == "notice_dismissed"
    assert rig.state == State.RUNNING
    assert rig.screen.bottom.startswith("P1")


@pytest.mark.parametrize(
    ("before", "button", "reason"),
    [
        ([], FINISH, "not_started"),
        ([START], FINISH, "preview"),
        ([START], PAUSE, "preview"),
        ([START, 121, PAUSE], ASSIST, "paused"),
        ([START, 121, FINISH], PAUSE, "claimed"),
        ([START, 121, FINISH, FINISH], ASSIST, "sealed"),
    ],
)
def test_a_refused_press_is_journaled_with_its_reason_and_shown(
    rig: Rig, before: list[Button | int], button: Button, reason: str
) -> None:
    for done in before:
        if isinstance(done, int):
            rig.wait(done)
        else:
            rig.press(done)
    rig.press(button)
    refused = rig.events()[-1]
    assert refused.type == EventType.PRESS_REFUSED
    assert refused.data["reason"] == reason
    assert rig.screen.bottom_inverse
    rig.wait(3)
    assert not rig.screen.bottom_inverse


def test_groups_have_no_pauses(tmp_path: Path) -> None:
    with table(tmp_path, "grupal-adulto") as rig:
        running(rig)
        rig.press(PAUSE)
        assert rig.screen.bottom == "aquí no hay pausas"


def test_a_judge_leaning_on_a_wrong_button_does_not_fill_the_journal(rig: Rig) -> None:
    for _ in range(60):
        rig.press(FINISH, hold=0.05)
    assert len(rig.events(EventType.PRESS_REFUSED)) == 20
    rig.wait(61)
    rig.press(FINISH)
    assert rig.events()[-1].data["count"] == 41


def test_loose_pieces_are_counted_with_the_buttons_after_the_limit(rig: Rig) -> None:
    running(rig)
    rig.wait(7200)
    assert rig.state == State.TIME_UP
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "after_limit"
    rig.wait(3.1)
    assert rig.screen.top == "PIEZAS SUELTAS"
    for _ in range(3):
        rig.press(ASSIST)
    rig.press(PAUSE)
    assert rig.screen.clock == "2"
    rig.press(FINISH)
    assert rig.screen.bottom == "¿2? FINISH = sí"
    rig.press(FINISH)
    counted = rig.events()[-1]
    assert (counted.type, counted.data["pieces"]) == (EventType.PIECES_COUNTED, 2)
    assert rig.screen.clock == "2:00:20"


def test_holding_the_count_button_runs_faster_and_stops_at_the_puzzles_pieces(rig: Rig) -> None:
    running(rig)
    rig.wait(7210)
    rig.press(ASSIST, hold=1.0)
    assert rig.screen.clock == "5"
    rig.press(ASSIST, hold=6.0)
    assert rig.screen.clock == "200"
    rig.press(PAUSE, hold=9.0)
    assert rig.screen.clock == "0"


def test_an_untouched_zero_is_confirmed_by_holding_and_asked_once_more(rig: Rig) -> None:
    running(rig)
    rig.wait(7210)
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "count_first"
    rig.press(FINISH, hold=2.2)
    assert rig.screen.bottom == "¿0? FINISH = sí"
    rig.press(FINISH)
    assert rig.events()[-1].data["pieces"] == 0


def test_a_button_held_down_at_boot_is_dead_until_released_and_the_others_work(tmp_path: Path) -> None:
    with table(tmp_path, "adulto") as rig:
        rig.table.presses.boot({FINISH: True})
        rig.levels[FINISH] = True
        rig.press(START)
        rig.wait(121)
        assert rig.screen.top_right == "FINISH ATASCADO"
        rig.up(FINISH)
        rig.wait(1)
        assert rig.types() == ["run_started"]
        rig.press(FINISH)
        assert rig.state == State.CLAIMED


def plan_of(*names: str, revision: int = 1) -> Plan:
    runs = tuple(
        PlannedRun(order=i, heat="1", entrant=f"e{i}", public_name=name, category="adulto")
        for i, name in enumerate(names, start=1)
    )
    return Plan(revision=revision, table=12, categories={"adulto": TORNEO["adulto"]}, runs=runs)


def test_the_plan_names_table_and_entrant_and_start_after_sealing_loads_the_next(rig: Rig) -> None:
    rig.inbox.append(PlanReceived(plan_of("Ana G.", "Luis P.").as_json()))
    rig.wait(1)
    assert rig.screen.lines == ("Ana G.", "Adulto")
    assert rig.screen.top == "Mesa 12"
    running(rig)
    rig.press(FINISH)
    rig.press(FINISH)
    rig.press(START)
    assert rig.state == State.READY
    assert rig.screen.lines == ("Luis P.", "Adulto")
    running(rig)
    rig.press(FINISH)
    rig.press(FINISH)
    rig.press(START)
    assert rig.screen.bottom == "nadie más en el plan"
    starts = rig.events(EventType.RUN_STARTED)
    assert [(e.data["entrant"], e.data["table"], e.data["heat"]) for e in starts] == [
        ("e1", 12, "1"),
        ("e2", 12, "1"),
    ]


def test_pause_and_assist_choose_another_entrant_of_the_plan(rig: Rig) -> None:
    rig.inbox.append(PlanReceived(plan_of("Ana G.", "Luis P.", "Eva").as_json()))
    rig.wait(1)
    rig.press(ASSIST)
    assert rig.screen.lines[0] == "Luis P."
    rig.press(PAUSE)
    rig.press(PAUSE)
    assert rig.screen.lines[0] == "Eva"


def test_a_bad_plan_changes_nothing(rig: Rig) -> None:
    rig.inbox.append(PlanReceived(plan_of("Ana G.").as_json()))
    rig.wait(1)
    rig.inbox.append(PlanReceived({"revision": "x", "runs": [1]}))
    rig.wait(1)
    assert rig.screen.lines[0] == "Ana G."


def test_a_killed_process_comes_back_with_the_same_clock(tmp_path: Path) -> None:
    with table(tmp_path, "adulto") as rig:
        running(rig)
        rig.wait(600)
        now = rig.now
    with table(tmp_path, "adulto", now=now + 30) as rig:
        assert rig.state == State.RUNNING
        rig.wait(1.5)
        assert rig.screen.clock == "10:33"
        rig.press(FINISH)
        rig.press(FINISH)
        assert rig.screen.clock == "10:33"
        assert not rig.screen.top_right


def test_after_a_pulled_plug_the_clock_is_a_lower_bound_and_the_result_is_interrupted(tmp_path: Path) -> None:
    with table(tmp_path, "adulto") as rig:
        running(rig)
        rig.wait(600)
    with table(tmp_path, "adulto", boot="boot-2", now=5000.0, zero_s=4990.0) as rig:
        assert rig.types() == ["boot_started", "run_taken_over"]
        assert rig.events()[0].data["alive_ms"] >= 1_711_000
        assert rig.state == State.RUNNING
        rig.wait(2)
        assert rig.screen.clock.startswith("≥ 10:")
        assert rig.screen.top_right == "RELOJ"
        rig.press(FINISH)
        rig.press(FINISH)
        assert rig.state == State.SEALED
        assert rig.screen.clock.startswith("≥ 10:")


def test_the_loop_sleeps_until_the_next_second_while_the_clock_runs(rig: Rig) -> None:
    running(rig)
    rig.wait(10)
    passes = 0
    end = rig.now + 10
    while rig.now < end:
        rig.now = max(rig.step(), rig.now + 1e-6)
        passes += 1
    assert passes <= 25
