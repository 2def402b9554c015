"""From the tables' threads to the pages' event streams: each change wakes every stream, which takes the newest."""

from __future__ import annotations

import asyncio
from typing import Final

BEAT_S: Final = 3.0
"""Between two signs of life on a stream."""


class Feed:
    """A tick that streams wait for; `changed` may be called from any thread, also before and after the rest."""

    def __init__(self) -> None:
        self.closing = False
        self.tick = asyncio.Event()
        """Set at the next change, and replaced: take it before looking, then `wait` for it."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Called in the event loop before anything is served."""
        self._loop = asyncio.get_running_loop()

    def changed(self, _table: int = 0) -> None:
        """Something can be seen anew."""
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._wake)
            except RuntimeError:  # the loop has ended: nobody looks any more
                return

    def close(self) -> None:
        """All streams end."""
        self.closing = True
        self.changed()

    @staticmethod
    async def wait(tick: asyncio.Event) -> bool:
        """Wait for a tick; False when it did not come within `BEAT_S`."""
        try:
            await asyncio.wait_for(tick.wait(), BEAT_S)
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        tick, self.tick = self.tick, asyncio.Event()
        tick.set()
