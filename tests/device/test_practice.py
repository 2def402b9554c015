"""Practice: a run to learn the buttons with, asked for by holding ASSIST, that takes nobody's place."""

from __future__ import annotations

from pathlib import Path

from device.debounce import Button
from device.from_hub import PlanReceived, StartOrdered
from hub.planning import plan_for
from hub.store import PlanRow
from shared.core.events import EventType
from shared.rulebook import shipped_rulebook
from shared.wire import StartOrder
from tests.device.rig import Rig, RigHub

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
ROWS = [PlanRow("1", 1, 7, "e1", "adulto", "Ana G."), PlanRow("2", 2, 7, "e2", "adulto", "Luis P.")]


def planned(folder: Path, rows: list[PlanRow] = ROWS, hub: RigHub | None = None) -> Rig:
    rig = Rig(folder, hub=hub)
    rig.inbox.append(PlanReceived(plan_for(7, rows, RULEBOOK)))
    rig.wait(1)
    return rig


def hold_assist(rig: Rig) -> None:
    rig.press(ASSIST, hold=2.2)


def test_holding_assist_in_ready_offers_practice_and_a_tap_leads_back(tmp_path: Path) -> None:
    rig = planned(tmp_path)
    hold_assist(rig)
    assert (rig.screen.top, rig.screen.top_inverse) == ("PRÁCTICA", True)
    assert rig.screen.top_right == "Mesa 7"
    assert "no cuenta" in rig.screen.lines
    rig.press(ASSIST)
    assert "Ana G." in rig.screen.lines


def test_a_practice_run_is_marked_takes_nobodys_place_and_is_over_with_itself(tmp_path: Path) -> None:
    rig = planned(tmp_path)
    hold_assist(rig)
    rig.press(START)
    rig.wait(130)
    assert rig.screen.top == "PRÁCTICA"
    rig.press(FINISH)
    rig.wait(1)
    rig.press(FINISH)
    (start,) = rig.events(EventType.RUN_STARTED)
    assert (start.data["practice"], start.data["entrant"], start.data["category"]) == (True, None, "adulto")
    rig.wait(1)
    rig.press(START)
    assert "Ana G." in rig.screen.lines
    rig.press(START)
    assert rig.events(EventType.RUN_STARTED)[-1].data["entrant"] == "e1"


def test_the_plan_of_the_shown_category_is_what_is_practised(tmp_path: Path) -> None:
    rows = [ROWS[0], PlanRow("2", 2, 7, "g1", "grupal-adulto", "Los Pérez")]
    rig = planned(tmp_path, rows)
    rig.press(ASSIST)
    hold_assist(rig)
    rig.press(START)
    assert rig.events(EventType.RUN_STARTED)[0].data["category"] == "grupal-adulto"


def test_with_nobody_left_in_the_plan_practice_is_still_there(tmp_path: Path) -> None:
    rig = planned(tmp_path, ROWS[:1])
    rig.press(START)
    rig.wait(130)
    rig.press(START, hold=2.2)
    assert rig.state == "running"
    rig.press(FINISH)
    rig.wait(1)
    rig.press(FINISH)
    rig.unplug()
    again = Rig(tmp_path, life="-b", now=rig.now + 5)
    assert again.state == "sealed"


def test_without_plan_and_categories_there_is_nothing_to_practise(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    hold_assist(rig)
    assert rig.events(EventType.PRESS_REFUSED)[-1].data["reason"] == "nothing_planned"


def test_a_table_that_starts_by_itself_does_not_go_to_practice(tmp_path: Path) -> None:
    hub = RigHub()
    rig = planned(tmp_path, hub=hub)
    rig.wait(20)
    at_ms = hub.ms(rig.now + 30)
    rig.inbox.append(StartOrdered(StartOrder("o1", "1", at_ms, hub.base)))
    rig.wait(1)
    hold_assist(rig)
    assert rig.events(EventType.PRESS_REFUSED)[-1].data["reason"] == "starts_by_itself"
    rig.wait(30)
    assert rig.state == "preview"


def test_an_ordered_start_ends_the_offer_of_practice(tmp_path: Path) -> None:
    hub = RigHub()
    rig = planned(tmp_path, hub=hub)
    rig.wait(20)
    hold_assist(rig)
    rig.inbox.append(StartOrdered(StartOrder("o1", "1", hub.ms(rig.now + 30), hub.base)))
    rig.wait(31)
    (start,) = rig.events(EventType.RUN_STARTED)
    assert start.data["entrant"] == "e1"


def test_holding_pause_in_ready_chooses_once_and_is_no_practice(tmp_path: Path) -> None:
    rig = planned(tmp_path)
    rig.press(PAUSE, hold=2.5)
    assert "Luis P." in rig.screen.lines
