"""Pages with forms: made for one visitor, in the own language, with the token that the forms need."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hub.web.forms import form_token, keep_form_cookie
from hub.web.language import COOKIE, COOKIE_AGE_S, asked_language, language_of
from hub.web.site import site_of
from hub.web.visitor import visitor_of


def form_page(request: Request, template: str, status: int = 200, **names: object) -> Response:
    """A page that is made anew for each request."""
    language = language_of(request)
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    html = site_of(request).renderer.form_page(
        template,
        language=language,
        visitor=visitor_of(request),
        token=form_token(request),
        keep=urlencode(kept) + "&" if kept else "",
        **names,
    )
    response = HTMLResponse(html, status, headers={"Content-Language": language})
    keep_form_cookie(request, response)
    if asked_language(request) is not None:
        response.set_cookie(COOKIE, language, max_age=COOKIE_AGE_S, httponly=True, samesite="lax")
    return response


def see(path: str, **query: str) -> RedirectResponse:
    """Go and look at another page of ours, so that a reload does not send the form again."""
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)


def own_path(path: str, otherwise: str) -> str:
    """A path on this server, whatever was asked for."""
    local = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if local and path.isprintable() else otherwise


def whole_number(text: str | None, most: int = 2**53 - 1) -> int | None:
    """A number that was typed, or None for anything else."""
    text = (text or "").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 16:
        return None
    return int(text) if int(text) <= most else None
