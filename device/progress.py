"""Whether delivery stands still although it could go on: then the MQTT client is made anew (pure)."""

from __future__ import annotations

from typing import Final

LONGEST_S: Final = 600.0


class ProgressWatch:
    """Knows when the hub last acknowledged something new. Hand time comes in as `now_s`."""

    def __init__(self, patience_s: float, now_s: float) -> None:
        self._shortest_s = patience_s
        self._patience_s = patience_s
        self._since_s = now_s
        self._seen: object = None

    def look(self, now_s: float, *, waiting: bool, seen: object) -> bool:
        """Whether to begin anew now. `seen` changes with each acknowledgement, `waiting` says one is due."""
        if not waiting or seen != self._seen:
            self._seen, self._since_s, self._patience_s = seen, now_s, self._shortest_s
        elif now_s >= self._since_s + self._patience_s:
            self._since_s = now_s
            self._patience_s = min(max(LONGEST_S, self._shortest_s), self._patience_s * 2)
            return True
        return False

    def due_s(self) -> float:
        """When to look again."""
        return self._since_s + self._patience_s
