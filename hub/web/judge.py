"""The judge's phone: tables, a run with every press, and rulings with a reason and a name."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.web.answers import form_page, see, whole_number
from hub.web.desk import Desk, take_ruling
from hub.web.language import language_of
from hub.web.refusal import Refusal
from hub.web.run_view import choices, happenings, run_line
from hub.web.site import site_of
from hub.web.tables_view import cards
from hub.web.visitor import visitor_of
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
    run_id = request.query_params.get("id", "")
    if request.method != "POST":
        return await _run_page(request, run_id, Desk())
    desk = await take_ruling(request, run_id)
    return see("/judge/run", id=run_id) if desk.given else await _run_page(request, run_id, desk)


async def _run_page(request: Request, run_id: str, desk: Desk) -> Response:
    site, language, person = site_of(request), language_of(request), visitor_of(request).person
    commands, t = site.office.commands, translator(language)
    sheet = await run_in_threadpool(commands.run, run_id)
    if sheet is None or person is None:
        raise Refusal(404, "no_run")
    events = await run_in_threadpool(commands.events, run_id)
    return form_page(
        request,
        "run.html",
        desk.status,
        line=run_line(sheet.line, sheet, language, t),
        state=sheet.state,
        happened=happenings(
            sheet,
            events,
            lambda stored: commands.revocable(sheet, stored.event, person),
            lambda at_ms: site.settings.time_of_day(at_ms, seconds=True),
            t,
        ),
        choices=choices(t, organises=person.organises),
        entrants=sorted(sheet.entrants.items(), key=lambda entrant: entrant[1].casefold()),
        seen=sheet.version,
        desk=desk,
    )
