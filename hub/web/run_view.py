"""A run as a judge's phone shows it: in one line, press by press, ruling by ruling, in words (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from gettext import NullTranslations

from hub.run_sheets import RunLine, RunSheet
from hub.store_audit import Stored
from hub.web.event_words import event_detail, event_word
from hub.web.problem_words import problem_words
from hub.web.words import mark_word, pieces_words, status_word
from shared.core.events import RULINGS
from shared.duration import clock_text

Moment = Callable[[int | None], str]
"""A UTC instant in milliseconds as a time at the venue."""


@dataclass(frozen=True, slots=True)
class Line:
    """A run in one line."""

    run: str
    table: int
    name: str
    category: str
    heat: str
    status: str
    result: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Happened:
    """One press or ruling."""

    number: int
    log: str
    at: str
    """Since the start, for a press; the time of day, for a ruling."""
    what: str
    detail: str
    by: str
    reason: str
    void: bool
    """Refused, or taken back."""
    revocable: bool


def run_line(line: RunLine, sheet: RunSheet | None, language: str, t: NullTranslations) -> Line:
    """A run in words."""
    parts = []
    if line.official_s is not None:
        parts.append(clock_text(line.official_s))
    if line.pieces is not None and sheet is not None:
        parts.append(pieces_words(line.pieces, sheet.count, sheet.most_pieces, t))
    if line.penalty_s:
        sign = "−" if line.penalty_s < 0 else "+"
        parts.append(t.gettext("penalties %(time)s") % {"time": sign + clock_text(abs(line.penalty_s))})
    return Line(
        run=line.run,
        table=line.table,
        name=line.name or "–",
        category=line.category_name.get(language, line.category),
        heat=line.heat or "",
        status=t.gettext("start undone") if line.status is None else status_word(line.status, t),
        result=" · ".join(parts),
        notes=(
            *(mark_word(mark, t) for mark in line.marks),
            *(problem_words(problem, t) for problem in line.problems),
        ),
    )


def happenings(
    sheet: RunSheet,
    events: Sequence[Stored],
    revocable: Callable[[Stored], bool],
    moment: Moment,
    t: NullTranslations,
) -> tuple[Happened, ...]:
    """What was pressed and ruled on a run."""
    found = []
    for stored in events:
        event = stored.event
        ruling = event.type in RULINGS
        span = sheet.times.get(event.key)
        if span is None:
            at = moment(event.wall_ms or stored.received_ms)
        else:
            at = ("" if span.exact else "≥ ") + clock_text(max(0, span.low_ms) // 1000)
        found.append(
            Happened(
                number=event.seq,
                log=event.log,
                at=at,
                what=event_word(event.type, t),
                detail=event_detail(event, t),
                by=str(event.data.get("by", "")) if ruling else "",
                reason=str(event.data.get("reason", "")) if ruling else "",
                void=_is_void(sheet, stored),
                revocable=revocable(stored),
            )
        )
    return tuple(found)


def _is_void(sheet: RunSheet, stored: Stored) -> bool:
    event = stored.event
    if event.type in RULINGS:
        return event.key not in sheet.in_force and event.type != "ruling_revoked"
    return event.key in sheet.refused


def choices(t: NullTranslations, *, organises: bool) -> Mapping[str, str]:
    """What can be ruled on a run, by kind, in the order of the page; some only by who organises."""
    kinds = (
        "penalty_given",
        "pieces_corrected",
        "incident_noted",
        "time_set",
        "time_granted",
        "puzzle_pieces_set",
        "run_reopened",
        "did_not_finish",
        "disqualified",
        "run_voided",
        *(("run_reassigned",) if organises else ()),
    )
    return {kind: event_word(kind, t) for kind in kinds}
