"""Event streams: a full snapshot at once and at each change, and a sign of life in between.

Each message carries everything, so that a page that was away is in step after one; a reader too slow for the
changes skips to the newest, as nothing is queued for it. A stream for staff ends with its login.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from hub.web.access import Access
from hub.web.language import language_of
from hub.web.site import Site, site_of
from hub.web.snapshots import Topic
from hub.web.visitor import identify

RETRY_AFTER_S: Final = 10
STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
STREAM_TYPE: Final = "text/event-stream; charset=utf-8"
Allowed = Callable[[], Awaitable[bool]]
"""Whether who watches still may."""


async def standings_events(request: Request) -> Response:
    """The standings page's stream."""
    return _stream(request, Topic.STANDINGS)


async def tables_events(request: Request) -> Response:
    """The tables page's stream."""

    async def still_allowed() -> bool:
        visitor = await identify(request)
        return (
            Access.STAFF.allows(visitor) or visitor.trouble != ""
        )  # a database that is away logs nobody out

    return _stream(request, Topic.TABLES, still_allowed)


def _stream(request: Request, topic: Topic, allowed: Allowed | None = None) -> Response:
    site, language = site_of(request), language_of(request)
    if "once" in request.query_params:
        # For pages whose stream does not get through, or found no place.
        snapshot = site.snapshots.of(topic, language)
        return PlainTextResponse(snapshot.message(site.settings.hand(), site.assets.version))
    if request.method == "HEAD":
        return Response(headers=STREAM_HEADERS, media_type=STREAM_TYPE)
    if not site.feed.has_place(topic):
        raise HTTPException(503, headers={"Retry-After": str(RETRY_AFTER_S)})
    return _Stream(site, topic, language, allowed)


class _Stream(EventSourceResponse):
    """One page's stream, in a place of its own until it ends."""

    def __init__(self, site: Site, topic: Topic, language: str, allowed: Allowed | None) -> None:
        super().__init__(
            self._messages(site, topic, language, allowed),
            headers=STREAM_HEADERS,
            media_type=STREAM_TYPE,
            ping=site.settings.heartbeat_s,
            ping_message_factory=lambda: _event("beat", str(site.live.revision)),
            sep="\n",
        )
        self._place = site.feed.place(topic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            await super().__call__(scope, receive, send)

    @staticmethod
    async def _messages(
        site: Site, topic: Topic, language: str, allowed: Allowed | None
    ) -> AsyncIterator[ServerSentEvent]:
        sent, settings = None, site.settings
        loop = asyncio.get_running_loop()
        check_at_s = loop.time() + settings.recheck_s
        while not site.feed.closing:
            tick = site.feed.tick
            snapshot = site.snapshots.of(topic, language)
            if snapshot is not sent:
                sent = snapshot
                message = snapshot.message(settings.hand(), site.assets.version)
                yield _event("snapshot", message)
            if allowed is None:
                await tick.wait()
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(tick.wait(), max(0.0, check_at_s - loop.time()))
            if loop.time() >= check_at_s:
                if not await allowed():
                    return
                check_at_s = loop.time() + settings.recheck_s


def _event(name: str, data: str) -> ServerSentEvent:
    return ServerSentEvent(event=name, data=data, sep="\n")
