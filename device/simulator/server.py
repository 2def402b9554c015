"""Serves the virtual tables' pages in a thread: the port is taken before anything starts, the end is prompt."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.applications import Starlette

from device.simulator.feed import Feed

START_TIMEOUT_S: Final = 10.0
STOP_TIMEOUT_S: Final = 3.0
GRACE_S: Final = 1
"""Answers under way get so long at the end; event streams are ended before."""


class CannotListen(RuntimeError):
    """The address to serve at cannot be had; the text is one sentence for people."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises CannotListen."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(512)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            sentence = f"port {port} is taken: another program, or other virtual tables, already serve there"
            raise CannotListen(sentence) from error
        raise CannotListen(f"cannot serve pages at {host}:{port}: {error.strerror}") from error
    return sock


class Server:
    """Serves one application at a listening socket until stopped; then it is spent."""

    def __init__(
        self, app: Starlette, listening: socket.socket, feed: Feed, died: Callable[[], None]
    ) -> None:
        """`died` is called from the server's thread when it ends without having been stopped."""
        self._listening = listening
        self._died = died
        self._stopping = False
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # a visitor could name any address as its own in a header
            timeout_graceful_shutdown=GRACE_S,
        )
        self._uvicorn = _Uvicorn(config, feed)
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def start(self) -> None:
        """Comes back when requests are answered."""
        self._thread.start()
        if not self._uvicorn.decided.wait(START_TIMEOUT_S) or not self._uvicorn.started:
            self.stop()
            raise RuntimeError("the web server did not start")

    def stop(self) -> None:
        """End the streams, let answers under way finish, give the port back."""
        self._stopping = True
        self._uvicorn.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        try:
            self._uvicorn.run(sockets=[self._listening])
        finally:
            self._listening.close()
            self._uvicorn.decided.set()
            if not self._stopping:
                self._died()


class _Uvicorn(uvicorn.Server):
    """Says when it serves, and ends event streams first when it ends: they would wait for ever."""

    def __init__(self, config: uvicorn.Config, feed: Feed) -> None:
        super().__init__(config)
        self._feed = feed
        self.decided = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.decided.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._feed.close()
        await super().shutdown(sockets)
