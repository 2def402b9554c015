"""A spare on the seat of a broken timer goes on with its run, as the hub and the broken one's log know it."""

from __future__ import annotations

from pathlib import Path

from device.debounce import Button
from device.from_hub import PlanReceived
from hub.planning import plan_for
from hub.projection import Projection, names_from
from hub.store import PlanRow
from shared.core.events import Event, EventType
from shared.core.model import State
from shared.rulebook import shipped_rulebook
from tests.device.rig import Rig, RigHub

START, PAUSE, FINISH = Button.START, Button.PAUSE, Button.FINISH
RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
ROWS = [PlanRow("1", 1, 7, "e1", "adulto", "Ana G."), PlanRow("2", 2, 7, "e2", "adulto", "Luis P.")]


class Spare(Rig):
    """Another device: its own folder, boot and clock."""

    def __init__(self, folder: Path, hub: RigHub | None, now: float, on_since: float | None = None) -> None:
        folder.mkdir(exist_ok=True)
        zero_s = now - 30 if on_since is None else on_since
        super().__init__(
            folder, "adulto", hub=hub, boot="spare", now=now, zero_s=zero_s, online=hub is not None
        )
        self.zero_s = zero_s


def projection_of(*logs: list[Event]) -> Projection:
    projection = Projection(RULEBOOK)
    projection.names = names_from((r.category, r.entrant, r.public_name, "") for r in ROWS)
    for log in logs:
        for event in log:
            projection.apply(event)
    return projection


def plan_of(broken: Rig, device: str = "spare") -> PlanReceived:
    """What the hub tells the device that has the seat now."""
    resume = projection_of(broken.events()).resumes({7: device}).get(7)
    return PlanReceived(plan_for(7, ROWS, RULEBOOK, resume=resume))


def broken_timer(folder: Path, hub: RigHub | None) -> Rig:
    """It started a run, paused once, and dies while the run goes on."""
    folder.mkdir(exist_ok=True)
    rig = Rig(folder, "adulto", hub=hub, online=hub is not None)
    rig.inbox.append(PlanReceived(plan_for(7, ROWS, RULEBOOK)))
    rig.wait(1)
    rig.press(START)
    rig.wait(300)
    rig.press(PAUSE)
    rig.wait(30)
    rig.press(PAUSE)
    rig.wait(60)
    return rig


def test_a_spare_offers_the_run_and_goes_on_with_its_exact_clock(tmp_path: Path) -> None:
    hub = RigHub()
    broken = broken_timer(tmp_path / "old", hub)
    (start,) = broken.events(EventType.RUN_STARTED)
    assert start.mono_ms is not None
    spare = Spare(tmp_path / "spare", hub, broken.now + 100)
    spare.inbox.append(plan_of(broken))
    spare.wait(2)
    assert "Ana G." in spare.screen.lines
    assert spare.screen.bottom == "START sigue con la prueba"
    spare.press(START)
    assert spare.state == State.RUNNING
    shown_ms = spare.now * 1000 - start.mono_ms - 120_000 - 30_530
    minutes, seconds = spare.screen.clock.split(":")
    assert abs(int(minutes) * 60 + int(seconds) - shown_ms / 1000) < 2
    spare.press(FINISH)
    spare.press(FINISH)
    assert spare.state == State.SEALED
    results = projection_of(broken.events(), spare.events()).tournament.results()
    (result,) = results
    assert (result.entrant, result.marks) == ("e1", ())
    assert spare.screen.clock in (f"{(result.official_s or 0) // 60}:{(result.official_s or 0) % 60:02}",)
    spare.press(START)
    assert "Luis P." in spare.screen.lines
    spare.unplug()
    broken.unplug()


def test_a_spare_that_is_killed_remembers_the_run_it_took_over(tmp_path: Path) -> None:
    hub = RigHub()
    broken = broken_timer(tmp_path / "old", hub)
    spare = Spare(tmp_path / "spare", hub, broken.now + 100)
    spare.inbox.append(plan_of(broken))
    spare.wait(2)
    spare.press(START)
    spare.wait(5)
    shown = spare.screen.clock
    spare.unplug()
    again = Spare(tmp_path / "spare", hub, spare.now, spare.zero_s)
    assert again.state == State.RUNNING
    assert again.screen.clock == shown
    again.unplug()
    broken.unplug()


def test_without_a_clock_in_common_the_spare_shows_a_lower_bound(tmp_path: Path) -> None:
    broken = broken_timer(tmp_path / "old", None)
    spare = Spare(tmp_path / "spare", RigHub(), broken.now + 100)
    spare.inbox.append(plan_of(broken))
    spare.wait(2)
    spare.press(START)
    assert spare.screen.clock.startswith("≥ ")
    spare.unplug()
    broken.unplug()


def test_nobody_is_offered_a_run_whose_own_timer_has_the_seat_or_is_online(tmp_path: Path) -> None:
    broken = broken_timer(tmp_path / "old", RigHub())
    projection = projection_of(broken.events())
    assert projection.resumes({7: "t07"}) == {}
    assert set(projection.resumes({7: "spare"})) == {7}
    projection.hear("t07", "status", {"online": True, "session": 1, "table": 7}, 1.0, 1)
    assert projection.resumes({7: "spare"}) == {}
    broken.unplug()


def test_a_run_that_is_over_is_not_offered(tmp_path: Path) -> None:
    broken = broken_timer(tmp_path / "old", RigHub())
    broken.press(FINISH)
    broken.press(FINISH)
    assert projection_of(broken.events()).resumes({7: "spare"}) == {}
    broken.unplug()


def test_nonsense_in_the_place_of_a_run_is_refused(tmp_path: Path) -> None:
    broken = broken_timer(tmp_path / "old", RigHub())
    told = dict(plan_of(broken).plan)
    told["resume"] = {**told["resume"], "events": [{"v": 1, "type": "run_started"}]}
    spare = Spare(tmp_path / "spare", RigHub(), broken.now + 100)
    spare.inbox.append(PlanReceived(told))
    spare.wait(2)
    spare.press(START)
    assert spare.state == State.READY
    assert spare.events(EventType.RUN_TAKEN_OVER) == []
    spare.unplug()
    broken.unplug()
