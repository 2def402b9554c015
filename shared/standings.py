"""The standings as JSON, from the one ranking function: for `score`, the API, pages and MQTT alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shared.core.model import Mark, Problem
from shared.core.ranking import Standing
from shared.core.tournament import CategoryStandings
from shared.duration import clock_text


def line_json(standing: Standing) -> dict[str, Any]:
    """One line of a category's ranking; `official` is the official time as people read it."""
    result = standing.result
    return {
        "rank": standing.rank,
        "entrant": result.entrant,
        "table": result.table or None,
        "status": str(result.status),
        "official_s": result.official_s,
        "official": None if result.official_s is None else clock_text(result.official_s),
        "raw_s": result.raw_s,
        "assist_s": result.assist_s,
        "penalty_s": result.penalty_s,
        "stage_s": result.stage_s,
        "pieces": result.pieces,
        "marks": [str(m) for m in result.marks],
        "problems": [p.as_json() for p in result.problems],
    }


def official_words(line: Mapping[str, Any]) -> str:
    """The official time of a line as people are shown it: `≥ 23:00` where only a lower bound is known.

    That bound may be less than `official`, which takes every unknown gap to have been as short as it can.
    """
    lows = [p["low_s"] for p in line["problems"] if p["code"] == "time_between_bounds"]
    if line["official"] is None or Mark.INTERRUPTED not in line["marks"]:
        return line["official"] or ""
    return "≥ " + next((clock_text(low_s) for low_s in lows if low_s is not None), line["official"])


def standings_json(
    revision: int, categories: Iterable[CategoryStandings], problems: Iterable[Problem]
) -> dict[str, Any]:
    """All categories that the rulebook names, and the problems that concern no single run."""
    return {
        "revision": revision,
        "categories": [category_json(c) for c in categories],
        "problems": [p.as_json() for p in problems],
    }


def category_json(category: CategoryStandings) -> dict[str, Any]:
    """One category; `rankings` only where the rulebook has further ones."""
    data: dict[str, Any] = {"id": category.id, "standings": [line_json(s) for s in category.standings]}
    if category.further:
        rankings = [
            {"id": id_, "standings": [line_json(s) for s in lines]} for id_, lines in category.further
        ]
        data["rankings"] = rankings
    return data
