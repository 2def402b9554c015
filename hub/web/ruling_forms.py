"""Rulings as forms send them, and why one is not given, in a sentence and beside which field (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from gettext import NullTranslations
from typing import Any, Final

from hub.people import Person
from hub.ruling_check import CannotRule, Ruling
from hub.ruling_kinds import MOST_TIED
from hub.web.answers import whole_number
from shared.core.events import EventType

SECONDS: Final = frozenset({EventType.PENALTY_GIVEN, EventType.TIME_SET, EventType.TIME_GRANTED})
PIECES: Final = frozenset({EventType.PIECES_CORRECTED, EventType.PUZZLE_PIECES_SET})


def ruling_from(form: Mapping[str, str], run: str | None, by: Person) -> Ruling:
    """What a form says. Raises CannotRule for what cannot be read."""
    try:
        kind = EventType(form.get("kind", ""))
    except ValueError as error:
        raise CannotRule("bad_number") from error
    seen, data = form.get("seen", ""), dict[str, Any]()
    if kind in SECONDS:
        data["seconds"] = seconds_typed(form.get("number", ""))
        if kind is EventType.TIME_GRANTED and run is None:
            data["heat"] = form.get("heat", "")
    elif kind in PIECES:
        data["pieces"] = whole_number(form.get("number"))
    elif kind is EventType.RULING_REVOKED:
        data = _named("ruling", form.get("number"), form)
    elif kind is EventType.RUN_REASSIGNED:
        data = _reassigned(form)
    elif kind is EventType.DID_NOT_START:
        # One list of everybody: each entry brings the version that it was made from.
        seen, _, named = form.get("who", "").partition(" ")
        data["category"], _, data["entrant"] = named.partition(" ")
    elif kind is EventType.TIE_BROKEN:
        data = {"category": form.get("category", ""), "order": _order(form)}
    elif kind is EventType.INCIDENT_NOTED and form.get("answers"):
        data = _named("answers", form["answers"], form)
    return Ruling(kind, form.get("reason", ""), by, seen, run, data)


def _named(name: str, number: str | None, form: Mapping[str, str]) -> dict[str, Any]:
    """The ruling that a form is about: its number, and its log (a restored hub writes a new one)."""
    of_log = {"of_log": form["of_log"]} if form.get("of_log") else {}
    return {name: whole_number(number), **of_log}


def _reassigned(form: Mapping[str, str]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if form.get("entrant"):
        data["entrant"] = form["entrant"]
    if typed := form.get("table", "").strip():
        data["table"] = whole_number(typed, 999)
        if data["table"] is None:
            raise CannotRule("bad_table")
    if not data:
        raise CannotRule("ruling_says_nothing")
    return data


def _order(form: Mapping[str, str]) -> list[str]:
    order = []
    for place in range(1, MOST_TIED + 1):
        if f"place{place}" not in form:
            break
        order.append(form[f"place{place}"])
    if len(set(order)) < max(2, len(order)):
        raise CannotRule("bad_order")
    return order


_CLOCK: Final = re.compile(
    r"(?P<sign>[-−+]?)(?:(?P<alone>\d{1,6})|(?:(?P<hours>\d{1,3}):(?=\d{1,2}:))?"
    r"(?P<minutes>\d{1,3}):(?P<seconds>[0-5]?\d))",
    re.ASCII,
)


def seconds_typed(text: str) -> int | None:
    """`90`, `1:30`, `1:02:03` or `-0:30` as whole seconds; None for anything else."""
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes = int(found["hours"] or 0), int(found["minutes"] or 0)
    if found["hours"] is not None and minutes > 59:
        return None
    total = hours * 3600 + minutes * 60 + int(found["alone"] or found["seconds"])
    return -total if found["sign"] in ("-", "−") else total


#: Beside which field a sentence stands; the others concern the whole form.
FIELDS: Final[Mapping[str, str]] = {
    "no_reason": "reason",
    "long_reason": "reason",
    "bad_number": "number",
    "too_many_pieces": "number",
    "pieces_not_due": "number",
    "which_puzzle": "number",
    "bad_table": "table",
    "no_entrant": "entrant",
    "bad_order": "order",
    "no_tie": "order",
    "ruling_says_nothing": "entrant",
}


def why_not(code: str, t: NullTranslations) -> str:
    """Why a ruling is not given."""
    sentences = {
        "no_reason": t.gettext("Nothing was ruled: write the reason."),
        "long_reason": t.gettext("Nothing was ruled: the reason is too long."),
        "no_run": t.gettext("Nothing was ruled: there is no such run."),
        "ruling_without_run": t.gettext("Nothing was ruled: there is no such run."),
        "nothing_to_revoke": t.gettext("Nothing was ruled: that ruling counts no more."),
        "too_many_pieces": t.gettext("Nothing was ruled: the puzzle has fewer pieces."),
        "pieces_not_due": t.gettext("Nothing was ruled: this run is complete, no pieces are counted."),
        "which_puzzle": t.gettext("Nothing was ruled: this run has several puzzles. Set its time instead."),
        "nothing_to_reopen": t.gettext("Nothing was ruled: this run is neither accepted nor counted."),
        "ruling_says_nothing": t.gettext(
            "Nothing was ruled: choose another entrant, another table, or both."
        ),
        "bad_table": t.gettext("Nothing was ruled: a table is a number from 1 to 999."),
        "no_entrant": t.gettext("Nothing was ruled: choose an entrant of the plan in this category."),
        "unknown_category": t.gettext("Nothing was ruled: choose an entrant of the plan in this category."),
        "bad_order": t.gettext("Nothing was ruled: name each of the tied once."),
        "no_tie": t.gettext("Nothing was ruled: these entrants are not tied any more."),
        "no_incident": t.gettext("Nothing was ruled: that incident is answered already."),
        "not_yours": t.gettext("Nothing was ruled: only an organiser decides this."),
        "dismissed": t.gettext("Nothing was ruled: your login was taken away."),
        "changed": t.gettext(
            "Nothing was ruled: something was pressed or ruled on this run since you looked. "
            "Look at it as it is now, then decide."
        ),
    }
    return sentences.get(code) or t.gettext(
        "Nothing was ruled: the number cannot be read. Write pieces as 143, times as 1:30 or 1:02:03."
    )
