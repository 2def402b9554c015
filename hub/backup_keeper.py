"""When the running hub makes a backup: at the start of each heat, and every ten minutes in which something came."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from hub.backup import BackupFailed, keep_backup
from shared.clock import HandClock, WallClock, monotonic, wall_ms
from shared.core.events import Event, EventType

EVERY_S: Final = 600.0
RETRY_S: Final = 30.0


class BackupKeeper:
    """Makes backups in a thread of its own: a slow card must not hold up commits or pages."""

    def __init__(
        self,
        database: Path,
        died: Callable[[BaseException], None],
        *,
        every_s: float = EVERY_S,
        hand: HandClock = monotonic,
        wall: WallClock = wall_ms,
    ) -> None:
        """`died` hears of an error of ours."""
        self._database = database
        self._died = died
        self._every_s = every_s
        self._hand = hand
        self._wall = wall
        self._heats: set[str] = set()
        self._news = threading.Condition()
        self._why = ""
        """A backup is wanted at once, and for what."""
        self._changed = False
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="backup", daemon=True)
        self.trouble = ""
        """Why the last backup was not made; empty when it was."""
        self.code = "ok"
        """The same in one word: `ok`, or the code of BackupFailed."""
        self.made = 0

    def start(self) -> None:
        """Begin; nothing is written before something happens."""
        self._thread.start()

    def stop(self) -> None:
        """End; a backup under way is finished first."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
        if self._thread.ident is not None:
            self._thread.join(10.0)

    def knows(self, events: Iterable[Event]) -> None:
        """These were there before: their heats have begun already."""
        self._heats |= _heats_begun(events)

    def saw(self, events: Iterable[Event]) -> None:
        """These were committed just now."""
        events = list(events)
        begun = _heats_begun(events) - self._heats
        with self._news:
            self._changed = self._changed or bool(events)
            if begun:
                self._heats |= begun
                self._why = f"heat {min(begun)}"
                self._news.notify_all()

    def _run(self) -> None:
        try:
            self._keep()
        except Exception as error:  # noqa: BLE001 - a bug of ours: the owner must end the process
            self._died(error)

    def _keep(self) -> None:
        due_s = self._hand() + self._every_s
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stopping or self._why, max(0.0, due_s - self._hand()))
                if self._stopping:
                    return
                why = self._why or ("by the clock" if self._changed and self._hand() >= due_s else "")
                self._why = ""
                if why:
                    self._changed = False
            due_s = self._hand() + self._every_s
            if why and not self._made(why):
                due_s = self._hand() + min(RETRY_S, self._every_s)

    def _made(self, why: str) -> bool:
        try:
            keep_backup(self._database, why, self._wall)
        except BackupFailed as error:
            self.trouble, self.code = f"no backup: {error}", error.code
            with self._news:
                self._changed = True
            return False
        self.made += 1
        self.trouble, self.code = "", "ok"
        return True


def _heats_begun(events: Iterable[Event]) -> set[str]:
    starts = (event for event in events if event.type == EventType.RUN_STARTED)
    return {str(event.data["heat"]) for event in starts if event.data.get("heat") is not None}
