"""The endpoints for programs: JSON, read only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hub.web.api import openapi
from hub.web.language import language_of
from hub.web.site import site_of
from hub.web.troubles import hub_troubles
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
    backups_ok = str(report.get("backup", "ok")) == "ok"
    message = " ".join(hub_troubles(report, translator(language_of(request))))
    answer = {**counters, "ok": ok, "backups_ok": backups_ok, "message": message}
    answer["streams"] = site.feed.streams()
    return JSONResponse(answer, 200 if ok else 503)


def numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report, what everyone may see: yes or no, and counts. Words can hold names, paths, addresses."""
    seen: dict[str, Any] = {}
    for name, value in report.items():
        if isinstance(value, Mapping):
            seen[name] = numbers(value)
        elif value is None or isinstance(value, bool | int | float):
            seen[name] = value
    return seen
