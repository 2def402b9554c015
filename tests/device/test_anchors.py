"""What a table makes of the hub's clock in a run: anchors, reboots that become exact, a wall clock that jumps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from device.debounce import Button
from shared.core.events import EventType
from shared.core.model import Mark, State
from shared.core.result import Result
from shared.core.tournament import Tournament
from shared.wire import EarlierClock
from tests.device.rig import TORNEO, Rig, RigHub

START, FINISH = Button.START, Button.FINISH
ANCHORED, BOOTED = EventType.CLOCK_ANCHORED, EventType.BOOT_STARTED


@contextmanager
def table(folder: Path, hub: RigHub | None, **options: float | str) -> Iterator[Rig]:
    rig = Rig(folder, "adulto", hub=hub, **options)  # type: ignore[arg-type]
    rig.online = hub is not None
    yield rig
    rig.unplug()


def on_the_hub(rig: Rig) -> Result:
    """The only run of this table as the hub judges it."""
    tournament = Tournament(TORNEO)
    for log in [*rig.journal.earlier(), rig.events()]:
        for event in log:
            tournament.apply(event)
    (result,) = tournament.results()
    return result


def seal(rig: Rig) -> None:
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.state == State.SEALED


def test_a_boot_is_anchored_at_its_first_good_exchange_with_the_right_reading(tmp_path: Path) -> None:
    hub = RigHub()
    with table(tmp_path, hub) as rig:
        rig.wait(1)
        (anchor,) = rig.events(ANCHORED)
        assert anchor.mono_ms is not None
        assert anchor.data["base"] == "hub-1"
        assert anchor.data["hub_ms"] - anchor.mono_ms == pytest.approx(5_000_000, abs=anchor.data["error_ms"])
        assert anchor.data["error_ms"] <= 3
        rig.wait(10)
        assert rig.states[-1]["clock_error_ms"] <= 3


def test_an_anchor_is_renewed_when_its_error_has_halved_and_not_for_less(tmp_path: Path) -> None:
    hub = RigHub(way_s=0.08)
    with table(tmp_path, hub) as rig:
        rig.wait(1)
        hub.way_s = 0.06
        rig.wait(60)
        assert len(rig.events(ANCHORED)) == 1
        hub.way_s = 0.03
        rig.wait(60)
        errors = [e.data["error_ms"] for e in rig.events(ANCHORED)]
        assert len(errors) == 2
        assert errors[1] * 2 <= errors[0]


def test_an_anchor_is_renewed_every_ten_minutes_in_a_run_and_only_there(tmp_path: Path) -> None:
    with table(tmp_path, RigHub()) as rig:
        rig.wait(3600)
        assert len(rig.events(ANCHORED)) == 1
        rig.press(START)
        rig.wait(1900)
        assert len(rig.events(ANCHORED)) in (4, 5)


def test_a_hub_that_was_switched_on_again_is_anchored_to_again(tmp_path: Path) -> None:
    hub = RigHub()
    with table(tmp_path, hub) as rig:
        rig.wait(1)
        hub.base, hub.ahead_s = "hub-2", 17.0
        rig.wait(60)
        assert [e.data["base"] for e in rig.events(ANCHORED)] == ["hub-1", "hub-2"]


def test_a_program_that_was_killed_does_not_anchor_its_boot_again(tmp_path: Path) -> None:
    hub = RigHub()
    with table(tmp_path, hub) as rig:
        rig.wait(1)
    with table(tmp_path, hub, now=1010.0) as rig:
        rig.wait(1)
        assert len(rig.events(ANCHORED)) == 1


@pytest.mark.parametrize("speed", [1.0, 60.0])
def test_a_pulled_plug_in_a_run_is_bridged_exactly_when_both_boots_met_the_hub(
    tmp_path: Path, speed: float
) -> None:
    hub = RigHub()
    with table(tmp_path, hub, speed=speed) as rig:
        rig.wait(1)
        started = rig.now
        rig.press(START)
        rig.wait(200 / speed)
    again = rig.now + 30  # the plug is out for half a minute
    with table(tmp_path, hub, speed=speed, boot="boot-2", now=again, zero_s=again - 5) as rig:
        rig.wait(1)
        assert rig.screen.top_right != "RELOJ"
        rig.wait(300 / speed)
        finished = rig.now
        seal(rig)
        result = on_the_hub(rig)
        assert result.marks == ()
        assert result.raw_s is not None
        assert result.raw_s == pytest.approx((finished - started) * speed - 120, abs=1)
        assert "≥" not in rig.screen.clock


def test_the_clock_mark_is_shown_only_until_the_hub_is_heard(tmp_path: Path) -> None:
    hub = RigHub()
    with table(tmp_path, hub) as rig:
        rig.wait(1)
        rig.press(START)
        rig.wait(400)
    with table(tmp_path, None, boot="boot-2", now=2000.0, zero_s=1990.0) as rig:
        rig.wait(30)
        assert rig.screen.clock.startswith("≥ ")
        rig.hub, rig.online = hub, True
        rig.wait(1)
        assert "≥" not in rig.screen.clock
        assert rig.screen.top_right != "RELOJ"


def test_an_anchor_after_the_finish_makes_that_finish_exact(tmp_path: Path) -> None:
    hub = RigHub()
    with table(tmp_path, hub) as rig:
        rig.wait(1)
        started = rig.now
        rig.press(START)
        rig.wait(400)
    with table(tmp_path, None, boot="boot-2", now=2000.0, zero_s=1990.0) as rig:
        rig.wait(30)
        finished = rig.now
        seal(rig)
        assert Mark.INTERRUPTED in on_the_hub(rig).marks
        assert rig.screen.clock.startswith("≥ ")
        rig.hub, rig.online = hub, True
        rig.wait(2)
        result = on_the_hub(rig)
        assert result.marks == ()
        assert result.raw_s == int(finished - started - 120)
        assert not rig.screen.clock.startswith("≥ ")


def test_a_run_stays_interrupted_when_its_first_boot_never_met_the_hub(tmp_path: Path) -> None:
    with table(tmp_path, None) as rig:
        rig.press(START)
        rig.wait(400)
    with table(tmp_path, RigHub(), boot="boot-2", now=2000.0, zero_s=1990.0) as rig:
        rig.wait(30)
        assert rig.screen.top_right == "RELOJ"
        seal(rig)
        assert Mark.INTERRUPTED in on_the_hub(rig).marks


@pytest.mark.parametrize("jump_s", [9 * 3600, -40 * 60, 1, -20 * 365 * 86400])
def test_e03_a_wall_clock_that_jumps_in_a_run_changes_nothing(tmp_path: Path, jump_s: int) -> None:
    with table(tmp_path, RigHub()) as rig:
        rig.press(START)
        rig.wait(140)
        rig.wall_ahead_ms = jump_s * 1000
        rig.wait(20)
        shown = rig.screen.clock
        rig.wait(20)
        assert (shown, rig.screen.clock) == ("0:40", "1:00")
        seal(rig)
        assert [e.seq for e in rig.events()] == list(range(1, len(rig.events()) + 1))
        result = on_the_hub(rig)
        assert (result.raw_s, result.marks) == (60, ())


def dark_hall(folder: Path, earlier: tuple[EarlierClock, ...]) -> Rig:
    """A fuse blew in a run, two minutes in the dark: the hub's clock started anew too. Back at the table."""
    with table(folder, RigHub(ahead_s=5_000)) as rig:
        rig.wait(1)
        rig.press(START)
        rig.wait(600)
    hub = RigHub(ahead_s=40.0, base="hub-2")
    hub.earlier = earlier
    return Rig(folder, "adulto", hub=hub, boot="boot-2", now=rig.now + 120, zero_s=rig.now + 90)


def test_after_a_fuse_blew_for_hall_and_hub_the_run_is_exact_as_soon_as_the_hub_relates_its_boots(
    tmp_path: Path,
) -> None:
    rig = dark_hall(tmp_path, ())
    rig.wait(60)
    assert rig.screen.clock.startswith("≥ ")
    assert rig.hub is not None
    rig.hub.earlier = (EarlierClock("hub-0", 7, 0), EarlierClock("hub-1", 4_960_000_000, 40_000))
    rig.wait(60)
    assert not rig.screen.clock.startswith("≥ ")
    started = next(e for e in rig.journal.earlier()[0] if e.type == EventType.RUN_STARTED)
    seal(rig)
    result = on_the_hub(rig)
    assert started.mono_ms is not None
    assert Mark.INTERRUPTED not in result.marks
    finish = rig.events(EventType.RUN_FINISHED)[-1]
    assert finish.mono_ms is not None
    pressed_s = finish.mono_ms / 1000 + rig.zero_s
    assert result.raw_s == pytest.approx(pressed_s - started.mono_ms / 1000 - 120, abs=1)
    bases = [e.data["base"] for e in rig.events(ANCHORED) if e.boot == "boot-2"]
    assert sorted(bases) == ["hub-1", "hub-2"], "hub-0 bridges nothing here"
    rig.unplug()


def test_a_hub_that_cannot_relate_its_boots_leaves_the_run_interrupted(tmp_path: Path) -> None:
    rig = dark_hall(tmp_path, ())
    rig.wait(120)
    seal(rig)
    assert Mark.INTERRUPTED in on_the_hub(rig).marks
    rig.unplug()
