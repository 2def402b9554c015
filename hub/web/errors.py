"""Requests that are not answered as asked: a page with one clear sentence, or JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from hub.web.access import is_staff
from hub.web.headers import SAFE_HEADERS
from hub.web.language import language_of
from hub.web.site import site_of
from shared.texts import translator


async def on_refusal(request: Request, error: Exception) -> Response:
    """A request we refuse: unknown address, wrong method, not allowed, too many."""
    if not isinstance(error, HTTPException):
        raise error
    return _answer(request, error.status_code, error.headers or {})


async def on_crash(request: Request, _error: Exception) -> Response:
    """Our own bug: the visitor is told, the server logs it and lives on.

    This answer is sent outside the layer that adds the headers, so it brings them itself.
    """
    return _answer(request, 500, SAFE_HEADERS)


def sentence(status: int, t: NullTranslations) -> str:
    """What went wrong and what to do, in the visitor's language."""
    sentences = {
        403: t.gettext("This page is only for the organisers, at the hub's own screen and keyboard."),
        404: t.gettext("There is no such page here."),
        405: t.gettext("This page can only be looked at."),
        500: t.gettext("Something went wrong in the hub. The timing goes on; please tell the organisers."),
        503: t.gettext("Too many people are watching live right now. Please load the page again shortly."),
    }
    return sentences.get(status) or t.gettext("This request could not be understood.")


def _answer(request: Request, status: int, headers: Mapping[str, str]) -> Response:
    language = language_of(request)
    text = sentence(status, translator(language))
    if _is_program(request):
        return JSONResponse({"error": {"status": status, "text": text}}, status, headers=dict(headers))
    html = site_of(request).renderer.problem(status, text, language=language, staff=is_staff(request))
    return HTMLResponse(html, status, headers={"Content-Language": language, **headers})


def _is_program(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    if request.url.path.startswith("/api/") or "text/event-stream" in accept:
        return True
    return "application/json" in accept and "text/html" not in accept
