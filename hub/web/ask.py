"""Asking a table timer something from the page of the tables: which one it is, a self-test, a text."""

from __future__ import annotations

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from hub.asking import CannotAsk
from hub.web.answers import see
from hub.web.forms import form_of
from hub.web.refusal import Refusal
from hub.web.site import site_of
from hub.web.visitor import visitor_of
from shared.wire import Do

_DEEDS: Final = {do.value: do for do in (Do.IDENTIFY, Do.SELFTEST, Do.SHOW_TEXT)}


async def ask(request: Request) -> Response:
    """Ask it; the answer comes on the page of the tables."""
    site, form, person = site_of(request), form_of(request), visitor_of(request).person
    do, device = _DEEDS.get(form.get("deed", "")), form.get("device", "")
    if do is None or person is None or device not in {table["device"] for table in site.live.tables()}:
        raise Refusal(400, "no_table")
    text = form.get("text", "") if do is Do.SHOW_TEXT else ""
    try:
        await run_in_threadpool(site.office.asking.ask, device, do, person.name, text)
    except CannotAsk as error:
        raise Refusal(400, "no_text") from error
    return see("/tables")
