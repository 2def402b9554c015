"""One connection of a browser: a request has to come whole within some seconds, and there are not too many."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from hub.throttle import network_of
from hub.web.crowd import Crowd

REQUEST_S: Final = 10.0
"""From its first byte (of a new connection: from its beginning) to the end of its form."""
_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 10\r\n"
    b"Content-Length: 52\r\nConnection: close\r\n\r\nToo many connections: please try again in a moment.\n"
)


class BoundedConnection(H11Protocol):
    """uvicorn's own protocol with the limits that it lacks; `crowd` and `request_s` are set by `bounded`."""

    crowd: Crowd
    request_s: float
    address = ""
    _too_late: asyncio.TimerHandle | None = None
    _heard = False

    @property
    def waiting(self) -> bool:
        """Whether nothing is being answered."""
        return self.conn.their_state is h11.IDLE or self._slow_to_ask

    @property
    def _slow_to_ask(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connected."""
        super().connection_made(transport)
        self.address = "" if self.client is None else network_of(self.client[0])
        if self.crowd.takes(self):
            self._arm()
        else:
            transport.write(_TOO_MANY)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Part of a request came."""
        self._heard = True
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """An answer is out; the next request may be here in part already."""
        super().on_response_complete()
        if self._slow_to_ask:
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._disarm()
        self.crowd.left(self)
        super().connection_lost(exc)

    def end(self) -> None:
        """Close it at once."""
        self._disarm()
        self.transport.abort()

    def _look(self) -> None:
        if self.waiting:
            self._arm()
        else:
            self._disarm()

    def _arm(self) -> None:
        if self._too_late is None and not self.transport.is_closing():
            self._too_late = self.loop.call_later(self.request_s, self._give_up)

    def _disarm(self) -> None:
        if self._too_late is not None:
            self._too_late.cancel()
            self._too_late = None

    def _give_up(self) -> None:
        self._too_late = None
        if self.transport.is_closing():
            return
        answering = self.cycle is not None and not self.cycle.response_complete
        if self._heard and not (answering and self.cycle.response_started):
            # Not to who has said nothing: browsers keep a connection ready, and would show this for an answer.
            self.transport.write(_TOO_SLOW)
        self.transport.close()


def bounded(crowd: Crowd, request_s: float = REQUEST_S) -> type[BoundedConnection]:
    """The protocol of one server."""
    limits: dict[str, Any] = {"crowd": crowd, "request_s": request_s}
    return type("Connection", (BoundedConnection,), limits)
