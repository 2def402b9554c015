"""One hub for one database: a second one is refused before it touches anything."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from hub.store_schema import StoreUnusable


class HubLock:
    """Held as long as the hub runs; the system lets go of it when the process ends, however it ends."""

    def __init__(self, database: Path) -> None:
        """Raises StoreUnusable when another hub has it, or when it cannot be made."""
        path = database.with_name(f"{database.name}.lock")
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreUnusable(f"{path} cannot be made: {error.strerror}") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise StoreUnusable(
                f"another hub runs on {database}; end that one, or choose another place"
            ) from error

    def release(self) -> None:
        """Let another hub have the database."""
        os.close(self._fd)
