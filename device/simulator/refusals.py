"""Requests that are not answered as asked: JSON with one clear sentence in the visitor's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from device.simulator.language import language_of
from shared.texts import translator

SAFE_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer carries: nothing foreign runs in our pages, nothing is kept."""


def refusal(
    request: Request, status: int, sentence: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer to a request that is refused; with a status alone, the sentence that belongs to it."""
    t = translator(language_of(request))
    sentences = {
        403: t.gettext("The virtual tables are only for pages of this machine."),
        404: t.gettext("There is no such page, table or button here."),
        405: t.gettext("This cannot be asked in this way."),
        500: t.gettext("Something went wrong in the virtual tables. The tables themselves go on."),
    }
    text = sentence or sentences.get(status) or t.gettext("This request could not be understood.")
    return JSONResponse({"error": {"status": status, "text": text}}, status, headers=dict(headers or {}))


async def on_refusal(request: Request, error: Exception) -> Response:
    """No such address, no such method."""
    assert isinstance(error, HTTPException), "registered for it"
    return refusal(request, error.status_code, headers=error.headers)


async def on_no_table(request: Request, _error: Exception) -> Response:
    """A number no table has."""
    return refusal(request, 404)


async def on_bad_request(request: Request, error: Exception) -> Response:
    """A body that is not what was to be sent; the error says what is wrong."""
    return refusal(request, 400, str(error))


async def on_crash(request: Request, _error: Exception) -> Response:
    """Our own bug. Sent outside the layer that adds the headers, so it brings them itself."""
    return refusal(request, 500, headers=SAFE_HEADERS)
