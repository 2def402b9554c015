"""A ruling sent by a form: refused in words, shown with its effect first where it is grave, or given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from hub.ruling_check import CannotRule, ChangedMeanwhile
from hub.ruling_kinds import KINDS
from hub.web.effect_words import Change, changes
from hub.web.event_words import event_word
from hub.web.forms import TOKEN_FIELD, form_of
from hub.web.language import language_of
from hub.web.refusal import Refusal
from hub.web.ruling_forms import FIELDS, ruling_from, why_not
from hub.web.site import site_of
from hub.web.visitor import visitor_of
from shared.texts import translator

SURE: Final = "sure"


@dataclass(frozen=True, slots=True)
class Confirm:
    """A ruling that waits for a second look."""

    word: str
    reason: str
    changes: tuple[Change, ...]
    fields: Mapping[str, str]
    """What the form sent, to be sent again."""
    again: bool = False
    """Whether the same was noted a moment ago."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What came of a form: nothing was sent, it was refused, is to be confirmed, or was given."""

    status: int = 200
    problem: str = ""
    field: str = ""
    """Beside which field the problem stands; empty for the whole form."""
    confirm: Confirm | None = None
    given: bool = False
    typed: Mapping[str, str] | None = None

    def value(self, form: str, name: str) -> str:
        """What was typed in a field of the form of this name, to be shown again."""
        typed = self.typed or {}
        return typed.get(name, "") if self.is_about(form) and self.confirm is None else ""

    def is_about(self, form: str) -> bool:
        """Whether it was this form that was sent."""
        typed = self.typed or {}
        return typed.get("form", typed.get("kind")) == form and not self.given

    def wrong(self, form: str, name: str) -> str:
        """The sentence that stands beside a field."""
        return self.problem if self.is_about(form) and self.field == name else ""


async def take_ruling(request: Request, run: str | None) -> Desk:
    """Give the ruling that a form sent about a run, or about something else. Raises Refusal, StoreTrouble."""
    form, person, t = form_of(request), visitor_of(request).person, translator(language_of(request))
    commands = site_of(request).office.commands
    if person is None:
        raise Refusal(403, "judge")
    try:
        ruling = ruling_from(form, run, person)
        kind = KINDS.get(ruling.kind)
        again = not form.get(SURE) and await run_in_threadpool(commands.is_said_again, ruling)
        if kind is None or form.get(SURE) or not (kind.grave or again):
            await run_in_threadpool(commands.rule, ruling)
            return Desk(303, given=True)
        effects = await run_in_threadpool(commands.preview, ruling)
    except CannotRule as error:
        return Desk(400, why_not(error.code, t), FIELDS.get(error.code, ""), typed=form)
    except ChangedMeanwhile:
        return Desk(409, why_not("changed", t), typed=form)
    fields = {name: value for name, value in form.items() if name not in (TOKEN_FIELD, SURE)}
    told = changes(effects, commands.names().of, t)
    word = event_word(ruling.kind, t)
    return Desk(confirm=Confirm(word, ruling.reason, told, fields, again=again), typed=form)
