"""Rulings that reach the table: it folds them over its run and behaves as sealed while they settle it."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.debounce import Button
from device.from_hub import PlanReceived, RulingsReceived
from device.plan_store import PlanStore
from hub.planning import Key, plan_for
from hub.ruling_news import MOST_RULINGS, for_table
from hub.store import PlanRow
from shared.core.events import EventType
from shared.rulebook import shipped_rulebook
from shared.wire import RunRulings
from tests.builders import HubLog, hub
from tests.device.rig import Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
RUN = "boot-1-run-1"
PREVIEW_S, LIMIT_S = 120, 7200
RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
ROWS = [PlanRow("1", 1, 7, "e1", "adulto", "Ana G.")]


def tell(rig: Rig, *rulings: HubLog, run: str = RUN) -> None:
    """The hub tells the table what is in force on a run."""
    told = [event for log in rulings for event in log.events]
    rig.inbox.append(RulingsReceived(RunRulings(run, tuple(told))))
    rig.step()


def running(folder: Path) -> Rig:
    rig = Rig(folder, "adulto")
    rig.press(START)
    rig.wait(PREVIEW_S + 60)
    return rig


def shown(rig: Rig) -> str:
    screen = rig.screen
    return " ".join(filter(None, [screen.top, screen.clock, *screen.lines, screen.bottom]))


@pytest.mark.parametrize(
    ("rulings", "word"),
    [
        (hub().disqualify(RUN), "descalificado"),
        (hub().unfinished(RUN), "no terminó"),
        (hub().void(RUN), "prueba anulada"),
        (hub().time(1500, RUN), "25:00"),
    ],
    ids=["disqualified", "did_not_finish", "voided", "time_set"],
)
def test_a_run_that_a_ruling_ended_is_over_at_the_table_and_goes_on_when_it_is_revoked(
    tmp_path: Path, rulings: HubLog, word: str
) -> None:
    rig = running(tmp_path)
    before = rig.screen.clock
    tell(rig, rulings)
    assert rig.state == "sealed"
    assert word in shown(rig)
    assert rig.states[-1]["state"] == "sealed"
    rig.press(FINISH)
    rig.press(PAUSE)
    assert [e.data["reason"] for e in rig.events(EventType.PRESS_REFUSED)] == ["sealed", "sealed"]
    tell(rig)
    assert rig.state == "running"
    rig.wait(60)
    assert before == "1:00"
    assert rig.screen.clock == "2:01"
    rig.press(FINISH)
    assert rig.state == "claimed"


def test_a_count_on_the_judges_phone_ends_the_run_at_the_table(tmp_path: Path) -> None:
    rig = running(tmp_path)
    rig.wait(LIMIT_S)
    assert rig.state == "time_up"
    rig.press(ASSIST)
    tell(rig, hub().pieces(12, RUN))
    assert rig.state == "sealed"
    assert rig.screen.clock == "2:02:00"
    tell(rig)
    assert rig.state == "time_up"


def test_a_count_that_the_law_does_not_take_changes_nothing(tmp_path: Path) -> None:
    rig = running(tmp_path)
    tell(rig, hub().pieces(12, RUN))
    assert rig.state == "running"


def test_time_granted_moves_the_clock_and_the_limit_on_the_display(tmp_path: Path) -> None:
    rig = running(tmp_path)
    rig.wait(LIMIT_S)
    assert rig.state == "time_up"
    tell(rig, hub().grant(300, RUN))
    assert rig.state == "running"
    assert rig.screen.clock == "1:56:00"
    rig.wait(239)
    assert rig.state == "running"
    rig.wait(2)
    assert rig.state == "time_up"


def test_a_press_made_before_the_table_heard_of_the_ruling_counts_as_it_was_made(tmp_path: Path) -> None:
    rig = running(tmp_path)
    rig.down(FINISH)
    pressed_s = rig.now
    rig.now += 0.005
    rig.inbox.append(RulingsReceived(RunRulings(RUN, tuple(hub().disqualify(RUN).events))))
    rig.wait(0.2)
    rig.up(FINISH)
    rig.wait(0.2)
    (finish,) = rig.events(EventType.RUN_FINISHED)
    assert finish.mono_ms == round(pressed_s * 1000)
    assert rig.state == "sealed"
    tell(rig)
    assert rig.state == "claimed"


def test_a_hold_that_began_before_the_ruling_undoes_nothing_after_it(tmp_path: Path) -> None:
    rig = running(tmp_path)
    rig.press(PAUSE)
    rig.down(START)
    rig.wait(0.5)
    tell(rig, hub().disqualify(RUN))
    rig.wait(3)
    rig.up(START)
    rig.wait(0.1)
    assert not rig.events(EventType.ACT_UNDONE)
    tell(rig)
    assert rig.state == "paused"


def test_after_a_ruling_start_leads_to_the_next_run(tmp_path: Path) -> None:
    rig = running(tmp_path)
    tell(rig, hub().disqualify(RUN))
    rig.wait(1)
    rig.press(START)
    assert rig.state == "ready"
    rig.press(START)
    assert rig.state == "preview"
    assert len({e.run for e in rig.events(EventType.RUN_STARTED)}) == 2


def test_rulings_outlive_a_pulled_plug_without_the_hub(tmp_path: Path) -> None:
    rig = running(tmp_path)
    tell(rig, hub().disqualify(RUN))
    rig.unplug()
    again = Rig(tmp_path, "adulto", life="-b", now=rig.now + 5, online=False)
    assert again.state == "sealed"
    assert "descalificado" in shown(again)


@pytest.mark.parametrize("kept", [b"", b"{", b'{"run": 3}', b'{"run": "r", "rulings": [{}]}'])
def test_kept_rulings_that_cannot_be_read_are_asked_of_the_hub_again(tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "rulings.json").write_bytes(kept)
    assert PlanStore(tmp_path).rulings() is None
    rig = running(tmp_path)
    tell(rig, hub().disqualify(RUN))
    assert rig.state == "sealed"


def test_rulings_are_used_when_the_disk_does_not_take_them(tmp_path: Path) -> None:
    rig = running(tmp_path)
    (tmp_path / "rulings.json").mkdir()
    tell(rig, hub().disqualify(RUN))
    assert rig.state == "sealed"


def test_a03_with_the_only_run_used_up_start_is_refused_until_it_is_voided_and_then_runs_under_a_new_id(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    rig.inbox.append(PlanReceived(plan_for(7, ROWS, RULEBOOK)))
    rig.wait(1)
    rig.press(START)
    rig.wait(PREVIEW_S + 60)
    rig.press(FINISH)
    rig.wait(1)
    rig.press(FINISH)
    rig.wait(1)
    rig.press(START)
    assert rig.state == "sealed"
    assert rig.screen.bottom == "nadie más en el plan"
    assert rig.events(EventType.PRESS_REFUSED)[-1].data["reason"] == "plan_done"
    rig.inbox.append(PlanReceived(plan_for(7, ROWS, RULEBOOK, voided=[RUN])))
    rig.wait(4)
    rig.press(START)
    assert "Ana G." in rig.screen.lines
    rig.press(START)
    assert rig.state == "preview"
    first, second = rig.events(EventType.RUN_STARTED)
    assert (first.data["entrant"], second.data["entrant"]) == ("e1", "e1")
    assert first.run != second.run


def test_a_table_is_told_what_changes_its_run_and_only_a_hint_of_why() -> None:
    rulings = hub().penalty(10, RUN).rule(EventType.INCIDENT_NOTED, RUN, text="a long story", state="open")
    rulings.rule(EventType.DISQUALIFIED, RUN, reason="why " * 100)
    told = for_table(RUN, rulings.events)
    assert [ruling.type for ruling in told.rulings] == [EventType.PENALTY_GIVEN, EventType.DISQUALIFIED]
    assert len(told.rulings[1].data["reason"]) == 80


def test_a_run_of_very_many_rulings_is_settled_at_the_hub_only() -> None:
    rulings = hub()
    for _ in range(MOST_RULINGS + 1):
        rulings.penalty(1, RUN)
    assert not for_table(RUN, rulings.events).rulings


def test_a_run_whose_ruling_is_revoked_comes_back_unless_somebody_else_was_started(tmp_path: Path) -> None:
    rig = running(tmp_path)
    tell(rig, hub().disqualify(RUN))
    rig.wait(1)
    rig.press(START)
    assert rig.state == "ready"
    rig.wait(56)
    tell(rig)
    assert (rig.state, rig.screen.clock) == ("running", "1:58")
    tell(rig, hub().disqualify(RUN))
    rig.wait(1)
    rig.press(START)
    rig.wait(1)
    rig.press(START)
    assert rig.state == "preview"
    tell(rig)
    assert rig.state == "preview"


def test_a03_whoever_ran_under_another_log_is_not_offered_again(tmp_path: Path) -> None:
    ran: dict[Key, dict[str, str]] = {("1", "adulto", "e1"): {"r-old": "wiped-log"}}
    rig = Rig(tmp_path)
    rig.inbox.append(PlanReceived(plan_for(7, ROWS, RULEBOOK, begun=ran, log="t07-boot-1-1")))
    rig.wait(1)
    rig.press(START)
    assert rig.state == "ready"
    assert rig.events(EventType.PRESS_REFUSED)[-1].data["reason"] == "nothing_planned"


def test_what_the_table_knows_of_its_own_runs_counts_before_what_the_hub_says(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.inbox.append(PlanReceived(plan_for(7, ROWS, RULEBOOK)))
    rig.wait(1)
    rig.press(START)
    rig.press(START, hold=2.2)
    begun: dict[Key, dict[str, str]] = {("1", "adulto", "e1"): {RUN: "t07-boot-1-1"}}
    rig.inbox.append(PlanReceived(plan_for(7, ROWS, RULEBOOK, begun=begun, log=None)))
    rig.wait(1)
    assert "Ana G." in rig.screen.lines
