"""A common start as one table lives it: obeyed once, cancelled, overruled, late, and left to the judge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from device.debounce import Button
from device.from_hub import PlanReceived, StartOrdered
from shared.core.events import EventType
from shared.core.model import State
from shared.plan import Plan, PlannedRun
from shared.wire import StartOrder, StartState
from tests.device.rig import TORNEO, Rig, RigHub

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
STARTED = EventType.RUN_STARTED
CANCELLED, CLOSED = StartState.CANCELLED, StartState.CLOSED


class Timed(Rig):
    """A table with a plan of two heats, and the hub's clock known."""

    def __init__(self, folder: Path, hub: RigHub, **options: float | str) -> None:
        super().__init__(folder, "adulto", hub=hub, **options)  # type: ignore[arg-type]
        runs = tuple(
            PlannedRun(order=n, heat=str(n), entrant=f"e{n}", public_name=f"Ana {n}", category="adulto")
            for n in (1, 2)
        )
        plan = Plan(revision=1, table=7, categories={"adulto": TORNEO["adulto"]}, runs=runs)
        self.inbox.append(PlanReceived(plan.as_json()))
        self.wait(2)

    def order(self, starts_s: float, heat: str = "1", id: str = "s1") -> StartOrder:
        """The hub orders a start at an instant of the rig's hand time."""
        assert self.hub is not None
        order = StartOrder(id, heat, self.hub.ms(starts_s), self.hub.base)
        self.inbox.append(StartOrdered(order))
        self.step()
        return order

    def becomes(self, order: StartOrder, state: StartState) -> None:
        """The hub tells what became of the order."""
        self.inbox.append(StartOrdered(replace(order, state=state)))
        self.step()


@contextmanager
def table(folder: Path, hub: RigHub | None = None, **options: float | str) -> Iterator[Timed]:
    rig = Timed(folder, hub or RigHub(), **options)
    yield rig
    rig.unplug()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Timed]:
    with table(tmp_path) as rig:
        yield rig


def test_the_table_counts_down_and_starts_by_itself_at_the_instant_of_the_order(rig: Timed) -> None:
    starts_s = rig.now + 30
    rig.order(starts_s)
    assert (rig.screen.clock, rig.screen.bottom) == ("0:30", "empieza solo")
    rig.wait(20.5)
    assert rig.screen.clock == "0:10"
    rig.wait(starts_s - rig.now - 0.01)
    assert rig.state == State.READY
    rig.wait(0.02)
    assert rig.state == State.PREVIEW
    (start,) = rig.events(STARTED)
    assert start.mono_ms == pytest.approx(starts_s * 1000, abs=2)
    assert (start.data["start"], start.data["heat"], start.data["entrant"]) == ("s1", "1", "e1")


def test_a_busy_loop_makes_the_start_no_later(rig: Timed) -> None:
    starts_s = rig.now + 10
    rig.order(starts_s)
    rig.jump(14)
    (start,) = rig.events(STARTED)
    assert start.mono_ms == pytest.approx(starts_s * 1000, abs=2)
    rig.wait(1)
    assert rig.screen.clock == "1:55"


def test_a_table_that_is_switched_on_late_starts_in_the_past_even_before_its_boot(tmp_path: Path) -> None:
    with table(tmp_path, boot="b", now=1000.0, zero_s=990.0) as rig:
        rig.order(rig.now - 60)
        assert rig.state == State.PREVIEW
        (start,) = rig.events(STARTED)
        assert start.mono_ms is not None
        assert start.mono_ms < 0
        rig.wait(1)
        assert rig.screen.clock in ("0:59", "0:58")


def test_an_order_is_obeyed_once_however_often_it_is_told(rig: Timed) -> None:
    order = rig.order(rig.now + 5)
    rig.wait(6)
    rig.press(START, hold=2.2)
    assert rig.state == State.READY
    for _ in range(3):
        rig.becomes(order, StartState.ORDERED)
        rig.wait(5)
    assert rig.state == State.READY
    assert rig.screen.bottom in ("START empieza", "PAUSE/ASSIST elige")
    rig.press(START)
    assert rig.state == State.PREVIEW, "after an undone ordered start only the judge starts"
    assert [e.data.get("start") for e in rig.events(STARTED)] == ["s1", None]


def test_d07_an_obeyed_order_is_remembered_over_a_killed_program(tmp_path: Path) -> None:
    hub = RigHub()
    with table(tmp_path, hub) as rig:
        order = rig.order(rig.now + 5)
        rig.wait(6)
        rig.press(START, hold=2.2)
        now = rig.now
    with table(tmp_path, hub, now=now + 3) as rig:
        rig.becomes(order, StartState.ORDERED)
        rig.wait(5)
        assert rig.state == State.READY
        assert len(rig.events(STARTED)) == 1


def test_an_order_for_the_same_heat_after_a_false_start_is_another_order(rig: Timed) -> None:
    rig.order(rig.now + 5)
    rig.wait(6)
    rig.press(START, hold=2.2)
    rig.order(rig.now + 5, id="s2")
    rig.wait(6)
    assert rig.state == State.PREVIEW
    assert [e.data["start"] for e in rig.events(STARTED)] == ["s1", "s2"]


def test_the_judges_earlier_start_wins_and_its_undo_does_not_bring_the_order_back(rig: Timed) -> None:
    rig.order(rig.now + 30)
    rig.press(START)
    assert rig.state == State.PREVIEW
    rig.press(START, hold=2.2)
    rig.wait(60)
    assert rig.state == State.READY
    (start,) = rig.events(STARTED)
    assert (start.data["overruled"], "start" in start.data) == ("s1", False)


def test_a_cancelled_order_starts_nobody_and_shows_nothing(rig: Timed) -> None:
    order = rig.order(rig.now + 30)
    rig.wait(10)
    rig.becomes(order, CANCELLED)
    assert rig.screen.clock == ""
    rig.wait(60)
    assert (rig.state, rig.events(STARTED)) == (State.READY, [])


def test_a_cancellation_that_comes_late_stops_no_run(rig: Timed) -> None:
    order = rig.order(rig.now + 5)
    rig.wait(10)
    rig.becomes(order, CANCELLED)
    rig.wait(10)
    assert rig.state == State.PREVIEW


def test_a_closed_order_starts_no_late_table(tmp_path: Path) -> None:
    with table(tmp_path) as rig:
        order = replace(StartOrder("s1", "1", 0, "hub-1"), at_ms=RigHub().ms(rig.now - 60), state=CLOSED)
        rig.inbox.append(StartOrdered(order))
        rig.wait(10)
        assert rig.state == State.READY


def test_an_order_whose_heat_is_over_starts_nobody(rig: Timed) -> None:
    rig.order(rig.now - 3 * 3600)
    rig.wait(5)
    assert (rig.state, rig.screen.clock) == (State.READY, "")


def test_an_order_of_another_heat_loads_that_heat_once_and_the_judge_may_choose_another(rig: Timed) -> None:
    rig.order(rig.now + 30, heat="2")
    assert rig.screen.clock != ""
    rig.press(ASSIST)
    assert "Ana 1" in rig.screen.lines
    rig.wait(60)
    assert rig.state == State.READY


def test_a_sealed_table_loads_the_heat_and_a_running_one_goes_on(rig: Timed) -> None:
    rig.press(START)
    rig.wait(200)
    rig.order(rig.now + 30, heat="2")
    rig.wait(10)
    assert rig.state == State.RUNNING
    rig.press(FINISH)
    rig.press(FINISH)
    rig.wait(5)
    assert rig.screen.top == "FINAL", "the judge still needs the result"
    rig.wait(6)
    assert rig.screen.bottom == "empieza solo"
    rig.wait(20)
    assert rig.state == State.PREVIEW
    assert rig.events(STARTED)[-1].data["entrant"] == "e2"


def test_an_order_for_a_heat_that_is_not_planned_here_changes_nothing(rig: Timed) -> None:
    rig.order(rig.now + 5, heat="9")
    rig.wait(10)
    assert (rig.state, "Ana 1" in rig.screen.lines) == (State.READY, True)


def test_an_order_of_a_hub_that_was_switched_on_again_means_nothing(rig: Timed) -> None:
    rig.inbox.append(StartOrdered(StartOrder("s1", "1", 5_000, "hub-0")))
    rig.wait(10)
    assert rig.state == State.READY
    assert rig.screen.bottom in ("START empieza", "PAUSE/ASSIST elige")


def test_with_an_unsure_clock_the_judge_is_asked_to_press_start(tmp_path: Path) -> None:
    with table(tmp_path, RigHub(way_s=0.26)) as rig:
        rig.wait(10)
        rig.order(rig.now + 10)
        assert rig.screen.bottom == "reloj inseguro: pulsa START"
        rig.wait(20)
        assert rig.state == State.READY
        rig.press(START)
        assert rig.state == State.PREVIEW


def test_without_any_clock_the_judge_is_asked_after_a_moment_of_patience(tmp_path: Path) -> None:
    hub = RigHub()
    rig = Timed.__new__(Timed)
    Rig.__init__(rig, tmp_path, "adulto", hub=None)
    run = PlannedRun(order=1, heat="1", entrant="e1", public_name="Ana 1", category="adulto")
    plan = Plan(revision=1, table=7, categories={"adulto": TORNEO["adulto"]}, runs=(run,))
    rig.inbox.append(PlanReceived(plan.as_json()))
    rig.inbox.append(StartOrdered(StartOrder("s1", "1", hub.ms(rig.now + 10), "hub-1")))
    rig.wait(1)
    assert rig.screen.bottom == "START empieza"
    rig.wait(5)
    assert rig.screen.bottom == "reloj inseguro: pulsa START"
    assert "Ana 1" in rig.screen.lines
    rig.wait(10)
    assert rig.state == State.READY
    rig.unplug()


def test_in_a_demo_the_order_is_real_time_and_the_stamp_is_run_time(tmp_path: Path) -> None:
    with table(tmp_path, speed=60.0, zero_s=900.0) as rig:
        starts_s = rig.now + 5
        rig.order(starts_s)
        assert rig.screen.clock == "0:05"
        rig.wait(6)
        (start,) = rig.events(STARTED)
        assert start.mono_ms == pytest.approx((starts_s - 900) * 60_000, abs=120)
