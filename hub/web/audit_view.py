"""What happened, line by line: who, when, what, why, and what was before and after it, in words (pure)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from gettext import NullTranslations

from hub.run_sheets import Steps
from hub.store_audit import Deed, Stored
from hub.web.effect_words import Change, NameOf, changes
from hub.web.event_words import deed_value, deed_word, event_detail, event_word
from hub.web.words import state_word
from shared.core.events import RULINGS

Moment = Callable[[int], str]
"""A UTC instant in milliseconds as date and time at the venue."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line."""

    key: int
    at_ms: int
    when: str
    who: str
    what: str
    detail: str
    reason: str
    run: str
    changes: tuple[Change, ...]
    """What was before and after; of a press the state of its run, of a ruling the lines of the standings."""


def of_event(stored: Stored, steps: Steps, name_of: NameOf, moment: Moment, t: NullTranslations) -> Entry:
    """A press or a ruling."""
    event = stored.event
    ruling = event.type in RULINGS
    at_ms = event.wall_ms or stored.received_ms
    changed = changes(stored.effects, name_of, t)
    if event.key in steps:
        was, became = (state_word(str(state), t) for state in steps[event.key])
        changed = (Change("", event.run or "", was, became),)
    return Entry(
        key=stored.n,
        at_ms=at_ms,
        when=moment(at_ms),
        who=str(event.data.get("by", "")) if ruling else f"{event.device} · {event.seq}",
        what=event_word(event.type, t),
        detail=event_detail(event, t),
        reason=str(event.data.get("reason", "")) if ruling else "",
        run=event.run or "",
        changes=changed,
    )


def of_deed(deed: Deed, moment: Moment, t: NullTranslations) -> Entry:
    """What somebody did to the hub."""
    changed = Change("", "", deed_value(deed.was, t), deed_value(deed.became, t))
    return Entry(
        key=deed.id,
        at_ms=deed.at_ms,
        when=moment(deed.at_ms),
        who=deed.by,
        what=deed_word(deed.deed, t),
        detail=deed.about,
        reason="",
        run="",
        changes=(changed,) if deed.was or deed.became else (),
    )
