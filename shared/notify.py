"""Telling systemd that a table or the hub is ready and alive: datagrams to $NOTIFY_SOCKET, no package needed.

Fed from the main loop only, so that a loop that stands still is noticed; what the table can do without
(display, broker, hub) has no say in it.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from typing import Final

EVERY_S: Final = 1.0
"""Between two signs of life; units wait ten times as long."""


class Notify:
    """The socket of whoever started this process; without one nothing is said."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._fed_s: float | None = None
        self._status = ""

    @property
    def heard(self) -> bool:
        """Whether somebody who starts this process again listens."""
        return bool(self._address)

    def ready(self, status: str = "") -> None:
        """All that is needed works."""
        self._status = status
        self._say("READY=1", status)

    def alive(self, now: float) -> None:
        """The main loop has made a pass at `now` (hand time) and all it needs lives."""
        if self._fed_s is None or now - self._fed_s >= EVERY_S:
            self._fed_s = now
            self._say("WATCHDOG=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status` and for the installer; said once until it is another."""
        if text != self._status:
            self._status = text
            self._say("", text)

    def stopping(self) -> None:
        """The end was asked for."""
        self._say("STOPPING=1")

    def _say(self, what: str, status: str = "") -> None:
        if not self._address:
            return
        lines = [what, f"STATUS={status}" if status else ""]
        message = "\n".join(line for line in lines if line)
        # a full or vanished socket must not stop a table; a watchdog that hears nothing knows what to do
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
            to.setblocking(False)
            to.connect(self._address)
            to.send(message.encode())
