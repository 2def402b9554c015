"""The live view: one consistent snapshot for each asker, and a call to every listener at each change."""

from __future__ import annotations

from typing import Any

from hub.projection import Names
from hub.view import View
from hub.web.api import Standings, Table
from shared.core.events import Event, EventType
from shared.rulebook import shipped_rulebook


def a_view() -> View:
    return View(shipped_rulebook("torneo-puzzles-2026"), hand=lambda: 50.0, wall=lambda: 1000)


def start(table: int) -> Event:
    data: dict[str, Any] = {"entrant": f"e{table}", "category": "adulto", "table": table}
    return Event("t1", f"l{table}", 1, EventType.RUN_STARTED, "b", 0, None, f"r{table}", data)


def test_each_change_wakes_the_listeners_after_the_revision_has_grown() -> None:
    view = a_view()
    seen: list[int] = []
    end = view.subscribe(lambda: seen.append(view.revision))
    view.apply([start(1), start(2)])
    view.hear("t1", "state", {}, 49.0)
    view.plan(Names({}), {1: "t1"})
    end()
    end()
    view.apply([start(3)])
    assert seen == [1, 2, 3]


def test_what_it_answers_has_the_shape_the_api_promises() -> None:
    view = a_view()
    view.plan(Names({("adulto", "e1"): "Ana G."}), {1: "t1"})
    view.apply([start(1)])
    view.hear("t1", "state", {"direction": "up", "shown_ms": 5, "running": True}, 49.0)
    standings = Standings.model_validate(view.standings())
    tables = [Table.model_validate(t) for t in view.tables()]
    assert [c.id for c in standings.categories][:2] == ["infantil-5-7", "infantil-9-10"]
    assert tables[0].clock is not None
    assert tables[0].clock.age_hand_s == 1.0


def test_the_standings_are_worked_out_once_for_a_revision() -> None:
    view = a_view()
    view.apply([start(1)])
    assert view.standings() is view.standings()
