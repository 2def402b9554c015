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
from hub.web.visitor import visitor_of
from shared.texts import translator


async def standings(request: Request) -> Response:
    """Standings of every category; what problems name of logs and runs is for staff."""
    told = site_of(request).live.standings()
    return JSONResponse(told if visitor_of(request).staff else for_visitors(told))


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


def for_visitors(told: Any) -> Any:
    """Standings whose problems say what is wrong, with its numbers, and not where it stands.

    The ids of logs and runs are drawn at random so that one table cannot name another's.
    """
    if isinstance(told, Mapping):
        return {
            name: [_without_place(problem) for problem in value]
            if name == "problems"
            else for_visitors(value)
            for name, value in told.items()
        }
    return [for_visitors(value) for value in told] if isinstance(told, list) else told


def _without_place(problem: Any) -> Any:
    if not isinstance(problem, Mapping):
        return problem
    return {
        name: value
        for name, value in problem.items()
        if name in ("code", "level")
        or (name != "seq" and (value is None or isinstance(value, bool | int | float)))
    }


def numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report, what everyone may see: yes or no, and counts. Words can hold names, paths, addresses."""
    seen: dict[str, Any] = {}
    for name, value in report.items():
        if isinstance(value, Mapping):
            seen[name] = numbers(value)
        elif value is None or isinstance(value, bool | int | float):
            seen[name] = value
    return seen
