"""The endpoints people open in a browser: pages and what they are made of."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hub.web.assets import Asset
from hub.web.forms import form_token
from hub.web.language import COOKIE, COOKIE_AGE_S, asked_language, language_of
from hub.web.site import site_of
from hub.web.snapshots import Topic
from hub.web.visitor import visitor_of

FOR_EVER: Final = {"Cache-Control": "public, max-age=31536000, immutable"}
FOR_A_DAY: Final = {"Cache-Control": "public, max-age=86400"}


async def standings(request: Request) -> Response:
    """Standings of every category."""
    return _live_page(request, Topic.STANDINGS)


async def tables(request: Request) -> Response:
    """Every table as it is now."""
    return _live_page(request, Topic.TABLES)


def _live_page(request: Request, topic: Topic) -> Response:
    site, language, visitor = site_of(request), language_of(request), visitor_of(request)
    snapshot = site.snapshots.of(topic, language)
    html = site.renderer.page(
        snapshot,
        aged_ms=snapshot.aged_ms(site.settings.hand()),
        language=language,
        visitor=visitor,
        token=form_token(request) if visitor.person is not None else "",
    )
    response = HTMLResponse(html, headers={"Content-Language": language, "Vary": "Accept-Language, Cookie"})
    if asked_language(request) is not None:
        response.set_cookie(COOKIE, language, max_age=COOKIE_AGE_S, httponly=True, samesite="lax")
    return response


async def static(request: Request) -> Response:
    """A static file under its versioned name."""
    asset = site_of(request).assets.served_as(request.path_params["file"])
    if asset is None:
        raise HTTPException(404)
    return _file(asset, FOR_EVER)


async def favicon(request: Request) -> Response:
    """The icon, for browsers that ask without being told where."""
    return _file(site_of(request).assets.named("favicon.svg"), FOR_A_DAY)


def _file(asset: Asset, headers: dict[str, str]) -> Response:
    return Response(asset.content, media_type=asset.media_type, headers=headers)
