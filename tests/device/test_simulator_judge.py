"""The scripted judge: whole heats on real virtual tables, much faster than time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from device.debounce import Button
from device.plan_store import PlanStore
from device.simulator.judge import ScriptedJudge
from device.simulator.script import Absence, Script, script
from device.simulator.supervisor import Supervisor, Tables
from device.simulator.tactics import TACTICS, TAP, UNDO_S, Memory, Move, Sight
from shared.core.events import Event, EventType
from shared.plan import Plan, PlannedRun
from shared.rulebook import shipped_rulebook
from tests.device.virtual import NO_HUB, journal_of, virtual_tables

E = EventType
TORNEO = "torneo-puzzles-2026"
CALM = Script(
    wait_ms=10_000,
    finish_at=0.5,
    rejected=False,
    pauses=(Absence(0.2, 60_000),),
    assists=(Absence(0.3, 30_000),),
    pieces=34,
    rest_ms=60_000,
    choice=1,
)
SEEN: dict[str, Any] = {
    "on": True, "alive": True, "clock_ms": 0, "t_ms": 0, "planned": True, "choices": 1, "category": "adulto",
    "entrant": "e1", "preview_ms": 0, "limit_ms": 100_000, "pieces": 200, "pauses_left": 2, "assists_left": 3,
    "notice": None, "refusal": None, "armed": None, "count": None, "escape": None,
}  # fmt: skip
STAGE = {"solved": 1, "steps": 5, "limit_ms": 50_000, "tickets": 11}


def play(tables: Tables, seed: int, *, runs_without_plan: int = 1) -> dict[int, list[Event]]:
    """Let a judge play to the end; what each table has written."""
    with virtual_tables(tables) as supervisor:
        judge = ScriptedJudge(
            Random(seed),
            supervisor,
            supervisor.numbers,
            runs_without_plan=runs_without_plan,
            plan_within_s=0.0,
        )
        judge.start()
        try:
            assert judge.wait_done(100.0), [supervisor.view(n).words for n in supervisor.numbers]
        finally:
            judge.stop()
        assert judge.wait_done(30.0)
    return {n: journal_of(tables, n) for n in range(1, tables.count + 1)}


def test_a_heat_by_plan_is_played_to_its_end_without_a_hub(tmp_path: Path) -> None:
    tables = Tables(3, tmp_path, NO_HUB, speed=1200.0)
    rules = shipped_rulebook(TORNEO).categories["infantil-5-7"]
    for n in (1, 2, 3):
        runs = tuple(
            PlannedRun(order=k, heat="1", entrant=f"e{n}{k}", public_name=f"Ana {n}{k}", category=rules.id)
            for k in (1, 2)
        )
        folder = tmp_path / tables.device(n)
        folder.mkdir()
        PlanStore(folder).keep_plan(Plan(revision=1, table=n, categories={rules.id: rules}, runs=runs))
    written = play(tables, seed=3951)
    for n, events in written.items():
        kinds = Counter(e.type for e in events)
        begun = [e.data["entrant"] for e in events if e.type == E.RUN_STARTED]
        assert begun == [f"e{n}1", f"e{n}2"]
        assert kinds[E.FINISH_ACCEPTED] + kinds[E.PIECES_COUNTED] == 2
        refused = {e.data["reason"] for e in events if e.type == E.PRESS_REFUSED}
        assert "plan_done" in refused
    together = [e for events in written.values() for e in events]
    assert 12 in [e.data.get("pieces") for e in together if e.type == E.PIECES_COUNTED]
    assert Counter(e.type for e in together)[E.FINISH_REJECTED] == 1


def test_without_plan_and_hub_the_categories_of_the_rulebook_are_played(tmp_path: Path) -> None:
    tables = Tables(2, tmp_path, NO_HUB, speed=1200.0, categories=("infantil-5-7", "infantil-9-10"))
    for events in play(tables, seed=894, runs_without_plan=2).values():
        kinds = Counter(e.type for e in events)
        assert kinds[E.RUN_STARTED] == 2
        assert kinds[E.FINISH_ACCEPTED] + kinds[E.PIECES_COUNTED] == 2


def test_the_escape_stage_is_played_step_by_step(tmp_path: Path) -> None:
    tables = Tables(1, tmp_path, NO_HUB, speed=600.0, rulebook="castrillo-2023", categories=("parejas",))
    (events,) = play(tables, seed=1723).values()
    kinds = Counter(e.type for e in events)
    assert kinds[E.STEP_SOLVED] == 5
    assert kinds[E.FINISH_ACCEPTED] + kinds[E.PIECES_COUNTED] == 1


def test_a_judge_can_be_stopped_in_the_middle(tmp_path: Path) -> None:
    with virtual_tables(Tables(1, tmp_path, NO_HUB, categories=("adulto",))) as supervisor:
        judge = ScriptedJudge(Random(1), supervisor, supervisor.numbers, plan_within_s=3600.0)
        judge.start()
        judge.stop()
        assert judge.wait_done(30.0)
        assert supervisor.look(1)["state"] == "ready"


def test_a_seed_means_the_same_runs_and_another_seed_others() -> None:
    def drawn(seed: int) -> list[Script]:
        random = Random(seed)
        return [script(random) for _ in range(5)]

    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)


def test_over_many_runs_a_judge_does_everything_a_judge_does() -> None:
    random = Random(2026)
    runs = [script(random) for _ in range(200)]
    assert any(r.finish_at > 1 for r in runs)
    assert any(r.rejected for r in runs)
    assert {len(r.pauses) for r in runs} == {0, 1, 2}
    assert {len(r.assists) for r in runs} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("state", "seen", "memory", "move"),
    [
        ("ready", {"clock_ms": 9_999}, {}, None),
        ("ready", {"clock_ms": 10_000}, {}, TAP[Button.START]),
        ("ready", {"clock_ms": 10_000, "category": None}, {}, None),
        ("ready", {"clock_ms": 10_000, "planned": False, "choices": 2}, {}, TAP[Button.ASSIST]),
        ("ready", {"clock_ms": 10_000, "planned": False, "choices": 2}, {"chosen": 1}, TAP[Button.START]),
        ("preview", {"clock_ms": 99_000}, {}, None),
        ("running", {"t_ms": 19_999}, {}, None),
        ("running", {"t_ms": 20_000}, {}, TAP[Button.PAUSE]),
        ("running", {"t_ms": 20_000, "pauses_left": 0}, {}, None),
        ("running", {"t_ms": 30_000}, {"pauses": 1}, TAP[Button.ASSIST]),
        ("running", {"t_ms": 50_000}, {"pauses": 1, "assists": 1}, TAP[Button.FINISH]),
        ("running", {"t_ms": 50_000, "notice": "pause_ran_out"}, {}, TAP[Button.PAUSE]),
        ("running", {"t_ms": 50_000, "notice": "assist_ran_out"}, {}, TAP[Button.ASSIST]),
        ("running", {"t_ms": 50_000, "clock_ms": 50_000}, {"pauses": 1, "assists": 1, "rejected_ms": 0}, None),
        ("running", {"t_ms": 9_999, "escape": STAGE}, {}, None),
        ("running", {"t_ms": 10_000, "escape": STAGE}, {}, TAP[Button.FINISH]),
        ("running", {"escape": STAGE, "armed": "step_solved"}, {"since_s": -0.5}, None),
        ("running", {"escape": STAGE, "armed": "step_solved"}, {"since_s": -0.6}, TAP[Button.FINISH]),
        ("paused", {"clock_ms": 59_999}, {"pauses": 1}, None),
        ("paused", {"clock_ms": 60_000}, {"pauses": 1}, TAP[Button.PAUSE]),
        ("paused", {}, {}, TAP[Button.PAUSE]),
        ("assisting", {"clock_ms": 29_999}, {"assists": 1}, None),
        ("assisting", {"clock_ms": 30_000}, {"assists": 1}, TAP[Button.ASSIST]),
        ("claimed", {}, {"since_s": -0.5}, None),
        ("claimed", {}, {"since_s": -0.6}, TAP[Button.FINISH]),
        ("time_up", {}, {}, None),
        ("time_up", {"count": {"number": 0, "touched": False, "asked": False}}, {}, Move(Button.ASSIST, 2.4)),
        ("time_up", {"count": {"number": 30, "touched": True, "asked": False}}, {}, TAP[Button.ASSIST]),
        ("time_up", {"count": {"number": 39, "touched": True, "asked": False}}, {}, TAP[Button.PAUSE]),
        ("time_up", {"count": {"number": 34, "touched": True, "asked": False}}, {}, TAP[Button.FINISH]),
        ("time_up", {"count": {"number": 34, "touched": True, "asked": True}}, {}, None),
        ("time_up", {"count": {"number": 34, "touched": True, "asked": True}}, {"since_s": -1}, TAP[Button.FINISH]),
        ("time_up", {"pieces": 20, "count": {"number": 20, "touched": True, "asked": False}}, {}, TAP[Button.FINISH]),
        ("sealed", {"clock_ms": 60_000}, {"since_s": -0.5}, None),
        ("sealed", {"clock_ms": 59_999}, {"since_s": -1}, None),
        ("sealed", {"clock_ms": 60_000}, {"since_s": -1}, TAP[Button.START]),
    ],
)  # fmt: skip
def test_what_a_judge_does_next_is_a_function_of_what_is_seen(
    state: str, seen: dict[str, Any], memory: dict[str, Any], move: Move | None
) -> None:
    sight = Sight({**SEEN, "state": state, **seen}, Memory(CALM, **memory), 0.0)
    assert TACTICS[state](sight) == move


def test_a_finish_that_is_rejected_is_rejected_once() -> None:
    hasty = Script(1, 0.5, True, (), (), 1, 1, 0)
    memory = Memory(hasty, since_s=-1.0)
    sight = Sight({**SEEN, "state": "claimed", "clock_ms": 700}, memory, 0.0)
    assert TACTICS["claimed"](sight) == Move(Button.START, UNDO_S)
    assert memory.rejected_ms == 700
    assert TACTICS["claimed"](sight) == TAP[Button.FINISH]


def test_a_table_without_its_plug_is_left_alone(tmp_path: Path) -> None:
    tables = Tables(1, tmp_path, NO_HUB, speed=600.0, categories=("infantil-5-7",))
    with virtual_tables(tables) as supervisor:
        judge = ScriptedJudge(Random(1723), supervisor, (1,), plan_within_s=0.0)
        judge.start()
        assert supervisor.wait_for(1, lambda v: v.table["state"] != "ready", 30.0)
        supervisor.power(1, False)
        supervisor.power(1, True)
        supervisor.kill(1)
        try:
            assert judge.wait_done(100.0), supervisor.view(1).words
        finally:
            judge.stop()
    kinds = Counter(e.type for e in journal_of(tables))
    assert kinds[E.BOOT_STARTED] == 1
    assert kinds[E.FINISH_ACCEPTED] + kinds[E.PIECES_COUNTED] == 1


def test_the_supervisor_is_a_pair_of_hands(tmp_path: Path) -> None:
    supervisor = Supervisor(Tables(1, tmp_path, NO_HUB))
    look = supervisor.look(1)
    assert (look["on"], look["alive"]) == (True, False)
