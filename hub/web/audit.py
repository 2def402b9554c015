"""The organiser's page of everything that happened: each press and ruling, and what people did to the hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.store_audit import Stored
from hub.web.answers import form_page, whole_number
from hub.web.audit_view import Entry, of_deed, of_event
from hub.web.language import language_of
from hub.web.site import Site, site_of
from shared.texts import translator

PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the audit was asked for."""

    table: int | None
    entrant: str
    of_people: bool

    @classmethod
    def by(cls, query: Mapping[str, str]) -> Self:
        """As an address says it; what cannot be read is not asked for."""
        table = whole_number(query.get("table"), 999)
        return cls(table, query.get("entrant", "").strip(), query.get("of") == "people")

    def query(self) -> str:
        """The same in an address, to be followed by `before`."""
        if self.of_people:
            return "of=people&"
        named = {"table": self.table, "entrant": self.entrant}
        asked = {name: value for name, value in named.items() if value not in (None, "")}
        return urlencode(asked) + "&" if asked else ""


async def audit(request: Request) -> Response:
    """The newest first; of one table or one entrant if asked for."""
    site, language = site_of(request), language_of(request)
    wanted, before = Wanted.by(request.query_params), whole_number(request.query_params.get("before"))
    entries = await run_in_threadpool(page_of, site, wanted, language, before=before)
    return form_page(
        request,
        "audit.html",
        entries=entries,
        more=entries[-1].key if len(entries) == PAGE else None,
        wanted=wanted,
    )


def page_of(
    site: Site, wanted: Wanted, language: str, *, before: int | None = None, after: int | None = None
) -> list[Entry]:
    """Entries before or after one, in words."""
    t, moment = translator(language), site.settings.moment
    if wanted.of_people:
        return [of_deed(deed, moment, t) for deed in site.office.audit.deeds(before, PAGE, after=after)]
    events = events_of(site, wanted, before=before, after=after)
    commands = site.office.commands
    steps = commands.steps({stored.event.run for stored in events if stored.event.run is not None})
    names = commands.names()
    return [of_event(stored, steps, names.of, moment, t) for stored in events]


def events_of(
    site: Site, wanted: Wanted, *, before: int | None = None, after: int | None = None
) -> list[Stored]:
    """Stored events before or after one."""
    commands, stored = site.office.commands, site.office.audit
    if wanted.table is None and not wanted.entrant:
        return stored.events(before, PAGE, after=after)
    runs = commands.ids_of(wanted.table, wanted.entrant or None)
    devices = () if wanted.entrant else commands.devices_at(wanted.table)
    entrants = commands.names().ids_named(wanted.entrant) if wanted.entrant else ()
    return stored.events(before, PAGE, runs, devices, entrants, after=after)
