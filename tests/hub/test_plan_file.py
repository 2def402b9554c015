"""A plan from a spreadsheet is taken whole, or all its problems are told at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hub.cli import main
from hub.plan_file import BadPlanFile, parse_plan_file
from hub.store import PlanRow, Store
from shared.clock import wall_ms
from shared.rulebook import shipped_rulebook

CATEGORIES = shipped_rulebook("torneo-puzzles-2026").categories
HEAD = "heat,order,table,entrant,category,public_name\n"


def plan(text: str, encoding: str = "utf-8") -> list[PlanRow]:
    return parse_plan_file(text.encode(encoding), CATEGORIES)


def problems(text: str) -> list[str]:
    with pytest.raises(BadPlanFile) as caught:
        plan(text)
    return caught.value.problems


def test_each_line_plans_one_run() -> None:
    rows = plan(HEAD + "1,1,7,e1,adulto,Ana G.\n1,1,8,e2,adulto,Íñigo\n")
    assert rows == [
        PlanRow("1", 1, 7, "e1", "adulto", "Ana G."),
        PlanRow("1", 1, 8, "e2", "adulto", "Íñigo"),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_spreadsheets_write_is_read(delimiter: str, encoding: str, ending: str) -> None:
    text = (HEAD + "1,1,7,e1,adulto,Ana\n").replace(",", delimiter).replace("\n", ending)
    assert len(plan(text, encoding)) == 1


def test_columns_may_stand_in_any_order_and_case() -> None:
    rows = plan("Table,Heat,ORDER,entrant,category,public_name\n7,1,2,e1,adulto,Ana\n")
    assert (rows[0].table_no, rows[0].order_no) == (7, 2)


def test_empty_lines_are_no_runs() -> None:
    assert len(plan(HEAD + "\n1,1,7,e1,adulto,Ana\n,,,,,\n\n")) == 1


def test_two_forms_of_an_accent_are_one_name() -> None:
    rows = plan(HEAD + "1,1,7,e1,adulto,Jose\u0301\n")
    assert rows[0].public_name == "José"


def test_all_problems_are_told_at_once_with_their_lines() -> None:
    text = HEAD + "1,x,7,e1,adulto,Ana\n1,1,0,,nope,Eva\n1,2,7,e3,adulto,Eva,extra\n"
    assert [p.split(":")[0] for p in problems(text)] == ["line 2", "line 3", "line 3", "line 3", "line 4"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        (HEAD, "no runs"),
        ("heat,order,table,entrant,category\n1,1,1,e,adulto\n", 'column "public_name" is missing'),
        (HEAD.replace("\n", ",shoe\n"), '"shoe" is no column'),
        (HEAD.replace("heat", "table"), 'column "table" stands twice'),
        (HEAD + "1,1,7,e1,adulto,A\n1,1,7,e2,adulto,B\n", "table 7 has a run of order 1 in line 2 already"),
        (HEAD + "1,1,7,e1,adulto,A\n1,1,8,e1,adulto,A\n", "entrant e1 is in adulto in line 2 already"),
        (HEAD + '1,1,7,e1,adulto,"A\u0007"\n', "control character"),
        (HEAD + "1,1,7,e1,adulto," + "A" * 301 + "\n", "more than 300 letters"),
        (HEAD + "1,1,7,e1,adulto,\n", "public_name is empty"),
        (HEAD + "1,1,7,e1,adulto,A\n".replace("A", '"A'), "line 2: not CSV"),
        (HEAD.replace("\n", ",flags\n") + "1,1,7,e1,adulto,A,Resident!\n", 'flags "Resident!" must be words'),
        (HEAD + "1,1,٧,e1,adulto,A\n", "must be a whole number"),
        (HEAD + "1,99999999999999999999,7,e1,adulto,A\n", "must be a whole number"),
    ],
)
def test_a_problem_says_what_to_do(text: str, told: str) -> None:
    assert any(told in problem for problem in problems(text))


def test_a_quote_left_open_spoils_its_line_only() -> None:
    text = HEAD + '1,1,7,e1,adulto,"A\n1,x,8,e2,adulto,B\n'
    assert [p.split(":")[0] for p in problems(text)] == ["line 2", "line 3"]


def test_flags_may_follow_and_feed_further_rankings() -> None:
    (row,) = plan(HEAD.replace("\n", ",flags\n") + "1,1,7,e1,adulto,A,guest resident\n")
    assert row.flags == "guest resident"


def test_a_sheet_saved_in_another_encoding_is_refused_with_the_line() -> None:
    with pytest.raises(BadPlanFile, match="line 2: not UTF-8"):
        plan(HEAD + "1,1,7,e1,adulto,Íñigo\n", "cp1252")


def test_what_is_done_at_the_keyboard_is_in_the_audit_with_before_and_after(tmp_path: Path) -> None:
    settings, plan = tmp_path / "hub.toml", tmp_path / "plan.csv"
    settings.write_text(f'rulebook = "torneo-puzzles-2026"\ndata_dir = "{tmp_path}/data"\n')
    head = "heat,order,table,entrant,category,public_name\n"
    for lines in ("1,1,1,e1,adulto,Ana G.\n", "1,1,1,e1,adulto,Ana G.\n1,1,2,e2,adulto,Bea R.\n"):
        plan.write_text(head + lines)
        typed("load", str(plan), "--config", str(settings))
    for device in ("t01-a", "t01-b"):
        typed("seat", "1", device, "--config", str(settings))
    typed("start", "1", "--config", str(settings))
    typed("start", "--cancel", "--config", str(settings))
    store = Store.open(tmp_path / "data" / "hub.sqlite3", wall_ms)
    told = [(deed.by, deed.deed, deed.about, deed.was, deed.became) for deed in store.audit.deeds(None, 9)]
    store.close()
    assert told[::-1] == [
        ("timer-hub load", "plan_loaded", "plan.csv", "0 / 0", "1 / 1"),
        ("timer-hub load", "plan_loaded", "plan.csv", "1 / 1", "2 / 2"),
        ("timer-hub seat", "seat_given", "1", "", "t01-a"),
        ("timer-hub seat", "seat_given", "1", "t01-a", "t01-b"),
        ("timer-hub start", "start_ordered", "1", "", ""),
        ("timer-hub start", "start_cancelled", "1", "", ""),
    ]


def typed(*words: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
