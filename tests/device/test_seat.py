"""A09, A10 on the table: which day the plan is for, two devices on one seat, a plan that is taken back."""

from __future__ import annotations

from pathlib import Path

from device.debounce import Button
from device.from_hub import PlanReceived
from device.plan_store import PlanStore
from shared.core.events import EventType
from shared.core.model import State
from shared.plan import Plan, PlannedRun
from tests.device.rig import TORNEO, Rig

START = Button.START


def plan(**changes: object) -> Plan:
    run = PlannedRun(order=1, heat="1", entrant="e1", public_name="Ana G.", category="adulto")
    made = Plan(revision=1, table=12, day="2026-09-26", categories={"adulto": TORNEO["adulto"]}, runs=(run,))
    return made.model_copy(update=changes)


def tell(rig: Rig, told: Plan) -> None:
    rig.inbox.append(PlanReceived(told.as_json()))
    rig.step()


def test_unsure_of_the_day_ready_shows_entrant_and_date_until_the_first_start(tmp_path: Path) -> None:
    PlanStore(tmp_path).keep_plan(plan())
    rig = Rig(tmp_path, "adulto", online=False)
    assert "Ana G." in rig.screen.lines
    assert rig.screen.bottom == "plan del 2026-09-26 · START: sí"
    rig.press(START)
    assert rig.state == State.PREVIEW
    assert rig.events(EventType.RUN_STARTED)[0].data["entrant"] == "e1"
    rig.press(START, hold=2.2)
    assert rig.screen.bottom == "START empieza", "the judge has confirmed the day"
    rig.unplug()


def test_a_table_that_has_met_the_hub_knows_the_day(tmp_path: Path) -> None:
    PlanStore(tmp_path).keep_plan(plan())
    rig = Rig(tmp_path, "adulto", online=False)
    rig.online = True
    rig.step()
    assert rig.screen.bottom == "START empieza"
    rig.online = False
    rig.wait(3)
    assert rig.screen.bottom == "START empieza"
    rig.unplug()


def test_a10_a_seat_with_two_devices_names_the_other_one_and_starts_nobody(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    tell(rig, plan(runs=(), categories={}, conflict=("t99-abc",)))
    assert rig.screen.top == "Mesa 12"
    assert rig.screen.lines == ("mesa ocupada por", "t99-abc")
    rig.press(START)
    assert rig.state == State.READY
    assert rig.events(EventType.RUN_STARTED) == []
    tell(rig, plan())
    assert "Ana G." in rig.screen.lines
    rig.unplug()


def test_a_run_goes_on_when_another_device_comes_to_its_seat(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    tell(rig, plan())
    rig.wait(1)
    rig.press(START)
    tell(rig, plan(runs=(), categories={}, conflict=("t99-abc",)))
    rig.wait(130)
    assert rig.state == State.RUNNING
    assert rig.screen.clock.startswith("0:")
    rig.unplug()


def test_a_plan_that_is_taken_back_leaves_the_categories_of_the_settings(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    tell(rig, plan())
    tell(rig, plan(runs=(), categories={}, withdrawn=True))
    assert rig.screen.lines[0] == "sin turno"
    rig.unplug()
    rig = Rig(tmp_path, "adulto", now=1100.0)
    assert rig.screen.lines[0] == "sin turno"
    rig.unplug()
