"""The organiser's page of everything that happened: each press and ruling, and what people did to the hub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.store_audit import Deed, Stored
from hub.web.answers import form_page, whole_number
from hub.web.event_words import deed_word, event_detail, event_word
from hub.web.language import language_of
from hub.web.site import site_of
from shared.core.events import RULINGS
from shared.texts import translator

PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One line."""

    key: int
    when: str
    who: str
    what: str
    detail: str
    reason: str
    run: str


async def audit(request: Request) -> Response:
    """The newest first; of one table or one entrant if asked for."""
    query = request.query_params
    before, table = whole_number(query.get("before")), whole_number(query.get("table"), 999)
    entrant, of_people = query.get("entrant", "").strip(), query.get("of") == "people"
    if of_people:
        deeds = await run_in_threadpool(site_of(request).office.audit.deeds, before, PAGE)
        entries = [_of_deed(request, deed) for deed in deeds]
    else:
        events = await run_in_threadpool(_events, request, before, table, entrant or None)
        entries = [_of_event(request, stored) for stored in events]
    return form_page(
        request,
        "audit.html",
        entries=entries,
        more=entries[-1].key if len(entries) == PAGE else None,
        table=table,
        entrant=entrant,
        of_people=of_people,
    )


def _events(request: Request, before: int | None, table: int | None, entrant: str | None) -> list[Stored]:
    office = site_of(request).office
    if table is None and entrant is None:
        return office.audit.events(before, PAGE)
    runs = office.commands.ids_of(table, entrant)
    return office.audit.events(before, PAGE, runs, () if entrant else office.commands.devices_at(table))


def _of_event(request: Request, stored: Stored) -> Entry:
    event, t = stored.event, translator(language_of(request))
    ruling = event.type in RULINGS
    return Entry(
        key=stored.n,
        when=site_of(request).settings.moment(event.wall_ms or stored.received_ms),
        who=str(event.data.get("by", "")) if ruling else f"{event.device} · {event.seq}",
        what=event_word(event.type, t),
        detail=event_detail(event),
        reason=str(event.data.get("reason", "")) if ruling else "",
        run=event.run or "",
    )


def _of_deed(request: Request, deed: Deed) -> Entry:
    t = translator(language_of(request))
    when = site_of(request).settings.moment(deed.at_ms)
    return Entry(deed.id, when, deed.by, deed_word(deed.deed, t), deed.about, "", "")
