"""Refused presses: journaled for the audit, at most so many a minute, then only counted (pure)."""

from __future__ import annotations

from collections import deque
from typing import Final

MOST_A_MINUTE: Final = 20


class RefusalBudget:
    """A judge leaning on a button must not fill the journal."""

    def __init__(self) -> None:
        self._written: deque[float] = deque()
        self._skipped = 0

    def admit(self, now: float) -> int | None:
        """How many refusals this record stands for (1, or more after some were only counted); None: count it."""
        while self._written and now - self._written[0] >= 60.0:
            self._written.popleft()
        if len(self._written) >= MOST_A_MINUTE:
            self._skipped += 1
            return None
        self._written.append(now)
        count, self._skipped = self._skipped + 1, 0
        return count
