"""Forms: read within bounds, and believed only when a page of ours was sent from a page of ours.

Each form carries a token that is worked out from a cookie no foreign page can read: the session's, else one made
for the purpose.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response

from hub.web.refusal import Refusal
from hub.web.visitor import SESSION_COOKIE, is_encrypted

FORM_COOKIE: Final = "form"
TOKEN_FIELD: Final = "token"
MOST_BYTES: Final = 64 * 1024
_MOST_FIELDS: Final = 50
_TYPE: Final = "application/x-www-form-urlencoded"
_KEPT: Final = "form"
_NEW: Final = "form-cookie"


async def read_form(request: Request) -> None:
    """Read a form and keep it with its request. Raises Refusal."""
    if not _from_our_page(request):
        raise Refusal(403, "foreign_page")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise Refusal(415, "no_form")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise Refusal(413, "no_form")
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="replace"
        )
    except (ValueError, ClientDisconnect) as error:
        raise Refusal(400, "no_form") from error
    form = dict(fields)
    if not hmac.compare_digest(form.get(TOKEN_FIELD, "").encode(), _token(_cookie(request)).encode()):
        raise Refusal(403, "old_page")
    request.scope[_KEPT] = form


def form_of(request: HTTPConnection) -> Mapping[str, str]:
    """The fields of the form that was sent."""
    form: Mapping[str, str] = request.scope.get(_KEPT, {})
    return form


def form_token(request: HTTPConnection) -> str:
    """What the forms of a page carry; `keep_form_cookie` its answer."""
    cookie = _cookie(request)
    if not cookie:
        cookie = request.scope.setdefault(_NEW, secrets.token_urlsafe(24))
    return _token(cookie)


def keep_form_cookie(request: HTTPConnection, response: Response) -> None:
    """Give a browser that has none the cookie that its forms go with."""
    new = request.scope.get(_NEW)
    if isinstance(new, str):
        response.set_cookie(
            FORM_COOKIE, new, httponly=True, samesite="lax", secure=is_encrypted(request), path="/"
        )


def _cookie(request: HTTPConnection) -> str:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(FORM_COOKIE) or ""


def _token(cookie: str) -> str:
    """Never the one of a browser without a cookie."""
    key = cookie.encode() if cookie else secrets.token_bytes(32)
    return hmac.new(key, b"form", hashlib.sha256).hexdigest()


def _from_our_page(request: Request) -> bool:
    """What browsers tell of where a form came from; other programs tell nothing, and have no cookie either."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    hosts = (request.headers.get("host", ""), request.headers.get("x-forwarded-host", ""))
    try:
        return urlsplit(origin).netloc.lower() in {host.lower() for host in hosts if host}
    except ValueError:
        return False
