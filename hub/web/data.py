"""The endpoints for programs: JSON, read only."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hub.web.api import openapi
from hub.web.language import language_of
from hub.web.site import site_of
from shared.texts import translator


async def standings(request: Request) -> Response:
    """Standings of every category."""
    return JSONResponse(site_of(request).live.standings())


async def tables(request: Request) -> Response:
    """Every table as it is now."""
    return JSONResponse({"tables": site_of(request).live.tables()})


async def description(_request: Request) -> Response:
    """The OpenAPI description of this API."""
    return JSONResponse(openapi())


async def health(request: Request) -> Response:
    """Whether the hub works: 200 or 503."""
    site = site_of(request)
    report = site.live.health()
    counters = numbers(report)
    ok = counters.get("ok") is True
    message = trouble_sentence(report, translator(language_of(request)))
    answer = {**counters, "ok": ok, "message": message, "streams": site.feed.streams()}
    return JSONResponse(answer, 200 if ok else 503)


def trouble_sentence(report: Mapping[str, Any], t: NullTranslations) -> str:
    """What keeps the hub from taking what tables send, and what to do; empty when nothing does."""
    database = report.get("database", "ok")
    sentences = {
        "locked": t.gettext("Another program holds the hub's database: end it. The tables keep everything."),
        "full": t.gettext("The hub's disk is full: make room on it. The tables keep everything."),
        "damaged": t.gettext("The hub's database is damaged: restart the hub, it says how to go on."),
        "failing": t.gettext("The hub's disk does not work: see the hub's log. The tables keep everything."),
    }
    if database != "ok":
        return sentences.get(str(database), sentences["failing"])
    if report.get("connected") is False:
        return t.gettext("The hub does not reach its broker. The tables keep everything.")
    return ""


def numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report, what everyone may see: yes or no, and counts. Words can hold names, paths, addresses."""
    seen: dict[str, Any] = {}
    for name, value in report.items():
        if isinstance(value, Mapping):
            seen[name] = numbers(value)
        elif value is None or isinstance(value, bool | int | float):
            seen[name] = value
    return seen
