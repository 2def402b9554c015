"""Which board this card belongs to: the first it woke up on, until someone says otherwise.

A copied card would bring two tables under one name to the hub. So on another board it times on its own and
stays offline. The card also remembers whose the current log is: two boards never give the same seq of one log.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from device.disk import replace_file


@dataclass(frozen=True, slots=True)
class Owner:
    """Serial numbers: of the board the card belongs to, and of the one that began the current log."""

    board: str
    log_of: str


class Identity:
    """A small file beside the journal."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "board.json"
        self._owner = self._read()

    def _read(self) -> Owner | None:
        try:
            value = json.loads(self._path.read_bytes())
            owner = Owner(value["board"], value["log_of"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return owner if isinstance(owner.board, str) and isinstance(owner.log_of, str) else None

    def copied(self, serial: str | None) -> bool:
        """Whether the card belongs to another board than this one; False where boards have no number."""
        return serial is not None and self._owner is not None and self._owner.board != serial

    def log_is_of_another(self, serial: str | None) -> bool:
        """Whether another board began the current log."""
        return serial is not None and self._owner is not None and self._owner.log_of != serial

    def woke_up(self, serial: str | None) -> None:
        """This board begins to write the current log; the first one ever owns the card. Raises OSError."""
        if serial is not None:
            board = serial if self._owner is None else self._owner.board
            self._keep(Owner(board, serial))

    def adopt(self, serial: str) -> None:
        """The card belongs to this board from now on. Raises OSError."""
        owner = self._owner or Owner(serial, serial)
        self._keep(replace(owner, board=serial))

    def _keep(self, owner: Owner) -> None:
        if owner != self._owner:
            replace_file(self._path, json.dumps(asdict(owner)).encode())
            self._owner = owner
