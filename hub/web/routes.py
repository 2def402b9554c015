"""Every address of the hub's web server, with who may see it."""

from __future__ import annotations

from typing import Final

from hub.web import (
    ask,
    audit,
    audit_export,
    data,
    entry,
    judge,
    organiser,
    pages,
    people_page,
    sheets,
    stream,
)
from hub.web.access import Access, GuardedRoute

PUBLIC, STAFF = Access.PUBLIC, Access.STAFF
FORM: Final = ("GET", "POST")

ROUTES: Final = (
    GuardedRoute("/", pages.standings, PUBLIC),
    GuardedRoute("/events", stream.standings_events, PUBLIC),
    GuardedRoute("/tables", pages.tables, STAFF),
    GuardedRoute("/tables/ask", ask.ask, Access.JUDGE, methods=("POST",)),
    GuardedRoute("/tables/events", stream.tables_events, STAFF),
    GuardedRoute("/judge", judge.judge, Access.JUDGE),
    GuardedRoute("/judge/run", judge.run, Access.JUDGE, methods=FORM),
    GuardedRoute("/people", people_page.people, Access.ORGANISER, methods=FORM),
    GuardedRoute("/organiser", organiser.organiser, Access.ORGANISER, methods=FORM),
    GuardedRoute("/sheets", sheets.sheets, Access.ORGANISER),
    GuardedRoute("/audit", audit.audit, Access.ORGANISER),
    GuardedRoute("/audit.csv", audit_export.as_csv, Access.ORGANISER),
    GuardedRoute("/audit.jsonl", audit_export.as_json_lines, Access.ORGANISER),
    GuardedRoute("/login", entry.log_in, PUBLIC, methods=FORM),
    GuardedRoute("/setup", entry.set_up, Access.HERE, methods=FORM),
    GuardedRoute("/me", entry.me, Access.JUDGE, methods=FORM),
    GuardedRoute("/api/v1/standings", data.standings, PUBLIC),
    GuardedRoute("/api/v1/tables", data.tables, STAFF),
    GuardedRoute("/api/v1/openapi.json", data.description, PUBLIC),
    GuardedRoute("/healthz", data.health, PUBLIC),
    GuardedRoute("/static/{file}", pages.static, PUBLIC),
    GuardedRoute("/favicon.ico", pages.favicon, PUBLIC),
)
