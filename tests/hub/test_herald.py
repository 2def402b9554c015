"""What tables and listeners are told and stays told: only what is new, and everything again when asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hub.arrivals import Incoming
from hub.herald import Herald
from hub.public_standings import public_standings
from hub.start_orders import order_start
from hub.store import PlanRow, Store
from hub.view import View
from shared.clock import HubClock
from shared.rulebook import shipped_rulebook
from shared.topics import Topics
from shared.wire import MAX_PAYLOAD, object_payload
from tests.builders import MINUTE, hub, log

RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
TOPICS = Topics()
CLOCK = HubClock(lambda: 1_000_000, "base")
ADULTO = TOPICS.standings("adulto")


class Heard:
    """A herald, and what it said since the last time somebody listened."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.view = View(RULEBOOK, hand=lambda: 0.0, wall=lambda: 0)
        self._said: dict[str, Mapping[str, Any]] = {}
        self.herald = Herald(store, self.view, RULEBOOK, CLOCK, TOPICS, self._said.__setitem__)

    def news(self) -> dict[str, Mapping[str, Any]]:
        self._said.clear()
        self.herald.look()
        return dict(self._said)


@contextmanager
def a_herald(folder: Path) -> Iterator[Heard]:
    store = Store.open(folder / "hub.sqlite3", lambda: 0)
    store.replace_plan([PlanRow("1", 1, 7, "e1", "adulto", "Ana G.")])
    store.set_seat(7, "t01")
    yield Heard(store)
    store.close()


def test_what_is_new_is_said_once_and_everything_stays_said(tmp_path: Path) -> None:
    with a_herald(tmp_path) as heard:
        first = heard.news()
        assert set(first) == {TOPICS.down_plan("t01"), *map(TOPICS.standings, RULEBOOK.categories)}
        assert heard.news() == {}
        order_start(heard.store, CLOCK, "1", 30)
        assert list(heard.news()) == [TOPICS.start]
        heard.store.set_seat(7, "t02")
        assert list(heard.news()) == [TOPICS.down_plan("t02")]
        assert {*first, TOPICS.start, TOPICS.down_plan("t02")} == set(heard.herald.said())


def test_a_finish_is_told_to_whoever_listens_with_the_public_name_only(tmp_path: Path) -> None:
    with a_herald(tmp_path) as heard:
        heard.news()
        run = log().start(table=7).finish(50 * MINUTE).accept(51 * MINUTE).events
        accepted = heard.store.append_batch([Incoming("puzzle/1/t01/up/event", "t01", run)]).accepted
        heard.view.apply(accepted)
        (line,) = heard.news()[ADULTO]["standings"]
        assert line == {
            "rank": 1,
            "name": "Ana G.",
            "table": 7,
            "status": "FINISHED",
            "official_s": 2880,
            "official": "48:00",
            "pieces": None,
            "marks": [],
        }


def test_a_ruling_is_told_to_the_table_that_shows_the_run(tmp_path: Path) -> None:
    with a_herald(tmp_path) as heard:
        heard.view.apply([*log().start(table=7).events, *hub().disqualify().events])
        heard.view.hear("t01", "state", {"run": "r1", "boot": "b1", "mono_ms": 1, "unsent": 0}, 0.0)
        told = heard.news()[TOPICS.down_rulings("t01")]
        assert [ruling["type"] for ruling in told["rulings"]] == ["disqualified"]


def test_practice_is_told_to_nobody() -> None:
    view = View(RULEBOOK, hand=lambda: 0.0, wall=lambda: 0)
    view.apply(log(entrant=None).start(practice=True).finish(50 * MINUTE).accept(51 * MINUTE).events)
    assert public_standings(view.standings())["adulto"]["standings"] == []


def test_very_long_standings_are_cut_to_what_a_message_holds_and_say_so() -> None:
    view = View(RULEBOOK, hand=lambda: 0.0, wall=lambda: 0)
    for n in range(700):
        table = log(run=f"r{n}", name=f"l{n}", device=f"t{n}", boot=f"b{n}", entrant=f"e{n:040}")
        view.apply(table.start().finish(50 * MINUTE + n * 1000).accept(61 * MINUTE).events)
    told = public_standings(view.standings())["adulto"]
    assert len(object_payload(told)) <= MAX_PAYLOAD
    assert told["left_off"] + len(told["standings"]) == 700
    assert [line["rank"] for line in told["standings"][:2]] == [1, 2]
