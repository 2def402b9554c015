"""The small parts of a table: what it keeps, offers, counts and tells."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.alive import Alive
from device.choices import Choices
from device.config import load_settings
from device.count import Count
from device.debounce import Button
from device.plan_store import PlanStore
from device.refusals import MOST_A_MINUTE, RefusalBudget
from shared.checked_toml import BadFile
from shared.core.rules import CategoryRules
from shared.plan import BadPlan, Plan, PlannedRun, plan_from_json, rules_from_json, rules_to_json
from tests.device.rig import CASTRILLO, TORNEO


def plan(*entrants: str, revision: int = 1) -> Plan:
    runs = tuple(
        PlannedRun(order=n, heat="1", entrant=e, public_name=e.upper(), category="adulto")
        for n, e in enumerate(entrants, start=1)
    )
    return Plan(revision=revision, table=7, categories={"adulto": TORNEO["adulto"]}, runs=runs)


@pytest.mark.parametrize("rules", [*TORNEO.values(), *CASTRILLO.values()], ids=lambda r: r.id)
def test_rules_survive_the_wire_with_the_same_digest(rules: CategoryRules) -> None:
    copy = rules_from_json(json.loads(json.dumps(rules_to_json(rules))))
    assert copy == rules
    assert copy.digest() == rules.digest()


def test_the_newest_plan_is_kept_over_a_restart(tmp_path: Path) -> None:
    PlanStore(tmp_path).keep_plan(plan("a"))
    PlanStore(tmp_path).keep_plan(plan("a", "b", revision=2))
    assert PlanStore(tmp_path).plan() == plan("a", "b", revision=2)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"revision": 1}', b"\xff\xfe"])
def test_a_damaged_plan_is_no_plan(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(content)
    assert PlanStore(tmp_path).plan() is None


def test_a_run_of_a_category_that_the_plan_does_not_describe_is_refused() -> None:
    bad = plan("a").as_json() | {"categories": {}}
    with pytest.raises(BadPlan, match="adulto"):
        plan_from_json(bad)


def test_the_rules_of_a_started_run_are_kept_by_their_digest(tmp_path: Path) -> None:
    digest = PlanStore(tmp_path).keep_rules(TORNEO["adulto"])
    assert PlanStore(tmp_path).rules(digest) == TORNEO["adulto"]
    assert PlanStore(tmp_path).rules("0" * 64) is None


def test_a_new_plan_keeps_the_selection_on_the_same_run() -> None:
    choices = Choices((), plan("a", "b", "c"), frozenset())
    choices.choose(2)
    choices.update(plan("x", "a", "c", revision=2), frozenset())
    selected = choices.selected()
    assert selected is not None
    assert selected.entrant == "c"
    choices.choose(1)
    choices.update(plan("x", "a", "c", revision=3), frozenset({("1", "adulto", "x")}))
    selected = choices.selected()
    assert selected is not None
    assert selected.entrant == "a"


def test_without_a_plan_the_categories_of_the_settings_are_offered() -> None:
    choices = Choices((TORNEO["adulto"], TORNEO["grupal-adulto"]), None, frozenset())
    choices.choose(-1)
    selected = choices.selected()
    assert selected is not None
    assert (selected.rules.id, selected.entrant, selected.heat) == ("grupal-adulto", None, None)
    choices.update(None, frozenset())
    assert choices.selected() == selected


def test_a_plan_that_is_done_offers_nobody() -> None:
    choices = Choices((TORNEO["adulto"],), plan("a"), frozenset({("1", "adulto", "a")}))
    choices.choose(1)
    assert choices.selected() is None


@given(st.lists(st.tuples(st.sampled_from([Button.ASSIST, Button.PAUSE]), st.floats(0, 10)), max_size=20))
def test_a_count_never_leaves_the_puzzle(presses: list[tuple[Button, float]]) -> None:
    count, now = Count(200), 0.0
    for button, hold in presses:
        count.press(button, now)
        now += hold
        count.tick(now)
        count.let_go(button)
        assert 0 <= count.number <= 200


def test_refusals_beyond_the_budget_are_counted_and_told_with_the_next() -> None:
    budget = RefusalBudget()
    assert [budget.admit(n * 0.1) for n in range(MOST_A_MINUTE)] == [1] * MOST_A_MINUTE
    assert [budget.admit(10.0), budget.admit(11.0)] == [None, None]
    assert budget.admit(60.0) == 3


def test_the_alive_counter_knows_its_boot_and_survives_a_torn_write(tmp_path: Path) -> None:
    path = tmp_path / "alive"
    alive = Alive(path)
    assert alive.read("b1") is None
    alive.note("b1", 10_000)
    alive.note("b1", 20_000)
    assert alive.read("b1") == 20_000
    assert alive.read("b2") is None
    raw = bytearray(path.read_bytes())
    raw[140] ^= 0xFF  # inside the newer slot
    path.write_bytes(bytes(raw))
    assert alive.read("b1") == 10_000
    path.write_bytes(os.urandom(256))
    assert alive.read("b1") is None


SETTINGS = 'device = "t07-k3f9"\ntable = 7\n'


def settings_file(folder: Path, text: str) -> Path:
    path = folder / "table-timer.toml"
    path.write_text(text)
    return path


def test_two_lines_are_settings_enough(tmp_path: Path) -> None:
    settings = load_settings(settings_file(tmp_path, SETTINGS))
    assert (settings.table, settings.buttons.start, settings.display.driver) == (7, 17, "ssd1306")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["device: is missing", "table: is missing"]),
        (SETTINGS + "colour = 1\n", ["line 3: colour: is no key of the table timer's settings"]),
        (SETTINGS + "[buttons]\nstart = 27\n", ["line 3: buttons: two buttons share a pin"]),
        (SETTINGS + '[display]\ndriver = "vga"\n', ["line 4: display.driver: Input should be 'ssd1306'"]),
        (SETTINGS + 'rulebook = "nope"\n', ["rulebook: ", "cannot be read"]),
        (SETTINGS + 'categories = ["adulto", "xx"]\n', ["categories: xx: not in the rulebook"]),
        ('device = "T 7"\ntable = 0\n', ["line 1: device", "line 2: table"]),
        ("device = [\n", ["not TOML"]),
    ],
)
def test_all_problems_of_the_settings_are_told_with_their_lines(
    tmp_path: Path, text: str, told: list[str]
) -> None:
    with pytest.raises(BadFile) as caught:
        load_settings(settings_file(tmp_path, text))
    assert all(part in str(caught.value) for part in told), str(caught.value)
