"""From plan rows to what each table is sent: its seat and its next runs (pure)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from hub.store import PlanRow
from shared.plan import BegunRun, Plan, PlannedRun, Resume
from shared.rulebook import Rulebook

Key = tuple[str | None, str, str]
"""Heat, category, entrant: what makes a planned run the same run."""
Begun = Mapping[Key, Mapping[str, str]]
"""Runs that have begun, by whom they are of: id, and the log it began in."""


def plan_for(
    table: int,
    rows: Iterable[PlanRow],
    rulebook: Rulebook,
    day: str | None = None,
    conflict: Iterable[str] = (),
    resume: Resume | None = None,
    voided: Iterable[str] = (),
    begun: Begun = MappingProxyType({}),
    log: str | None = None,
) -> dict[str, Any]:
    """The payload of `down/plan` for one table. Its revision changes with its content and with nothing else.

    With other devices on the same seat, in `conflict`, it names them and has no runs. Of the runs that have
    `begun` it tells those that the table cannot know from the `log` it writes.
    """
    conflict = tuple(sorted(conflict))
    rows, resume = ([], None) if conflict else (rows, resume)
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
    going_on = None if resume is None else resume.run
    elsewhere = tuple(
        BegunRun(run=run, heat=heat, category=category, entrant=entrant)
        for heat, category, entrant in (r.key for r in runs)
        for run, began_in in sorted(begun.get((heat, category, entrant), {}).items())
        if began_in != log and run != going_on
    )
    wanted = {r.category for r in runs} | ({resume.category} if resume is not None else set())
    categories = {category: rulebook.categories[category] for category in sorted(wanted)}
    plan = Plan(
        revision=0,
        table=table,
        tournament=rulebook.name,
        day=day,
        categories=categories,
        runs=runs,
        conflict=conflict,
        resume=resume,
        begun=elsewhere,
        voided=tuple(sorted(voided)),
    )
    content = plan.as_json()
    revision = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    return {**content, "revision": revision}


def plans_for(
    seats: Mapping[int, str],
    rows: Iterable[PlanRow],
    rulebook: Rulebook,
    day: str | None = None,
    claims: Mapping[str, int] | None = None,
    resumes: Mapping[int, Resume] | None = None,
    voided: Mapping[int, Iterable[str]] | None = None,
    begun: Begun = MappingProxyType({}),
    logs: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """The plan of every seated device; nothing while no plan was made.

    `claims`: the table that each device that is online says it stands on. Two devices on one seat get no
    runs, one without a seat is told that it has no plan (any more). `resumes`: the run that goes on at a table,
    `voided`: the runs of a table that can be run again, `begun`: all that have begun, `logs`: what devices write.
    """
    rows = list(rows)
    if not rows:
        return {}
    claims, resumes, voided = claims or {}, resumes or {}, voided or {}
    rivals = rivals_of(seats, claims)
    plans = {device: _no_plan(table) for device, table in claims.items() if table > 0}
    for table, device in seats.items():
        others = rivals.get(table, set()) - {device}
        plans[device] = plan_for(
            table,
            rows,
            rulebook,
            day,
            others,
            resumes.get(table),
            voided.get(table, ()),
            begun,
            logs.get(device),
        )
    for table, devices in rivals.items():
        for device in devices - {seats[table]}:
            plans[device] = plan_for(table, rows, rulebook, day, devices - {device})
    return plans


def _no_plan(table: int) -> dict[str, Any]:
    return Plan(revision=0, table=table, categories={}, runs=(), withdrawn=True).as_json()


def rivals_of(seats: Mapping[int, str], claims: Mapping[str, int]) -> dict[int, set[str]]:
    """The devices of each seat on which more than one stands, all of them online."""
    rivals: dict[int, set[str]] = {}
    seated = set(seats.values())
    for device, table in claims.items():
        holder = seats.get(table)
        if device not in seated and holder is not None and holder in claims:
            rivals.setdefault(table, {holder}).add(device)
    return rivals


def _order(row: PlanRow) -> int:
    return row.order_no
