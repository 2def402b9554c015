"""The organiser's page: what waits for a decision, and rulings on more than one run."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.organiser_sheet import Incident
from hub.web.answers import form_page, see
from hub.web.desk import Desk, take_ruling
from hub.web.event_words import event_detail, event_word
from hub.web.forms import form_of
from hub.web.language import language_of
from hub.web.run_view import run_line
from hub.web.site import site_of
from hub.web.troubles import hub_troubles
from hub.web.words import isolated
from shared.core.events import Event
from shared.duration import clock_text
from shared.texts import translator


async def organiser(request: Request) -> Response:
    """Everything on one page; with a form, a ruling."""
    if request.method != "POST":
        return await _page(request, Desk())
    desk = await take_ruling(request, form_of(request).get("run") or None)
    return see("/organiser") if desk.given else await _page(request, desk)


async def _page(request: Request, desk: Desk) -> Response:
    site, language = site_of(request), language_of(request)
    t = translator(language)
    sheet = await run_in_threadpool(site.office.commands.organiser_sheet)

    def when(event: Event) -> str:
        return "" if event.wall_ms is None else site.settings.time_of_day(event.wall_ms)

    def where(incident: Incident) -> str:
        if incident.run is None:
            return ""
        line = run_line(incident.run, None, language, t)
        return " · ".join(
            (t.pgettext("place", "table %(number)s") % {"number": line.table}, isolated(line.name))
        )

    return form_page(
        request,
        "organiser.html",
        desk.status,
        desk=desk,
        sheet=sheet,
        troubles=hub_troubles(site.live.health(), t),
        undecided=[run_line(line, None, language, t) for line in sheet.undecided],
        when=when,
        where=where,
        what=lambda event: event_word(event.type, t),
        detail=lambda event: event_detail(event, t),
        clock=clock_text,
        named=lambda names: names.get(language) or next(iter(names.values()), ""),
    )
