"""Brings the hub's changes, from whatever thread, to every event stream, and ends the streams at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from hub.web.live import Live
from hub.web.settings import WebSettings
from hub.web.snapshots import Topic


class Feed:
    """The beat all streams of one server wait for. Used in the server's event loop only."""

    def __init__(self, live: Live, settings: WebSettings) -> None:
        self._live = live
        self._settle_s = settings.settle_s
        self._most = {Topic.STANDINGS: settings.public_streams, Topic.TABLES: settings.staff_streams}
        self._open = dict.fromkeys(Topic, 0)
        self._tick = asyncio.Event()
        self.closing = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow the hub while the server runs."""
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def wake() -> None:
            # A change may be told while the server ends: then nobody is left to see it.
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        unsubscribe = self._live.subscribe(wake)
        following = asyncio.create_task(self._follow(changed))
        try:
            yield
        finally:
            unsubscribe()
            following.cancel()
            self.close()

    async def _follow(self, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            changed.clear()
            self._beat()
            await asyncio.sleep(self._settle_s)

    def _beat(self) -> None:
        self._tick, past = asyncio.Event(), self._tick
        past.set()

    @property
    def tick(self) -> asyncio.Event:
        """Set at the next change: take it, then look at the hub, then wait for it, and nothing is missed."""
        return self._tick

    def close(self) -> None:
        """End all streams and let no new one begin."""
        self.closing = True
        self._beat()

    def has_place(self, topic: Topic) -> bool:
        """Whether one more stream may begin."""
        return not self.closing and self._open[topic] < self._most[topic]

    @contextmanager
    def place(self, topic: Topic) -> Iterator[None]:
        """Count a stream while it is open."""
        self._open[topic] += 1
        try:
            yield
        finally:
            self._open[topic] -= 1

    def streams(self) -> dict[str, int]:
        """How many streams are open, by topic."""
        return {str(topic): count for topic, count in self._open.items()}
