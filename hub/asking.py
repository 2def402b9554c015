"""What people at the hub ask of a table timer: which one it is, a text, a self-test, its settings read again.

Kept in the database, so that pages and commands go one way: the running hub says it within a second, as long as it
is fresh, and keeps the table's answer beside it. Nothing of it is ever retained by the broker.
"""

from __future__ import annotations

import json
import secrets
from typing import Final

from hub.store import Store
from hub.table_answer import Answer, answer_from
from shared.clock import HubClock, WallClock
from shared.wire import BadPayload, Command, Do, command_from

LASTS_S: Final = 15
"""Older commands are neither said by the hub nor obeyed by a table."""
LONGEST_TEXT: Final = 40
_ASKED: Final = "asked-"
_ANSWERED: Final = "answered-"


class CannotAsk(ValueError):
    """Why nothing was asked, in a sentence that says what to do."""


class Asking:
    """The desk at which people ask. Methods raise StoreTrouble."""

    def __init__(self, store: Store, clock: HubClock, wall: WallClock) -> None:
        self._store = store
        self._clock = clock
        self._wall = wall

    def ask(self, device: str, do: Do, by: str, text: str = "") -> Command:
        """Let the running hub say it; a newer question to the same table takes its place. Raises CannotAsk."""
        text = " ".join(text.split())
        if do is Do.SHOW_TEXT and not text:
            raise CannotAsk("a text is missing")
        if len(text) > LONGEST_TEXT:
            raise CannotAsk(f"the text is too long for the display: at most {LONGEST_TEXT} letters")
        expires_ms = self._clock.now_ms() + LASTS_S * 1000
        command = Command(secrets.token_hex(6), expires_ms, self._clock.base, do, text)
        self._store.audit.note(by, f"table_{do.value}", f"{device} {text}".strip(), self._wall())
        self._store.keep_note(_ASKED + device, json.dumps(command.as_json()))
        return command

    def asked(self) -> dict[str, Command]:
        """By device what was asked last, as long as it is fresh."""
        found: dict[str, Command] = {}
        for device, text in self._store.notes(_ASKED).items():
            try:
                command = command_from(json.loads(text))
            except (BadPayload, ValueError, AttributeError):  # of a newer version, or edited by hand
                continue
            if command.base == self._clock.base and command.expires_ms > self._clock.now_ms():
                found[device] = command
        return found

    def answered(self, device: str, answer: Answer) -> None:
        """Keep what a table answered."""
        self._store.keep_note(_ANSWERED + device, json.dumps(answer.as_json()))

    def answer(self, device: str, command: Command) -> Answer | None:
        """What a table answered to a command; None as long as it has not."""
        kept = self._store.note(_ANSWERED + device)
        found = None if kept is None else answer_from(json.loads(kept))
        return found if found is not None and found.id == command.id else None
