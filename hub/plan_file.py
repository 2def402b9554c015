"""A plan from a CSV file: `heat,order,table,entrant,category,public_name`, all problems at once (pure).

A further column `flags` may hold words such as `guest resident`, with spaces between.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from hub.store import PlanRow
from shared.core.rules import CategoryRules

COLUMNS: Final = ("heat", "order", "table", "entrant", "category", "public_name")
OPTIONAL: Final = ("flags",)
_FLAGS: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}( +[a-z0-9][a-z0-9-]{0,63})*", re.ASCII)


class BadPlanFile(ValueError):
    """A plan file with problems, all of them, each with its line and what to do."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def parse_plan_file(raw: bytes, categories: Mapping[str, CategoryRules]) -> list[PlanRow]:
    """The runs a file plans, in its order. Raises BadPlanFile."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadPlanFile([f'line {line}: not UTF-8 text; save the sheet as "CSV UTF-8"']) from error
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=first.count)  # spreadsheets of Spain write semicolons
    rows, broken = _rows(text, delimiter)
    if not rows:
        raise BadPlanFile([f"line 1: the file is empty; begin with {','.join(COLUMNS)}"])
    head = [name.lower() for name in rows[0][1]]
    problems = [f'line 1: column "{c}" is missing' for c in COLUMNS if c not in head]
    problems += [
        f'line 1: "{c}" is no column of a plan; remove it' for c in head if c not in COLUMNS + OPTIONAL
    ]
    problems += [f'line 1: column "{c}" stands twice' for c in sorted(set(head)) if head.count(c) > 1]
    if problems:
        raise BadPlanFile([*problems, f"line 1: the columns are {','.join(COLUMNS)}"])
    return _plan(head, rows[1:], categories, broken)


def _rows(text: str, delimiter: str) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """The cells of each line; a plan has no line breaks in a cell, so a quote left open spoils its line only."""
    rows, broken = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            cells = next(csv.reader([line], delimiter=delimiter, strict=True), [])
        except csv.Error as error:
            broken.append(f"line {number}: not CSV ({error}); look for a stray quote")
        else:
            rows.append((number, [cell.strip() for cell in cells]))
    return [row for row in rows if any(row[1])], broken


def _plan(
    head: list[str],
    rows: list[tuple[int, list[str]]],
    categories: Mapping[str, CategoryRules],
    broken: list[str],
) -> list[PlanRow]:
    problems: list[str] = list(broken)
    plan: list[PlanRow] = []
    seen: dict[tuple[object, ...], int] = {}
    for line, row in rows:
        if len(row) != len(head):
            problems.append(f"line {line}: {len(row)} cells instead of {len(head)}; look for a stray comma")
            continue
        cells = dict(zip(head, row, strict=True))
        found = list(_cell_problems(cells, categories))
        if not found:
            planned = _row(cells)
            plan.append(planned)
            found = list(_clashes(planned, line, seen))
        problems += [f"line {line}: {text}" for text in found]
    if not rows and not broken:
        problems.append("line 2: no runs; write one line for each")
    if problems:
        raise BadPlanFile(sorted(problems, key=_line_number))
    return plan


def _line_number(problem: str) -> int:
    return int(problem.removeprefix("line ").split(":")[0])


def _cell_problems(cells: Mapping[str, str], categories: Mapping[str, CategoryRules]) -> Iterator[str]:
    for name, least, most in (("order", 1, 100_000), ("table", 1, 999)):
        text = cells[name]
        if not (text.isascii() and text.isdigit() and len(text) < 7 and least <= int(text) <= most):
            yield f'{name} "{text}" must be a whole number from {least} to {most}'
    for name, longest in (("heat", 40), ("entrant", 100), ("public_name", 300)):
        if not cells[name]:
            yield f"{name} is empty"
        if len(cells[name]) > longest:
            yield f"{name} has more than {longest} letters"
        if any(unicodedata.category(letter) == "Cc" for letter in cells[name]):
            yield f"{name} has a control character in it; type it again"
    if cells.get("flags") and not _FLAGS.fullmatch(cells["flags"]):
        yield f'flags "{cells["flags"]}" must be words of small letters, digits and -, with spaces between'
    if cells["category"] not in categories:
        yield f'category "{cells["category"]}" is not in the rulebook, which has {", ".join(categories)}'


def _row(cells: Mapping[str, str]) -> PlanRow:
    return PlanRow(
        heat=cells["heat"],
        order_no=int(cells["order"]),
        table_no=int(cells["table"]),
        entrant=cells["entrant"],
        category=cells["category"],
        public_name=unicodedata.normalize("NFC", cells["public_name"]),
        flags=cells.get("flags", ""),
    )


def _clashes(row: PlanRow, line: int, seen: dict[tuple[object, ...], int]) -> Iterator[str]:
    place = ("place", row.table_no, row.order_no)
    once = ("once", row.category, row.entrant)
    told = {
        place: f"table {row.table_no} has a run of order {row.order_no} in line {{other}} already",
        once: f"entrant {row.entrant} is in {row.category} in line {{other}} already",
    }
    for key, text in told.items():
        if key in seen:
            yield text.format(other=seen[key])
        else:
            seen[key] = line
