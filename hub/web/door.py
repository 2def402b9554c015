"""Where passwords are tried: apart from everything else, so that a flood of tries slows down no page."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from hub.people import TooManyTries
from hub.throttle import network_of

MOST_OF_ONE: Final = 8
"""Tries that wait at a time from one address."""
MOST: Final = 40
BUSY_S: Final = 2.0
T = TypeVar("T")


class Door:
    """One try at a time, as each takes 64 MiB and a core for a moment; called from one event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "door")
        self._waiting: Counter[str] = Counter()

    async def ask(self, address: str, what: Callable[[], T]) -> T:
        """Do what needs a password in its turn. Raises TooManyTries when too many wait."""
        network = network_of(address)
        if self._waiting[network] >= MOST_OF_ONE or self._waiting.total() >= MOST:
            raise TooManyTries(BUSY_S)
        self._waiting[network] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, what)
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network]

    def close(self) -> None:
        """No more tries; one that is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
