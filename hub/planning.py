"""From plan rows to what each table is sent: its seat and its next runs (pure)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from hub.store import PlanRow
from shared.plan import Plan, PlannedRun
from shared.rulebook import Rulebook


def plan_for(table: int, rows: Iterable[PlanRow], rulebook: Rulebook) -> dict[str, Any]:
    """The payload of `down/plan` for one table. Its revision changes with its content and with nothing else."""
    mine = sorted((r for r in rows if r.table_no == table and r.category in rulebook.categories), key=_order)
    runs = tuple(
        PlannedRun(
            order=row.order_no,
            heat=row.heat,
            entrant=row.entrant,
            public_name=row.public_name,
            category=row.category,
        )
        for row in mine
        if row.entrant
    )
    categories = {r.category: rulebook.categories[r.category] for r in runs}
    plan = Plan(revision=0, table=table, tournament=rulebook.name, categories=categories, runs=runs)
    content = plan.as_json()
    revision = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    return {**content, "revision": revision}


def plans_for(
    seats: Mapping[int, str], rows: Iterable[PlanRow], rulebook: Rulebook
) -> dict[str, dict[str, Any]]:
    """The plan of every seated device; nothing while no plan was made."""
    rows = list(rows)
    if not rows:
        return {}
    return {device: plan_for(table, rows, rulebook) for table, device in seats.items()}


def _order(row: PlanRow) -> int:
    return row.order_no
