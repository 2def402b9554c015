"""What no single value of a rulebook tells: keys that contradict each other, all of them at once.

These look at the raw tables of the file, so that a spelling mistake in one key hides no contradiction between
others; what is of a wrong type is left to the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shared.checked_toml import FileProblem
from shared.duration import seconds_from

Raw = dict[str, Any]


def contradictions(data: Raw) -> list[FileProblem]:
    """Every contradiction in a rulebook file."""
    problems: list[FileProblem] = []
    categories = _tables(data.get("category"))
    for place, category in enumerate(categories):
        here = f"category.{place}"
        checks = (_puzzles, _unfinished, _escape, _who, _rankings)
        problems += [
            FileProblem(None, f"{here}{key}", text) for check in checks for key, text in check(category)
        ]
    problems += [
        FileProblem(None, f"category.{n}.id", f'another category has the id "{id_}"; give each its own')
        for n, id_ in _twice(categories)
    ]
    return problems + list(_confirm(data, categories))


Found = Iterator[tuple[str, str]]
"""Keys below the category, with a point before each, and what to do."""


def _puzzles(category: Raw) -> Found:
    if ("pieces" in category) is ("puzzles" in category):
        yield "", "write pieces = 500 for one puzzle, or puzzles = [500, 1000] for several in order"


def _unfinished(category: Raw) -> Found:
    table = category.get("unfinished")
    if not isinstance(table, dict):
        return
    count, costs = table.get("count"), "per_piece" in table
    if count == "loose" and not costs:
        yield ".unfinished", 'loose pieces need what each costs: write for example per_piece = "10s"'
    if count != "loose" and costs:
        yield ".unfinished", "only loose pieces cost time: leave per_piece out"
    if count != "loose" and table.get("order") == "one_scale":
        yield ".unfinished", "one scale needs loose pieces: others are no time"
    grouped = count in ("loose", "joined")
    if grouped and "group" not in table:
        yield ".unfinished", "group is missing: from how many pieces on is a group correct? write group = 3"
    if not grouped and "group" in table:
        yield ".unfinished", f'count = "{count}" knows no groups: leave group out'
    group, pieces = table.get("group"), category.get("pieces")
    if isinstance(group, int) and isinstance(pieces, int) and group > pieces:
        yield ".unfinished", f"a group of {group} is more than the puzzle's {pieces} pieces"


def _escape(category: Raw) -> Found:
    table = category.get("escape")
    if not isinstance(table, dict):
        return
    own, whole = _seconds(table.get("limit")), _seconds(category.get("limit"))
    if own is not None and whole is not None and own > whole:
        yield ".escape.limit", "the escape's limit cannot be longer than the limit of the whole run"
    steps, stuck, tickets = table.get("steps"), table.get("redeem_stuck"), table.get("tickets")
    if isinstance(steps, int) and isinstance(stuck, list) and len(stuck) != steps:
        yield ".escape.redeem_stuck", f"redeem_stuck needs one number for each of the {steps} steps"
    redeemed = [
        n for n in [table.get("redeem_solved"), *(stuck if isinstance(stuck, list) else [])] if _is_int(n)
    ]
    if isinstance(tickets, int) and any(n > tickets for n in redeemed):
        yield ".escape.tickets", f"more tickets are redeemed than the {tickets} that are given"


def _who(category: Raw) -> Found:
    who = category.get("who")
    if not isinstance(who, dict):
        return
    for among in _tables(who.get("among")):
        if not {"ages", "born", "flag"} & set(among):
            yield ".who", 'among whom? write for example ages = "5-14", born = "-2010" or flag = "resident"'
        most = str(who.get("people", "")).split("-")[-1].strip()
        least = among.get("least")
        if most.isdigit() and isinstance(least, int) and least > int(most):
            yield ".who", f"least = {least} is more than the people of an entrant"
    if str(who.get("people", "")).strip() in ("0", "0-0"):
        yield ".who", 'nobody is no entrant: write people = "1"'


def _rankings(category: Raw) -> Found:
    rankings = _tables(category.get("ranking"))
    for n, id_ in _twice(rankings):
        yield f".ranking.{n}", f'another ranking of the category has the id "{id_}"; give each its own'
    for n, ranking in enumerate(rankings):
        if "guests" in category and ranking.get("flag") == category["guests"]:
            yield f".ranking.{n}.flag", "guests are not ranked: a ranking by their flag is always empty"


def _confirm(data: Raw, categories: list[Raw]) -> Iterator[FileProblem]:
    known = {"tournament", "category", *(str(c.get("id")) for c in categories)}
    for n, confirm in enumerate(_tables(data.get("confirm"))):
        key = confirm.get("key")
        if isinstance(key, str) and key.split(".")[0] not in known:
            text = f'"{key}" begins with no category of this file; write for example "adulto.limit"'
            yield FileProblem(None, f"confirm.{n}.key", text)


def _twice(tables: list[Raw]) -> Iterator[tuple[int, str]]:
    seen = set()
    for n, table in enumerate(tables):
        id_ = table.get("id")
        if isinstance(id_, str) and id_ in seen:
            yield n, id_
        elif isinstance(id_, str):
            seen.add(id_)


def _tables(value: object) -> list[Raw]:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def _is_int(value: object) -> bool:
    return type(value) is int


def _seconds(value: object) -> int | None:
    try:
        return seconds_from(value) if isinstance(value, str) else None
    except ValueError:
        return None
