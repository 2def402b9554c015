"""Whether edges still arrive: a thread that hangs is told from one with nothing to tell by the levels (pure)."""

from __future__ import annotations

from typing import Final

PATIENCE_S: Final = 2.0
"""An edge that comes so late after its level was seen is not only late."""
MISSED: Final = 2
"""One edge can be lost on its way; of several in a row, each found by its level only, nobody was told."""


class Hearing:
    """Edges that were found by the levels alone since one was last heard of."""

    def __init__(self) -> None:
        self._missed = 0
        self._since_s = 0.0

    def heard(self) -> None:
        """An edge has arrived."""
        self._missed = 0

    def missed(self, now: float) -> None:
        """A level changed of which no edge told."""
        self._missed += 1
        self._since_s = now

    def deaf(self, now: float) -> bool:
        """Whether nothing is heard any more."""
        return self._missed >= MISSED and now >= self._since_s + PATIENCE_S
