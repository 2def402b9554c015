"""A09: a START is of whom the display offered when it was pressed, and an undone one is offered again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from device.call import Called
from device.debounce import Button
from device.from_hub import PlanReceived, StartOrdered
from device.screen import Screen
from hub.planning import plan_for
from hub.store import PlanRow
from shared.core.events import EventType
from shared.rulebook import shipped_rulebook
from shared.wire import Do, StartOrder
from tests.device.rig import Rig, RigHub

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
ANA, BERTA, CARLA = (
    PlanRow(str(n), n, 7, f"e{n}", "adulto", name) for n, name in enumerate(("Ana", "Berta", "Carla"), 1)
)


def plan(*rows: PlanRow) -> PlanReceived:
    return PlanReceived(plan_for(7, rows, RULEBOOK))


def planned(folder: Path, *rows: PlanRow, hub: RigHub | None = None) -> Rig:
    rig = Rig(folder, "adulto", hub=hub)
    rig.inbox.append(plan(*(rows or (ANA, BERTA, CARLA))))
    rig.wait(8)
    return rig


def offered(rig: Rig) -> str:
    return rig.screen.lines[0]


def started(rig: Rig) -> list[str | None]:
    return [event.data["entrant"] for event in rig.events(EventType.RUN_STARTED)]


def finished(rig: Rig) -> None:
    rig.wait(130)
    rig.press(FINISH)
    rig.wait(1)
    rig.press(FINISH)
    rig.wait(1)
    assert rig.state == "sealed"


@pytest.mark.parametrize("choose", [0, 1, 2])
@pytest.mark.parametrize("restart", [False, True])
def test_whose_start_was_undone_is_offered_again(tmp_path: Path, choose: int, restart: bool) -> None:
    """A09."""
    rig = planned(tmp_path)
    for _ in range(choose):
        rig.press(ASSIST)
    who = offered(rig)
    rig.press(START)
    if restart:
        rig.unplug()
        rig = Rig(tmp_path, "adulto", life="-b", now=rig.now + 1)
    rig.press(START, hold=2.2)
    assert rig.state == "ready"
    assert offered(rig) == who
    rig.press(START)
    assert started(rig) == [f"e{choose + 1}"] * 2


def test_an_undone_start_without_a_plan_offers_its_category_again_and_practice_practice(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, "adulto", "grupal-adulto")
    rig.press(ASSIST)
    category = rig.screen.lines[-1]
    rig.press(START)
    rig.press(START, hold=2.2)
    assert rig.screen.lines[-1] == category
    rig.press(ASSIST, hold=2.2)
    rig.press(START)
    rig.press(START, hold=2.2)
    assert rig.screen.top == "PRÁCTICA"


@pytest.mark.parametrize("late_s", [0.005, 3.0])
def test_a_start_is_of_whom_the_display_showed_when_a_new_plan_comes_under_the_finger(
    tmp_path: Path, late_s: float
) -> None:
    rig = planned(tmp_path, ANA)
    rig.down(START)
    rig.now += late_s
    rig.inbox.append(plan(BERTA))
    rig.wait(0.3)
    rig.up(START)
    rig.wait(0.3)
    assert started(rig) == ["e1"]


def test_a_start_just_after_another_name_came_on_the_display_asks_again(tmp_path: Path) -> None:
    rig = planned(tmp_path, ANA)
    rig.inbox.append(plan(BERTA))
    rig.wait(0.1)
    rig.press(START)
    assert started(rig) == []
    assert rig.events(EventType.PRESS_REFUSED)[-1].data["reason"] == "too_soon"
    assert rig.screen.bottom == "muy pronto: repite"
    rig.press(START)
    assert started(rig) == ["e2"]
    assert rig.screen.bottom == "mantén START anula", "what is said of the last press is no longer true"


@pytest.mark.parametrize("apart_s", [0.1, 0.2, 0.3])
def test_a06_start_twice_on_a_final_time_leads_to_the_next_entrant_and_starts_nobody(
    tmp_path: Path, apart_s: float
) -> None:
    rig = planned(tmp_path)
    rig.press(START)
    finished(rig)
    for _ in range(2):
        rig.down(START)
        rig.wait(0.05)
        rig.up(START)
        rig.wait(apart_s - 0.05)
    rig.wait(1)
    assert (rig.state, started(rig)) == ("ready", ["e1"])
    rig.press(START)
    assert started(rig) == ["e1", "e2"]


@pytest.mark.parametrize("after_s", [-0.01, 0.1, 0.3])
def test_a_start_meant_for_the_final_time_does_not_start_the_heat_that_loads_itself(
    tmp_path: Path, after_s: float
) -> None:
    hub = RigHub()
    rig = planned(tmp_path, hub=hub)
    rig.press(START)
    finished(rig)
    rig.wait(30)
    order = StartOrdered(StartOrder("o1", "2", hub.ms(rig.now + 60), hub.base))
    if after_s < 0:
        rig.down(START)
        rig.now -= after_s
        rig.inbox.append(order)
        rig.wait(0.1)
    else:
        rig.inbox.append(order)
        rig.wait(after_s)
        rig.down(START)
        rig.wait(0.1)
    rig.up(START)
    rig.wait(1)
    assert started(rig) == ["e1"]
    rig.wait(61)
    assert started(rig) == ["e1", "e2"]


@pytest.mark.parametrize("from_start_s", [-0.5, -0.03, -0.018, -0.01, -0.002, 0.0, 0.002, 0.02, 0.2, 0.35])
@pytest.mark.parametrize("hold_s", [0.1, 2.5])
def test_who_leans_on_start_at_a_common_start_is_started_and_stays_so(
    tmp_path: Path, from_start_s: float, hold_s: float
) -> None:
    hub = RigHub()
    rig = planned(tmp_path, hub=hub)
    at_s = rig.now + 10
    rig.inbox.append(StartOrdered(StartOrder("o1", "1", hub.ms(at_s), hub.base)))
    rig.wait(10 + from_start_s)
    pressed_s = rig.now
    rig.down(START)
    rig.wait(hold_s)
    rig.up(START)
    rig.wait(0.5)
    (start,) = rig.events(EventType.RUN_STARTED)
    assert rig.state == "preview"
    assert not rig.events(EventType.ACT_UNDONE)
    wanted_s = min(pressed_s, at_s)
    assert start.mono_ms == pytest.approx(wanted_s * 1000, abs=1.5)
    assert ("overruled" in start.data) is (from_start_s < 0)


def test_a_press_that_puts_away_what_the_hub_asks_does_nothing_else(tmp_path: Path) -> None:
    rig = planned(tmp_path)
    rig.table._called = Called(Do.SHOW_TEXT, rig.now + 30, "Turno 4 a las 12:30")
    rig.wait(1)
    rig.press(START)
    assert (rig.state, started(rig)) == ("ready", [])
    rig.press(START)
    assert started(rig) == ["e1"]


def test_a_start_of_practice_does_not_vouch_for_the_day(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto", online=False)
    rig.inbox.append(PlanReceived(plan_for(7, [ANA], RULEBOOK, "2026-11-30")))
    rig.wait(1)
    asked = rig.screen.bottom
    rig.press(ASSIST, hold=2.2)
    rig.press(START)
    rig.press(START, hold=2.2)
    rig.press(ASSIST)
    assert rig.screen.bottom == asked


def test_a_hold_let_go_of_just_in_time_undoes_nothing(tmp_path: Path) -> None:
    """B06: a release takes the debouncer 20 ms to believe."""
    rig = planned(tmp_path)
    rig.press(START)
    rig.press(START, hold=1.985)
    assert not rig.events(EventType.ACT_UNDONE)


class Watched(Rig):
    """Somebody who looks at the display all the time."""

    def _show(self, screen: Screen) -> None:
        super()._show(screen)
        self.seen = [*getattr(self, "seen", []), (self.now, screen.lines)]

    def offered_before(self, t: float) -> set[str]:
        """The names that stood there for the last 0.4 s before an instant."""
        shown = [entry for entry in self.seen if entry[0] <= t]
        since = max(n for n, entry in enumerate(shown) if entry[0] <= t - 0.4 or n == 0)
        return {lines[0] if lines else "" for _, lines in shown[since:]}


def test_whoever_is_started_was_offered_long_enough_before_the_press(tmp_path: Path) -> None:
    """A09. Random plans, choices, starts and undos: no run is ever of somebody the judge did not see."""
    chance = random.Random(7)
    rig, known = Watched(tmp_path), 0
    for _ in range(500):
        what = chance.random()
        if what < 0.3:
            rig.inbox.append(plan(*chance.sample([ANA, BERTA, CARLA], chance.randint(1, 3))))
        elif what < 0.6:
            rig.down(chance.choice((ASSIST, PAUSE)))
        else:
            rig.down(START)
        rig.wait(chance.choice((0.01, 0.03, 0.1, 0.3, 0.6)))
        for button in Button:
            if rig.levels[button]:
                rig.up(button)
        rig.wait(chance.choice((0.03, 0.1, 0.5)))
        for event in rig.events(EventType.RUN_STARTED)[known:]:
            name = {"e1": "Ana", "e2": "Berta", "e3": "Carla"}[event.data["entrant"]]
            assert rig.offered_before((event.mono_ms or 0) / 1000) == {name}
            known += 1
        if rig.state != "ready":
            rig.wait(0.5)
            rig.press(START, hold=2.2)
    assert known > 20
