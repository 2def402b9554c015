"""Fingers of pages: a button held by a page goes up when the page does not say again that it holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from device.debounce import Button

LEASE_S: Final = 4.0
"""A page says every second that it still holds; a phone that left the room says nothing more."""


class Fingers:
    """Which page holds what; belongs to the event loop."""

    def __init__(
        self,
        down: Callable[[int, Button], None],
        up: Callable[[int, Button], None],
        lease_s: float = LEASE_S,
    ) -> None:
        self._down, self._up = down, up
        self._lease_s = lease_s
        self._leases: dict[tuple[int, Button], asyncio.TimerHandle] = {}

    def hold(self, table: int, button: Button) -> None:
        """A finger comes down, or is still down. Raises NoSuchTable."""
        self._down(table, button)
        self._forget(table, button)
        loop = asyncio.get_running_loop()
        self._leases[table, button] = loop.call_later(self._lease_s, self.release, table, button)

    def release(self, table: int, button: Button) -> None:
        """It goes up. Raises NoSuchTable."""
        self._forget(table, button)
        self._up(table, button)

    def _forget(self, table: int, button: Button) -> None:
        lease = self._leases.pop((table, button), None)
        if lease is not None:
            lease.cancel()
