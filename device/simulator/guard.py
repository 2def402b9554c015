"""What every answer carries, and which requests get none: the buttons are for pages of this machine only."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from device.simulator.refusals import SAFE_HEADERS, refusal

THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_READING: Final = frozenset({"GET", "HEAD"})


class SafeHeaders:
    """Adds the headers to every answer that does not bring its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Guard:
    """Answers 403 to what a foreign page makes a browser send.

    Such a page may have had its name pointed here (then it names itself as Host), or post to us from
    where it is (then the browser names it as Origin). With `open_to_all` any Host will do.
    """

    def __init__(self, app: ASGIApp, *, open_to_all: bool) -> None:
        self._app = app
        self._open_to_all = open_to_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        app = self._app
        if scope["type"] == "http" and not self._may(scope["method"], Headers(scope=scope)):
            app = refusal(Request(scope), 403)
        await app(scope, receive, send)

    def _may(self, method: str, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not (self._open_to_all or _without_port(hosts[0]) in THIS_MACHINE):
            return False
        origin = headers.get("origin")
        return method in _READING or origin is None or urlsplit(origin).netloc.lower() == hosts[0].lower()


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()
