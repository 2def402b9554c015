"""Somebody who walks along the tables and writes down each final result on a display, as a judge does on paper."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

GLANCE_S: Final = 0.25
_FINAL: Final = re.compile(r"FINAL \| Turno (?P<heat>\S+)\n(?P<bound>≥ )?(?P<clock>[\d:]+)\n")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a display showed of a run that was over for good."""

    heat: str
    clock: str
    """The official time, or the number of pieces of a run that ran out of time."""
    bound: bool
    """It stood behind a ≥."""


def seen_on(words: str) -> Seen | None:
    """The final result on a display, if one is there."""
    found = _FINAL.match(words)
    return None if found is None else Seen(found["heat"], found["clock"], found["bound"] is not None)


class Eyes:
    """All that was seen, by table and heat: the last of each."""

    def __init__(self, tables: Iterable[int], words: Callable[[int], str]) -> None:
        """`words` is what a display shows now; empty while it is off."""
        self._tables = list(tables)
        self._words = words
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, name="eyes", daemon=True)
        self.seen: dict[tuple[int, str], Seen] = {}

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._stopping.wait(GLANCE_S):
            for table in self._tables:
                seen = seen_on(self._words(table))
                if seen is not None:
                    self.seen[table, seen.heat] = seen
