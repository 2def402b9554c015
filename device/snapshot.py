"""What a table tells of itself between events: its run, state and clock at an instant (pure).

Pages take from it only what a log cannot say; it is never used for ranking.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device.facts import Facts
from shared.core.model import State
from shared.core.run import Run
from shared.core.state import assisted_ms, counted_ms
from shared.core.timeline import Stamp


def snapshot(facts: Facts, run: Run | None, stamp: Stamp, log: str) -> Mapping[str, Any]:
    """The payload of `up/state`."""
    situation = facts.situation
    entrant, category = facts.offered or (None, None)
    if run is not None and run.started:
        entrant, category = run.entrant, run.category
    shown: dict[str, Any] = {
        "v": 1,
        "log": log,
        "boot": stamp.boot,
        "mono_ms": stamp.mono_ms,
        "table": facts.table,
        "state": str(situation.state),
        "run": None if run is None else run.id,
        "entrant": entrant,
        "category": category,
        "heat": facts.heat,
        "unsent": facts.unsent,
        "low": facts.low,
        "clock_error_ms": facts.clock_error_ms,
        "notice": None if situation.notice is None else str(situation.notice),
        "not_saved": facts.not_saved,
        "not_saved_s": facts.saved_ago_s if facts.not_saved else None,
    }
    return shown | _clock(facts) | _budgets(facts)


def _clock(facts: Facts) -> dict[str, Any]:
    situation = facts.situation
    frame = situation.frame
    if frame is None or situation.state is State.READY:
        return {"shown_ms": None, "running": False, "direction": "up"}
    if situation.state is State.PREVIEW:
        return {"shown_ms": frame.rules.preview_ms - situation.t_ms, "running": True, "direction": "down"}
    if situation.state is State.PAUSED and frame.rules.pauses is not None:
        ends_ms = (situation.run.pause_ms or 0) + frame.rules.pauses.each_ms
        return {"shown_ms": ends_ms - situation.t_ms, "running": True, "direction": "down"}
    if situation.run.finish_ms is not None:
        stopped_ms = counted_ms(situation.run, frame, situation.run.finish_ms)
        return {"shown_ms": stopped_ms, "running": False, "direction": "up"}
    if situation.state in (State.RUNNING, State.ASSISTING):
        now_ms = counted_ms(situation.run, frame, situation.t_ms)
        return {"shown_ms": now_ms, "running": True, "direction": "up"}
    if situation.settled:
        return {"shown_ms": None, "running": False, "direction": "up"}
    return {"shown_ms": frame.rules.limit_ms, "running": False, "direction": "up"}


def _budgets(facts: Facts) -> dict[str, Any]:
    situation = facts.situation
    frame = situation.frame
    if frame is None or situation.state is State.READY:
        return {}
    pauses, assists = frame.rules.pauses, frame.rules.assists
    out: dict[str, Any] = {"limit_ms": frame.rules.limit_ms}
    if pauses is not None:
        out["pauses_left"] = pauses.count - situation.run.pauses
    if assists is not None:
        out["assists_left"] = assists.count - situation.run.assists
        out["assist_left_ms"] = assists.total_ms - assisted_ms(situation.run, frame, situation.t_ms)
    return out
