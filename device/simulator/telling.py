"""What a virtual table says about itself, beyond its picture: enough for a judge who cannot read pixels (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device.facts import Facts
from shared.core.model import State
from shared.core.state import counted_ms


def telling(facts: Facts) -> Mapping[str, Any]:
    """The table at one instant as plain values; times in ms of run time, `t_ms` since the start of the run."""
    situation = facts.situation
    notice = situation.notice
    said: dict[str, Any] = {
        "state": str(situation.state),
        "t_ms": None if situation.state is State.READY else situation.t_ms,
        "planned": facts.planned,
        "choices": situation.choices,
        "entrant": facts.entrant,
        "heat": facts.heat,
        "low": facts.low,
        "online": facts.online,
        "unsent": facts.unsent,
        "notice": None if notice is None else str(notice),
        "refusal": None if facts.refusal is None else facts.refusal.reason,
        "armed": None if facts.armed is None else str(facts.armed.act),
        "count": None,
        "category": None,
        "escape": None,
    }
    if facts.count is not None:
        count = facts.count
        said["count"] = {"number": count.number, "touched": count.touched, "asked": count.asked}
    return said | _of_the_rules(facts)


def _of_the_rules(facts: Facts) -> dict[str, Any]:
    frame, run = facts.situation.frame, facts.situation.run
    if frame is None:
        return {}
    rules, t_ms = frame.rules, facts.situation.t_ms
    said: dict[str, Any] = {
        "category": rules.id,
        "preview_ms": rules.preview_ms,
        "limit_ms": rules.limit_ms,
        "pieces": frame.pieces_of(run.puzzle),
        "counted_ms": counted_ms(run, frame, t_ms),
        "pauses_left": 0 if rules.pauses is None else rules.pauses.count - run.pauses,
        "assists_left": 0 if rules.assists is None else rules.assists.count - run.assists,
    }
    if rules.escape is not None and run.escape is not None:
        said["escape"] = {
            "solved": run.escape.solved_steps,
            "steps": rules.escape.steps,
            "limit_ms": rules.escape.limit_ms,
            "tickets": run.escape.tickets,
        }
    return said
