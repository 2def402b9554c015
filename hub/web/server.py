"""Runs the web application in a thread: the port is taken before anything starts, the end is prompt."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.applications import Starlette

from hub.web.connection import REQUEST_S, bounded
from hub.web.crowd import BURST, Crowd
from hub.web.open_files import room_for_files
from hub.web.site import Site

START_TIMEOUT_S: Final = 10.0
STOP_TIMEOUT_S: Final = 5.0
GRACE_S: Final = 1
"""Answers under way get this long at the end; event streams are told to end before."""
PEER_LOST_MS: Final = 30_000
"""A peer that takes no byte for this long is gone (a phone that left the hall never says so)."""

log = logging.getLogger(__name__)


class CannotListen(RuntimeError):
    """The address to serve at cannot be had."""


class PortTaken(CannotListen):
    """Another program (or another hub) already serves at this port."""


class Server:
    """Serves one application until stopped; then it is spent.

    `died`, if given, is called from the server's thread when it ends without having been stopped.
    """

    def __init__(
        self,
        app: Starlette,
        *,
        host: str,
        port: int,
        died: Callable[[], None] | None = None,
        request_s: float = REQUEST_S,
    ) -> None:
        self._host = host
        self._asked_port = port
        self._died = died
        self._stopping = False
        self._port: int | None = None
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=bounded(Crowd(room_for_files()), request_s),
            backlog=BURST,
            ws="none",
            lifespan="on",
            log_config=None,
            # Of each broken request there would be a line: whoever sends them fills the disk.
            log_level="error",
            access_log=False,
            server_header=False,
            # A visitor could name any address as its own in a header.
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
        )
        self._uvicorn = _Uvicorn(config, getattr(app.state, "site", None))
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port served at; for port 0, the one the system chose."""
        if self._port is None:
            raise RuntimeError("the server was never started")
        return self._port

    def start(self) -> None:
        """Take the port, then serve; comes back when requests are answered.

        Raises PortTaken or CannotListen before anything is started.
        """
        listening = listen(self._host, self._asked_port)
        self._port = listening.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listening,), name="web", daemon=True)
        self._thread.start()
        if not self._uvicorn.decided.wait(START_TIMEOUT_S) or not self._uvicorn.started:
            self.stop()
            raise RuntimeError("the web server did not start; the log says why")
        log.info("pages at http://%s:%d/", self._host or "*", self.port)

    def stop(self) -> None:
        """End all streams, let answers under way finish, give the port back. Harmless when stopped before."""
        self._stopping = True
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT_S)

    def _run(self, listening: socket.socket) -> None:
        try:
            self._uvicorn.run(sockets=[listening])
        finally:
            listening.close()
            self._uvicorn.decided.set()
            if not self._stopping and self._died is not None:
                self._died()


class _Uvicorn(uvicorn.Server):
    """Says when it serves, and ends event streams first when it ends: they would wait for ever."""

    def __init__(self, config: uvicorn.Config, site: Site | None) -> None:
        super().__init__(config)
        self._site = site
        self.decided = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.decided.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._site is not None:
            self._site.feed.close()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            # Its peer takes nothing: what is left for it would keep the connection open.
            connection.transport.abort()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; raises PortTaken or CannotListen with a sentence for people."""
    try:
        family, *_, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise CannotListen(f"cannot serve pages at {host}:{port}: {error.strerror or error}") from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux only
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, PEER_LOST_MS)
        sock.bind(address)
        sock.listen(BURST)
    except OSError as error:
        sock.close()
        where = f"{host or '*'}:{port}"
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"port {port} at {where} is taken: another program, or another hub, already serves there"
            ) from error
        raise CannotListen(f"cannot serve pages at {where}: {error.strerror}") from error
    sock.set_inheritable(False)
    return sock
