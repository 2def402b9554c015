"""A table that cannot time tells the hub why: organisers see it before anybody stands in front of it.

It connects as the table it is and says why in its status, with a will that says "offline" once it has given up.
Whoever started it starts it again in seconds, so that the lamp of such a table stays on and its problem in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from device.delivery_files import SessionFile
from device.error_codes import ErrorCode
from device.from_hub import LinkSettings
from shared import wire
from shared.broker import Connected, Report, Will
from shared.mqtt import MqttClient
from shared.topics import Topics

_MOST_LETTERS: Final = 200


class Distress:
    """The connection of a table that cannot time."""

    def __init__(
        self, link: LinkSettings, table: int, state_dir: Path, why: Sequence[tuple[ErrorCode, str]]
    ) -> None:
        """`why`: what is wrong, by number and in words. Raises ValueError, OSError for settings of no use."""
        topics = Topics(link.base)
        self._topic = topics.up_status(link.device)
        self._sessions, self._session = SessionFile(state_dir / "session"), 0
        problems = [
            {"code": "cannot_time", "number": str(code), "why": text[:_MOST_LETTERS]} for code, text in why
        ]
        self._status: dict[str, Any] = {"table": table, "health": {"problems": problems}}
        self._client = MqttClient(
            link.broker(),
            [(topics.every_down(link.device), 1)],
            self,
            self._will,
        )

    def start(self) -> None:
        """Call; with no network nobody hears it, and the display says it all the same."""
        self._client.start()

    def put(self, item: Report, /) -> None:
        """What the client reports: on each connection the status is told."""
        if isinstance(item, Connected):
            self._client.publish(self._topic, self._payload(online=True), 1, retain=True)

    def _will(self) -> Will:
        self._session = self._sessions.advance()
        return Will(self._topic, self._payload(online=False))

    def _payload(self, *, online: bool) -> bytes:
        return wire.object_payload({**self._status, "online": online, "session": self._session})


def call_for_help(
    link: LinkSettings, table: int, state_dir: Path, why: Sequence[tuple[ErrorCode, str]]
) -> None:
    """Tell the hub why this table cannot time, from now until the process ends; never an error of its own."""
    with suppress(ValueError, OSError):
        Distress(link, table, state_dir, why).start()
