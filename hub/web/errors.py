"""Requests that are not answered as asked: a page with one clear sentence, or JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from hub.store import StoreTrouble
from hub.web.answers import own_path
from hub.web.headers import SAFE_HEADERS
from hub.web.language import language_of
from hub.web.refusal import Refusal
from hub.web.site import site_of
from hub.web.troubles import database_sentence
from hub.web.visitor import visitor_of
from shared.texts import translator


async def on_refusal(request: Request, error: Exception) -> Response:
    """A request we refuse: unknown address, wrong method, not allowed, too many."""
    if not isinstance(error, HTTPException):
        raise error
    code = error.code if isinstance(error, Refusal) else ""
    return _answer(request, error.status_code, error.headers or {}, code)


async def on_trouble(request: Request, error: Exception) -> Response:
    """The database is locked, full, damaged or failing: nothing was changed."""
    code = error.code if isinstance(error, StoreTrouble) else "failing"
    return _answer(request, 503, {}, code)


async def on_crash(request: Request, _error: Exception) -> Response:
    """Our own bug: the visitor is told, the server logs it and lives on.

    This answer is sent outside the layer that adds the headers, so it brings them itself.
    """
    return _answer(request, 500, SAFE_HEADERS)


def sentence(status: int, code: str, t: NullTranslations) -> str:
    """What went wrong and what to do, in the visitor's language."""
    nothing = t.gettext("Nothing was changed.")
    by_code = {
        "staff": t.gettext("This page is only for judges and organisers. Log in with your name."),
        "judge": t.gettext("This page is only for judges and organisers. Log in with your name."),
        "organiser": t.gettext("This page is only for organisers. Log in as one."),
        "here": t.gettext("This page is only shown at the hub's own screen and keyboard."),
        "foreign_page": t.gettext("Nothing was changed: the form did not come from a page of this hub."),
        "old_page": t.gettext(
            "Nothing was changed: the page with the form is too old. Go back, load it again, and send it again."
        ),
        "no_table": t.gettext("Nothing was asked: there is no such table timer here."),
        "no_text": t.gettext("Nothing was asked: write a text of 1 to 40 letters for the display."),
        "no_run": t.gettext("There is no such run here."),
        "locked": t.gettext("Nothing was changed: the hub is busy. Try again in some seconds."),
        **{code: f"{nothing} {database_sentence(code, t)}" for code in ("full", "damaged", "failing")},
    }
    sentences = {
        404: t.gettext("There is no such page here."),
        405: t.gettext("This page can only be looked at."),
        500: t.gettext("Something went wrong in the hub. The timing goes on; please tell the organisers."),
        503: t.gettext("Too many people are watching live right now. Please load the page again shortly."),
    }
    return by_code.get(code) or sentences.get(status) or t.gettext("This request could not be understood.")


def _answer(request: Request, status: int, headers: Mapping[str, str], code: str = "") -> Response:
    language = language_of(request)
    text = sentence(status, code, translator(language))
    if _is_program(request):
        return JSONResponse({"error": {"status": status, "text": text}}, status, headers=dict(headers))
    visitor, log_in_to = visitor_of(request), ""
    if status == 403 and code in ("staff", "judge", "organiser") and not visitor.organises:
        log_in_to = own_path(request.url.path, "/")
        log_in_to += f"?{request.url.query}" if request.url.query else ""
    html = site_of(request).renderer.problem(
        status, text, language=language, visitor=visitor, log_in_to=log_in_to
    )
    return HTMLResponse(html, status, headers={"Content-Language": language, **headers})


def _is_program(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    if request.url.path.startswith("/api/") or "text/event-stream" in accept:
        return True
    return "application/json" in accept and "text/html" not in accept
