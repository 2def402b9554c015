"""What tables are told of rulings: those on the run they show, and which runs can be run again."""

from __future__ import annotations

import pytest

from hub.planning import plan_for, plans_for
from hub.projection import Projection
from hub.store import PlanRow
from shared.core.events import Event
from shared.rulebook import shipped_rulebook
from tests.builders import MINUTE, HubLog, TableLog, hub, log

RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
ROWS = [PlanRow("1", 1, 7, "e1", "adulto", "Ana G.")]


def seen(*logs: TableLog | HubLog, shows: str | None = "r1") -> Projection:
    """A hub that has these logs and hears what a table shows."""
    projection = Projection(RULEBOOK)
    for one in logs:
        for event in one.events:
            projection.apply(event)
    projection.hear("t01", "state", {"run": shows, "boot": "b1", "mono_ms": 1000, "unsent": 0}, 1.0, 1)
    return projection


def kinds(rulings: tuple[Event, ...]) -> list[str]:
    return [str(ruling.type) for ruling in rulings]


def test_a_table_is_told_the_rulings_in_force_on_its_run_and_its_heat() -> None:
    rulings = (
        hub().penalty(30).disqualify().revoke(2).grant(60, heat="h1").grant(60, heat="h2").penalty(9, "r2")
    )
    told = seen(log().start(heat="h1"), rulings).told_rulings()["t01"]
    assert (told.run, kinds(told.rulings)) == ("r1", ["penalty_given", "time_granted"])


@pytest.mark.parametrize("shows", [None, "a run nobody heard of"])
def test_a_table_without_a_known_run_is_told_nothing(shows: str | None) -> None:
    assert seen(log().start(), hub().disqualify(), shows=shows).told_rulings() == {}


def test_a_run_without_rulings_is_told_as_such_so_that_a_revoked_one_goes() -> None:
    assert seen(log().start(), hub().disqualify().revoke(1)).told_rulings()["t01"].rulings == ()


def test_a_voided_run_stands_in_the_plan_of_its_table_until_that_is_revoked() -> None:
    voided = seen(log().start(table=7), hub().void()).voided()
    assert voided == {7: ("r1",)}
    plans = plans_for({7: "t01"}, ROWS, RULEBOOK, voided=voided)
    assert plans["t01"]["voided"] == ["r1"]
    assert plans["t01"]["revision"] != plan_for(7, ROWS, RULEBOOK)["revision"]
    assert seen(log().start(table=7), hub().void().revoke(1)).voided() == {}


def test_a_run_that_was_ruled_over_is_not_offered_to_a_spare() -> None:
    spare = {1: "t99"}
    assert seen(log().start()).resumes(spare)[1].run == "r1"
    assert seen(log().start(), hub().void()).resumes(spare) == {}


def test_a_plan_tells_of_runs_that_the_tables_own_log_cannot_know() -> None:
    """A03: a card that was wiped, or an entrant who was moved, is not offered a second run."""
    finished = log(name="old-log").start(heat="1", table=7).finish(50 * MINUTE).accept(51 * MINUTE)
    hub_view = seen(finished)
    hub_view.hear("t01", "status", {"online": True, "session": 1, "table": 7, "log": "new-log"}, 1.0, 1)
    plans = plans_for({7: "t01"}, ROWS, RULEBOOK, begun=hub_view.begun(), logs=hub_view.logs())
    (begun,) = plans["t01"]["begun"]
    assert begun == {"run": "r1", "heat": "1", "category": "adulto", "entrant": "e1"}
    assert plan_for(7, ROWS, RULEBOOK, begun=hub_view.begun(), log="old-log")["begun"] == []


def test_runs_that_were_undone_or_voided_stand_in_no_plan_as_begun() -> None:
    assert seen(log().start(heat="1").undo(1000)).begun() == {}
    assert seen(log().start(heat="1"), hub().void()).begun() == {}
    assert seen(log(entrant=None).start(heat="1")).begun() == {}


def test_a_run_that_goes_on_at_a_spare_is_not_told_as_begun_elsewhere() -> None:
    view = seen(log().start(heat="1", table=7))
    resume = view.resumes({7: "t99"})[7]
    assert plan_for(7, ROWS, RULEBOOK, resume=resume, begun=view.begun())["begun"] == []


def test_a_table_that_asks_for_the_next_entrant_still_hears_of_the_run_it_left() -> None:
    view = seen(log().start(), hub().disqualify())
    view.hear("t01", "state", {"run": None, "boot": "b1", "mono_ms": 2000, "unsent": 0}, 2.0, 2)
    assert kinds(view.told_rulings()["t01"].rulings) == ["disqualified"]
