"""How long it was between two stamps, also over reboots: exact, or between bounds, never a confident guess.

Stamps of one boot differ exactly. Two boots are related exactly when both are anchored to the same hub clock.
Else only a lower bound is known: how long each boot was seen alive.
"""

from __future__ import annotations

from typing import NamedTuple


class Stamp(NamedTuple):
    """An instant on a table: milliseconds of the monotonic clock of one boot."""

    boot: str
    mono_ms: int


class Span(NamedTuple):
    """Elapsed milliseconds between two stamps; `exact` or at least `low_ms`."""

    low_ms: int
    exact: bool = True


class _Anchor(NamedTuple):
    offset_ms: int
    base: str
    error_ms: int


class Timeline:
    """What the logs say about the boots of all tables."""

    def __init__(self) -> None:
        self._alive_ms: dict[str, int] = {}
        self._previous: dict[str, str] = {}
        self._anchors: dict[str, _Anchor] = {}

    def saw(self, stamp: Stamp) -> None:
        """A table was alive at this stamp."""
        if stamp.mono_ms > self._alive_ms.get(stamp.boot, -1):
            self._alive_ms[stamp.boot] = stamp.mono_ms

    def booted(self, boot: str, previous: str, alive_ms: int) -> None:
        """A table started again; its last boot was alive at least until `alive_ms`."""
        if previous != boot:
            self._previous[boot] = previous
            self.saw(Stamp(previous, alive_ms))

    def anchored(self, stamp: Stamp, hub_ms: int, base: str, error_ms: int) -> bool:
        """At this stamp the hub's clock `base` read `hub_ms` ± `error_ms`; True if that is news."""
        known = self._anchors.get(stamp.boot)
        if known is not None and known.base == base and known.error_ms <= error_ms:
            return False
        self._anchors[stamp.boot] = _Anchor(hub_ms - stamp.mono_ms, base, error_ms)
        return True

    def between(self, start: Stamp, end: Stamp) -> Span:
        """How long it was from `start` to `end`."""
        if start.boot == end.boot:
            return Span(end.mono_ms - start.mono_ms)
        a, b = self._anchors.get(start.boot), self._anchors.get(end.boot)
        if a is not None and b is not None and a.base == b.base:
            return Span(end.mono_ms + b.offset_ms - start.mono_ms - a.offset_ms)
        return Span(self._at_least(start, end), exact=False)

    def _at_least(self, start: Stamp, end: Stamp) -> int:
        total, boot, seen = end.mono_ms, end.boot, {end.boot}
        while (previous := self._previous.get(boot)) is not None and previous not in seen:
            alive = self._alive_ms.get(previous, 0)
            if previous == start.boot:
                return total + max(0, alive - start.mono_ms)
            total, boot = total + alive, previous
            seen.add(boot)
        return 0  # no chain of boots leads back: nothing is known
