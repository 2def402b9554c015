"""What every endpoint of one server works with, found through the request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from starlette.requests import HTTPConnection

from hub.office import Office
from hub.web.assets import Assets
from hub.web.door import Door
from hub.web.feed import Feed
from hub.web.live import Live
from hub.web.render import Renderer
from hub.web.settings import WebSettings
from hub.web.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of one server."""

    live: Live
    office: Office
    settings: WebSettings
    assets: Assets
    renderer: Renderer
    snapshots: Snapshots
    feed: Feed
    door: Door


def build_site(live: Live, office: Office, settings: WebSettings) -> Site:
    """All parts around a live view and an office."""
    assets = Assets()
    renderer = Renderer(live, settings, assets)
    return Site(
        live=live,
        office=office,
        settings=settings,
        assets=assets,
        renderer=renderer,
        snapshots=Snapshots(lambda: live.revision, renderer.fragment, settings.hand),
        feed=Feed(live, settings),
        door=Door(),
    )


def site_of(request: HTTPConnection) -> Site:
    """The site a request came to."""
    return cast(Site, request.app.state.site)
