"""The network between tables and broker: a TCP proxy in which each client's way can be cut, darkened or slowed."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from shared.clock import monotonic

_CHUNK: Final = 16_384
_CONNECT_BYTES: Final = 400
"""A client names itself at the very beginning of its first packet."""


@dataclass(frozen=True, slots=True)
class Way:
    """How it is between one client and the broker."""

    open: bool = True
    up: bool = True
    down: bool = True
    late_s: float = 0.0


class Proxy:
    """Listens on a port of its own for as long as it lives; everything else changes by `set`."""

    def __init__(self, broker_port: int, names: Sequence[str]) -> None:
        """`names` are the client ids it tells apart; any other client passes freely."""
        self._broker_port = broker_port
        self._names = {len(name).to_bytes(2, "big") + name.encode(): name for name in names}
        self._ways = dict.fromkeys(names, Way())
        self._changed = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._writers: dict[str, set[asyncio.StreamWriter]] = {name: set() for name in names}
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Close everything."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop.close()

    def set(self, names: Sequence[str], way: Way) -> None:
        """From now on it is like this for these clients."""
        self._loop.call_soon_threadsafe(self._set, names, way)

    def _set(self, names: Sequence[str], way: Way) -> None:
        self._ways |= dict.fromkeys(names, way)
        if not way.open:
            for name in names:
                for writer in self._writers[name]:
                    writer.transport.abort()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._client, sock=self._listening)
        await self._ended.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # a peer that was reset, or a broker that is down: both are what this proxy is for
        with suppress(OSError, asyncio.CancelledError):
            await self._joined(reader, writer)
        writer.transport.abort()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(_CHUNK)
        name = next((n for said, n in self._names.items() if said in first[:_CONNECT_BYTES]), None)
        if name is not None and not self._ways[name].open:
            return
        there, here = await asyncio.open_connection("127.0.0.1", self._broker_port)
        mine = self._writers[name] if name is not None else set()
        mine |= {writer, here}
        up = asyncio.create_task(self._pump(name, reader, here, first, up=True))
        down = asyncio.create_task(self._pump(name, there, writer, b"", up=False))
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
        finally:
            mine -= {writer, here}
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            here.transport.abort()

    async def _pump(
        self,
        name: str | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        first: bytes,
        *,
        up: bool,
    ) -> None:
        chunk = first or await reader.read(_CHUNK)
        read_s = monotonic()
        while chunk:
            way = await self._passes(name, up=up)
            await asyncio.sleep(max(0.0, read_s + way.late_s - monotonic()))
            writer.write(chunk)
            await writer.drain()
            chunk = await reader.read(_CHUNK)
            read_s = monotonic()

    async def _passes(self, name: str | None, *, up: bool) -> Way:
        """Wait until bytes of this client may pass in this direction."""
        while True:
            way = Way() if name is None else self._ways[name]
            if way.up if up else way.down:
                return way
            await self._changed.wait()
