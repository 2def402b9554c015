"""The table of field reports names tests that exist and that say which report they are for."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "field-reports.md"
ROW = re.compile(r"\| (?P<number>[A-F]\d\d) \|[^|]*\| `(?P<file>[\w/.]+)::(?P<name>\w+)` \|")
ROWS = [
    match.groups() for match in map(ROW.fullmatch, PAGE.read_text(encoding="utf-8").splitlines()) if match
]


@pytest.mark.parametrize(("number", "file", "name"), ROWS, ids=[f"{n}-{t}" for n, _, t in ROWS])
def test_each_report_has_the_test_that_is_named_for_it(number: str, file: str, name: str) -> None:
    module = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == name]
    assert found, f"{file} has no {name}"
    said = f"{name.upper()} {ast.get_docstring(found[0])} {ast.get_docstring(module)}"
    assert number in said, f"{name} does not say that it is about {number}"


def test_every_line_of_the_table_is_read() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(lines) == len(ROWS) + 1, "the heading and nothing else"
