"""Results worked out independently of this program must come out of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.core.events import event_from_json
from shared.core.tournament import Tournament
from shared.rulebook import shipped_rulebook

VECTORS = Path(__file__).parent.parent / "vectors"
RULEBOOKS = {
    "torneo": shipped_rulebook("torneo-puzzles-2026"),
    "castrillo": shipped_rulebook("castrillo-2023"),
}
NAMED: list[dict[str, Any]] = json.loads((VECTORS / "named.json").read_text())


def folded(rulebook: str, events: list[dict[str, Any]]) -> Tournament:
    tournament = Tournament(RULEBOOKS[rulebook].categories)
    for event in events:
        tournament.apply(event_from_json(event))
    return tournament


@pytest.mark.parametrize("case", NAMED, ids=lambda case: f"{case['rulebook']}: {case['name']}")
def test_a_clause_gives_the_result_worked_out_by_hand(case: dict[str, Any]) -> None:
    (result,) = folded(case["rulebook"], case["events"]).results()
    got = {name: getattr(result, name) for name in case["expected"]}
    assert got == case["expected"]


@pytest.mark.parametrize("log", sorted(VECTORS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_whole_tournament_gives_the_standings_worked_out_by_hand(log: Path) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    tournament = folded(log.stem.split("-")[0], events)
    standings = {c.id: c.standings for c in tournament.standings()}
    expected = json.loads(log.with_name(f"{log.stem}.expected.json").read_text())
    for category, lines in expected.items():
        got = {s.result.entrant: s for s in standings[category]}
        assert set(got) == {line["entrant"] for line in lines}
        for line in lines:
            standing = got[line["entrant"]]
            values = {k: getattr(standing.result, k) for k in line if k not in ("entrant", "rank")}
            assert values | {"rank": standing.rank, "entrant": line["entrant"]} == line
