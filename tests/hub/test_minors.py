"""What the public is shown of people: public names, and nothing of who is forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hub.backup import damage_of, keep_backup
from hub.cli import main
from hub.forget import forget
from hub.planning import plans_for
from hub.store import NOBODY, PlanRow
from hub.web.access import Access
from hub.web.api import openapi
from hub.web.routes import ROUTES
from shared.clock import wall_ms
from shared.rulebook import shipped_rulebook
from tests.hub.web_office import Hall, a_run, hall

BIRTH = ("birth", "born", "nacim", "years")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hall]:
    with hall(tmp_path) as here:
        here.plans(
            [
                PlanRow("1", 1, 1, "e1", "adulto", "Ana G."),
                PlanRow("1", 2, 1, "e1", "grupal-adulto", "Ana G."),
            ]
        )
        here.hears(a_run())
        yield here


def public_answers(hub: Hall) -> Iterator[tuple[str, str]]:
    """Everything that anybody can read."""
    for route in ROUTES:
        if route.access is Access.PUBLIC and "{" not in route.path:
            yield route.path, hub.phone().get(route.path + "?once").text


def keys_in(value: Any) -> Iterator[str]:
    """Every name of a field."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            yield from keys_in(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from keys_in(inside)


def test_no_public_answer_has_a_field_for_when_somebody_was_born(hub: Hall) -> None:
    fields = {*keys_in(hub.view.standings()), *keys_in(hub.view.tables()), *keys_in(openapi())}
    assert [field for field in fields if any(word in field.lower() for word in BIRTH)] == []


def test_public_pages_show_the_public_name_and_not_the_entrants_id(hub: Hall) -> None:
    pages = dict(public_answers(hub))
    assert "Ana G." in pages["/"]
    for path, text in pages.items():
        if not path.startswith("/api/"):  # programs need the id to tell two of one name apart
            assert ">e1<" not in text


def test_a_table_is_told_public_names_and_ids_only(hub: Hall) -> None:
    plans = plans_for({1: "t01"}, hub.store.plan_rows(), shipped_rulebook("torneo-puzzles-2026"))
    (plan,) = plans.values()
    assert {key for run in plan["runs"] for key in run} <= {
        "order",
        "heat",
        "entrant",
        "public_name",
        "category",
    }


def test_who_is_forgotten_has_no_name_anywhere_and_keeps_the_result(hub: Hall) -> None:
    before = hub.view.standings()["categories"]
    assert hub.store.forget_entrant("e1") == 2
    hub.plans(hub.store.plan_rows())
    after = hub.view.standings()["categories"]
    texts = [text for _, text in public_answers(hub)]
    texts.append(
        json.dumps(plans_for({1: "t01"}, hub.store.plan_rows(), shipped_rulebook("torneo-puzzles-2026")))
    )
    assert not any("Ana" in text for text in texts)
    named, nameless = ([line for c in cs for line in c["standings"]] for cs in (before, after))
    assert [{**line, "name": NOBODY} for line in named] == nameless


def test_forgetting_is_a_command_that_says_what_still_has_the_name(tmp_path: Path) -> None:
    settings = tmp_path / "hub.toml"
    settings.write_text(f'rulebook = "torneo-puzzles-2026"\ndata_dir = "{tmp_path}/data"\n')
    plan = tmp_path / "plan.csv"
    plan.write_text("heat,order,table,entrant,category,public_name\n1,1,1,e1,adulto,Ana G.\n")
    config = ["--config", str(settings)]
    assert CliRunner().invoke(main, ["load", str(plan), *config]).exit_code == 0
    done = CliRunner().invoke(main, ["forget", "e1", *config])
    assert "e1 has no name any more in 1 planned runs" in done.output
    assert "backups" in done.output
    assert CliRunner().invoke(main, ["forget", "e9", *config]).exit_code == 1


def test_no_byte_of_a_forgotten_name_stays_in_the_hubs_folder(tmp_path: Path) -> None:
    name = "Ana Gutiérrez"
    with hall(tmp_path) as here:
        here.plans(
            [PlanRow("1", n, 1, f"e{n}", "adulto", name if n == 1 else "Bea R.") for n in range(1, 90)]
        )
        here.hears(a_run())
        database = tmp_path / "hub.sqlite3"
        kept = keep_backup(database, "test", wall_ms)
        broken = kept.with_name("000009-x-broken.sqlite3")
        broken.write_bytes(b"no database")
        before = here.view.standings()["categories"]
        assert holding(tmp_path, name) != []
        done = forget(here.store, database, "e1")
        assert (done.runs, done.copies, done.kept, done.whole) == (1, 1, (broken,), True)
        assert holding(tmp_path, name) == []
        assert damage_of(kept) is None
        here.plans(here.store.plan_rows())
        after = here.view.standings()["categories"]
        assert json.dumps(before).replace(json.dumps(name), json.dumps(NOBODY)) == json.dumps(after)
        assert forget(here.store, database, "e777").runs == 0


def holding(folder: Path, name: str) -> list[Path]:
    """The files in which a name can be found."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if name.encode() in path.read_bytes()]
