"""Puts the web application together around a live view of the hub."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from hub.office import Office
from hub.store import StoreTrouble
from hub.web.errors import on_crash, on_refusal, on_trouble
from hub.web.headers import SafeHeaders
from hub.web.live import Live
from hub.web.routes import ROUTES
from hub.web.settings import WebSettings
from hub.web.site import build_site


def create_app(live: Live, office: Office, *, settings: WebSettings | None = None) -> Starlette:
    """The hub's pages and API. One application serves one event loop, once."""
    site = build_site(live, office, settings or WebSettings())

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with site.feed.running():
            yield
        site.door.close()

    app = Starlette(
        routes=list(ROUTES),
        middleware=[Middleware(SafeHeaders)],
        exception_handlers={HTTPException: on_refusal, StoreTrouble: on_trouble, Exception: on_crash},
        lifespan=lifespan,
    )
    # A redirect would name whatever host the request named.
    app.router.redirect_slashes = False
    app.state.site = site
    return app
