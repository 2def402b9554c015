"""What the tables page says: every table's state, clock, link and troubles, in words (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any

from hub.web.condition_words import answer_words, condition_words
from hub.web.problem_words import problem_words
from hub.web.settings import WebSettings
from hub.web.words import clock, mark_word, state_word


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock as it stood when the page was made, and what a browser needs to run it on."""

    text: str
    shown_ms: int
    running: bool
    direction: str
    age_ms: int
    """Real milliseconds since it read `shown_ms`."""
    prefix: str
    """`≥ ` where the reading is only a lower bound."""


@dataclass(frozen=True, slots=True)
class Card:
    """One table."""

    table: int
    state: str
    state_word: str
    clock: Clock | None
    who: str
    category: str
    heat: str
    online: bool
    link: str
    unsent: str
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    condition: tuple[str, ...]
    """How its parts are."""
    answer: tuple[str, ...]
    """What it answered last to what people asked of it; the sentence first."""
    answered_at: str
    device: str
    address: str | None
    """Where this table can be seen and pressed, if it is a virtual one."""


def cards(
    tables: Iterable[Mapping[str, Any]],
    *,
    language: str,
    t: NullTranslations,
    settings: WebSettings,
    speed: float,
    timer_pages: str | None,
) -> tuple[Card, ...]:
    """All tables by number."""
    return tuple(
        _card(table, language, t, settings, speed, timer_pages)
        for table in sorted(tables, key=lambda table: (table["table"], table["device"] or ""))
    )


def _card(
    table: Mapping[str, Any],
    language: str,
    t: NullTranslations,
    settings: WebSettings,
    speed: float,
    timer_pages: str | None,
) -> Card:
    number, state, since_ms = table["table"], table["state"] or "", table["link_since_ms"]
    names: Mapping[str, str] = table["category_name"] or {}
    unsent, answer = table["unsent"] or 0, table.get("answer")
    if table["online"]:
        link = t.gettext("online")
    elif since_ms is None:
        link = t.gettext("never heard of")
    else:
        link = t.gettext("no news since %(time)s") % {"time": settings.time_of_day(since_ms)}
    return Card(
        table=number,
        state=state,
        state_word=state_word(state, t),
        clock=_clock(table["clock"], speed),
        who=table["name"] or table["entrant"] or "",
        category=names.get(language) or next(iter(names.values()), table["category"] or ""),
        heat="" if table["heat"] is None else str(table["heat"]),
        online=table["online"],
        link=link,
        unsent=t.ngettext("%(n)d unsent", "%(n)d unsent", unsent) % {"n": unsent} if unsent else "",
        notes=tuple(mark_word(mark, t) for mark in table["marks"]),
        problems=tuple(problem_words(problem, t) for problem in table["problems"]),
        condition=condition_words(table.get("condition"), table["problems"], language, t),
        answer=answer_words(answer, t),
        answered_at=settings.time_of_day(answer["at_ms"], seconds=True) if answer else "",
        device=table["device"] or "",
        address=f"{timer_pages.rstrip('/')}/tables/{number}" if timer_pages else None,
    )


def _clock(clock_now: Mapping[str, Any] | None, speed: float) -> Clock | None:
    if clock_now is None or clock_now["shown_ms"] is None:
        return None
    shown_ms, direction = clock_now["shown_ms"], clock_now["direction"]
    age_ms = clock_now["age_hand_s"] * 1000
    now_ms = shown_ms
    if clock_now["running"]:
        now_ms = shown_ms + age_ms * speed * (-1 if direction == "down" else 1)
    return Clock(
        text=clock(now_ms, direction),
        shown_ms=shown_ms,
        running=clock_now["running"],
        direction=direction,
        age_ms=int(age_ms),
        prefix="≥ " if clock_now["low"] else "",
    )
