"""What the pages ask of the hub: one live view of standings and tables, however it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Live(Protocol):
    """The hub as the pages see it.

    Everything is called from the web server's own thread while other threads change what is behind it, often:
    each answer is one consistent snapshot and comes at once, without waiting for disk or network.
    """

    @property
    def revision(self) -> int:
        """Grows with every change that any page could show."""

    @property
    def speed(self) -> float:
        """Run clock seconds in one second of real time: 1.0, more in a demo."""

    @property
    def tournament(self) -> str:
        """The tournament's name."""

    @property
    def timer_pages(self) -> str | None:
        """Base address of the virtual tables' pages, where there are any."""

    def standings(self) -> dict[str, Any]:
        """The answer of `/api/v1/standings` (`hub.web.api.Standings`)."""

    def tables(self) -> list[dict[str, Any]]:
        """The tables of `/api/v1/tables` (`hub.web.api.Table`), in any order."""

    def health(self) -> dict[str, Any]:
        """The answer of `/healthz`: `ok` and counters."""

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` on every change, from any thread; the answer ends that."""
