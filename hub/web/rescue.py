"""The page of a hub whose database is damaged or gone: how to go on, in the place of every other page."""

from __future__ import annotations

from html import escape

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hub.web.headers import SafeHeaders
from hub.web.language import language_of
from hub.web.visitor import is_here
from shared.texts import translator

_PAGE = """<!doctype html>
<html lang="{language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<h1>{title}</h1>
{paragraphs}
{commands}
</html>
"""


def create_rescue_app(commands: tuple[str, ...], *, gone: bool = False) -> Starlette:
    """An application that answers everything with 503, and at the hub itself with these commands."""

    async def answer(request: Request) -> Response:
        language, here = language_of(request), is_here(request)
        t = translator(language)
        damaged, missing = t.gettext("The hub's database is damaged"), t.gettext("The hub's database is gone")
        title = missing if gone else damaged
        sentences = [
            t.gettext("The timing at the tables goes on, and nothing of it is lost."),
            t.gettext(
                "Organisers: type this at the hub; it starts by itself when the database is whole again."
            )
            if here
            else t.gettext(
                "Organisers: this page on the hub itself, and its log, say what to type; "
                "it starts by itself when the database is whole again."
            ),
        ]
        if request.url.path == "/healthz" or request.url.path.startswith("/api/"):
            message = " ".join([f"{title}.", *sentences])
            return JSONResponse({"ok": False, "message": message}, 503)
        html = _PAGE.format(
            language=language,
            title=escape(title),
            paragraphs="\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences),
            # They name folders of the machine.
            commands=f"<pre>{escape(chr(10).join(commands))}</pre>" if here else "",
        )
        return HTMLResponse(html, 503, headers={"Content-Language": language, "Retry-After": "5"})

    return Starlette(
        routes=[Route("/{path:path}", answer, methods=["GET", "POST"])], middleware=[Middleware(SafeHeaders)]
    )
