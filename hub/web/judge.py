"""The judge's phone: tables, a run with every press, and rulings with a reason and a name."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.commands import CannotRule, ChangedMeanwhile, Ruling
from hub.web.answers import form_page, see, whole_number
from hub.web.forms import form_of
from hub.web.language import language_of
from hub.web.refusal import Refusal
from hub.web.run_view import choices, happenings, run_line, seconds_typed
from hub.web.site import site_of
from hub.web.tables_view import cards
from hub.web.visitor import visitor_of
from shared.core.events import EventType
from shared.texts import translator


async def judge(request: Request) -> Response:
    """Every table with the run that it showed last, or the runs at one table."""
    site, language = site_of(request), language_of(request)
    t, table = translator(language), whole_number(request.query_params.get("table"), 999)
    commands = site.office.commands
    if table is not None:
        runs = await run_in_threadpool(commands.runs_at, table)
        return form_page(
            request, "judge_table.html", table=table, lines=[run_line(run, None, language, t) for run in runs]
        )
    latest = await run_in_threadpool(commands.latest)
    shown = cards(
        site.live.tables(),
        language=language,
        t=t,
        settings=site.settings,
        speed=site.live.speed,
        timer_pages=site.live.timer_pages,
    )
    here = {card.table: card for card in shown}
    lines = {number: run_line(run, None, language, t) for number, run in latest.items()}
    rows = [(number, here.get(number), lines.get(number)) for number in sorted({*here, *lines})]
    return form_page(request, "judge.html", rows=rows)


async def run(request: Request) -> Response:
    """One run; with a form, a ruling on it."""
    if request.method != "POST":
        return await _run_page(request, {})
    form, person = form_of(request), visitor_of(request).person
    t = translator(language_of(request))
    try:
        ruling = _ruling(form, request.query_params.get("id", ""), "" if person is None else person.name)
        await run_in_threadpool(site_of(request).office.commands.rule, ruling)
    except CannotRule as error:
        return await _run_page(request, form, _why(error, t), 400)
    except ChangedMeanwhile:
        problem = t.gettext(
            "Nothing was ruled: something was pressed or ruled on this run since you looked. "
            "Look at it as it is now, then decide."
        )
        return await _run_page(request, form, problem, 409)
    return see("/judge/run", id=ruling.run)


def _ruling(form: Mapping[str, str], run: str, by: str) -> Ruling:
    kind, data = form.get("kind", ""), dict[str, Any]()
    try:
        kind = EventType(kind)
    except ValueError as error:
        raise CannotRule("bad_number") from error
    if kind in (EventType.PENALTY_GIVEN, EventType.TIME_SET):
        data["seconds"] = seconds_typed(form.get("number", ""))
    elif kind is EventType.PIECES_CORRECTED:
        data["pieces"] = whole_number(form.get("number"))
    elif kind is EventType.RULING_REVOKED:
        data["ruling"] = whole_number(form.get("number"))
    return Ruling(kind, run, form.get("reason", ""), by, form.get("seen", ""), data)


async def _run_page(
    request: Request, typed: Mapping[str, str], problem: str = "", status: int = 200
) -> Response:
    site, language = site_of(request), language_of(request)
    commands, t, run_id = site.office.commands, translator(language), request.query_params.get("id", "")
    sheet = await run_in_threadpool(commands.run, run_id)
    if sheet is None:
        raise Refusal(404, "no_run")
    events = await run_in_threadpool(commands.events, run_id)
    return form_page(
        request,
        "run.html",
        status,
        line=run_line(sheet.line, sheet, language, t),
        state=sheet.state,
        happened=happenings(
            sheet,
            events,
            lambda stored: commands.revocable(sheet, stored.event),
            lambda at_ms: site.settings.time_of_day(at_ms, seconds=True),
            t,
        ),
        choices=choices(t),
        seen=sheet.version,
        typed={name: typed.get(name, "") for name in ("kind", "number", "reason")},
        problem=problem,
    )


def _why(error: CannotRule, t: NullTranslations) -> str:
    sentences = {
        "no_reason": t.gettext("Nothing was ruled: write the reason."),
        "long_reason": t.gettext("Nothing was ruled: the reason is too long."),
        "no_run": t.gettext("Nothing was ruled: there is no such run."),
        "nothing_to_revoke": t.gettext("Nothing was ruled: that ruling counts no more."),
        "too_many_pieces": t.gettext("Nothing was ruled: the puzzle has fewer pieces."),
    }
    return sentences.get(error.code) or t.gettext(
        "Nothing was ruled: the number cannot be read. Write pieces as 143, times as 1:30 or 1:02:03."
    )
