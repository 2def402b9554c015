"""The day that the plan is for, kept beside it: a table that was off for a night shows it before its first start."""

from __future__ import annotations

from datetime import date

from hub.store import Store

_NOTE = "plan-day"


def plan_day(store: Store) -> str | None:
    """The day of the plan as `2026-09-26`; None when it was not said. Raises StoreTrouble."""
    return store.note(_NOTE) or None


def keep_plan_day(store: Store, day: date | None) -> None:
    """Keep the day of a plan that is loaded now. Raises StoreTrouble."""
    store.keep_note(_NOTE, "" if day is None else day.isoformat())
