"""Ordering, cancelling and closing a common start, by the command and by the hub; seats with two devices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from hub.cli import main
from hub.planning import plans_for, rivals_of
from hub.start_orders import CannotOrder, cancel_start, close_start, kept_order, order_start, told_order
from hub.store import PlanRow, Store
from shared.clock import HubClock
from shared.plan import plan_from_json
from shared.rulebook import shipped_rulebook
from shared.wire import StartState

RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
ROWS = [
    PlanRow(str(heat), heat, table, f"e{heat}{table}", "adulto", "Ana") for heat in (1, 2) for table in (1, 2)
]


class Clock:
    """The hub's clock, moved by hand."""

    def __init__(self) -> None:
        self.ms = 1_000_000
        self.base = "boot-1"

    @property
    def hub(self) -> HubClock:
        return HubClock(lambda: self.ms * 1000, self.base)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "hub.sqlite3", lambda: 1)
    store.replace_plan(ROWS)
    yield store
    store.close()


def test_an_order_names_the_instant_on_the_hubs_clock_and_is_kept(store: Store, clock: Clock) -> None:
    order = order_start(store, clock.hub, "1", 30)
    assert (order.heat, order.at_ms, order.base, order.state) == (
        "1",
        1_030_000,
        "boot-1",
        StartState.ORDERED,
    )
    assert kept_order(store) == told_order(store, clock.hub) == order


@pytest.mark.parametrize(("heat", "in_s", "why"), [("7", 30, "planned are 1, 2"), ("1", 2, "5 seconds")])
def test_an_order_that_cannot_be_says_what_to_do(
    store: Store, clock: Clock, heat: str, in_s: float, why: str
) -> None:
    with pytest.raises(CannotOrder, match=why):
        order_start(store, clock.hub, heat, in_s)
    assert kept_order(store) is None


def test_one_start_at_a_time_and_the_next_heat_after_it(store: Store, clock: Clock) -> None:
    first = order_start(store, clock.hub, "1", 30)
    with pytest.raises(CannotOrder, match="cancel that first"):
        order_start(store, clock.hub, "2", 30)
    clock.ms += 31_000
    second = order_start(store, clock.hub, "2", 30)
    assert second.id != first.id


def test_a_start_is_cancelled_before_it_and_closed_after_it(store: Store, clock: Clock) -> None:
    with pytest.raises(CannotOrder, match="no start"):
        cancel_start(store, clock.hub)
    order_start(store, clock.hub, "1", 30)
    with pytest.raises(CannotOrder, match="cancel it"):
        close_start(store, clock.hub)
    assert cancel_start(store, clock.hub).state is StartState.CANCELLED
    with pytest.raises(CannotOrder, match="no start"):
        cancel_start(store, clock.hub)
    order_start(store, clock.hub, "1", 30)
    clock.ms += 31_000
    with pytest.raises(CannotOrder, match="has started"):
        cancel_start(store, clock.hub)
    assert close_start(store, clock.hub).state is StartState.CLOSED


def test_an_order_of_an_earlier_boot_of_the_machine_is_told_as_closed(store: Store, clock: Clock) -> None:
    order_start(store, clock.hub, "1", 30)
    clock.base = "boot-2"
    told = told_order(store, clock.hub)
    assert told is not None
    assert told.state is StartState.CLOSED
    assert order_start(store, clock.hub, "1", 30).state is StartState.ORDERED


def test_what_stands_in_the_database_of_another_version_is_no_order(store: Store, clock: Clock) -> None:
    store.keep_note("start-order", '{"id": 7}')
    assert told_order(store, clock.hub) is None


# Commands -----------------------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "hub.toml"
    path.write_text(f'rulebook = "torneo-puzzles-2026"\ndata_dir = "{tmp_path}"\n')
    return path


def said(config: Path, *words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(main, [*words, "--config", str(config)])
    return answer.exit_code, answer.output


def test_the_command_orders_cancels_and_tells_what_is_wrong(store: Store, config: Path) -> None:
    assert said(config, "start", "1", "--in", "1m") == (0, "heat 1 starts in 60 s\n")
    assert kept_order(store) is not None
    assert said(config, "start", "2")[0] == 1
    assert 'is of heat "1", not of "2"' in said(config, "start", "2", "--cancel")[1]
    assert said(config, "start", "1", "--cancel") == (0, "heat 1 does not start\n")
    assert said(config, "start", "--cancel")[0] == 1
    assert said(config, "start", "1", "--cancel", "--close")[0] == 2
    assert "no start is ordered" in said(config, "start", "--close")[1]
    assert said(config, "start")[0] == 2
    assert said(config, "start", "1", "--in", "soon")[0] == 2


def test_the_command_without_a_database_says_so(tmp_path: Path, config: Path) -> None:
    code, words = said(config, "start", "1")
    assert (code, "no hub has run" in words) == (1, True)


def test_a_device_is_put_on_a_table_by_command(store: Store, config: Path) -> None:
    store.set_seat(7, "t07-old")
    assert said(config, "seat", "7", "t07-new") == (0, "t07-new stands on table 7, not t07-old\n")
    assert store.seats() == {7: "t07-new"}
    assert said(config, "seat", "7", "T 07")[0] == 1


# Seats --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "rivals"),
    [
        ({}, {}),
        ({"a": 1, "b": 2}, {}),
        ({"a": 1, "c": 1}, {1: {"a", "c"}}),
        ({"a": 1, "c": 1, "d": 1}, {1: {"a", "c", "d"}}),
        ({"c": 1}, {}),
        ({"a": 1, "b": 1}, {}),
        ({"a": 1, "c": 9}, {}),
    ],
    ids=["nobody", "each its own", "two", "three", "holder away", "seated elsewhere", "a free table"],
)
def test_a10_two_devices_on_one_seat_are_those_online(
    claims: dict[str, int], rivals: dict[int, set[str]]
) -> None:
    assert rivals_of({1: "a", 2: "b"}, claims) == rivals


def test_a10_neither_of_two_devices_on_a_seat_is_planned_and_each_hears_of_the_other() -> None:
    plans = plans_for({1: "a", 2: "b"}, ROWS, RULEBOOK, "2026-09-26", {"a": 1, "b": 2, "c": 1})
    told = {device: plan_from_json(plan) for device, plan in plans.items()}
    assert (told["a"].runs, told["a"].conflict) == ((), ("c",))
    assert (told["c"].runs, told["c"].conflict, told["c"].table) == ((), ("a",), 1)
    assert [r.entrant for r in told["b"].runs] == ["e12", "e22"]
    assert told["b"].day == "2026-09-26"


def test_a_device_without_a_seat_is_told_that_it_has_no_plan() -> None:
    plans = plans_for({1: "a"}, ROWS, RULEBOOK, None, {"x": 1})
    assert plan_from_json(plans["x"]).withdrawn
    assert not plan_from_json(plans["a"]).withdrawn


def test_without_a_plan_nobody_is_told_anything() -> None:
    assert plans_for({1: "a"}, [], RULEBOOK, None, {"a": 1, "c": 1}) == {}
