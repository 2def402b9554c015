"""Where passwords are tried: apart from everything else, so that a flood of tries slows down no page.

Names that somebody here has wait in lines of their own, so that who floods the door with made-up ones keeps nobody
out, even from the same address. While that goes on it can be told which names there are; it is loud, and names are
no secret.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from hub.people import TooManyTries
from hub.throttle import network_of

MOST_OF_ONE: Final = 2
"""Tries with one name from one address that wait at a time; all made-up names are one."""
MOST_UNKNOWN: Final = 8
"""Tries with made-up names that wait at a time."""
BUSY_S: Final = 2.0
T = TypeVar("T")


class Door:
    """One try at a time, as each takes 64 MiB and a core for a moment; called from one event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "door")
        self._waiting: Counter[tuple[str, str]] = Counter()

    async def ask(self, address: str, name: str | None, what: Callable[[], T]) -> T:
        """Do what needs a password in its turn; `name` is None for one that nobody has.

        Raises TooManyTries when too many wait.
        """
        line = network_of(address), name or ""
        unknown = sum(count for (_, named), count in self._waiting.items() if not named)
        if self._waiting[line] >= MOST_OF_ONE or (not name and unknown >= MOST_UNKNOWN):
            raise TooManyTries(BUSY_S)
        self._waiting[line] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, what)
        finally:
            self._waiting[line] -= 1
            if not self._waiting[line]:
                del self._waiting[line]

    def close(self) -> None:
        """No more tries; one that is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
