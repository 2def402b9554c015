"""How long it was between two stamps, also over reboots: exact, or between bounds, never a confident guess.

Stamps of one boot differ exactly. Two boots are related exactly when both are anchored to the same hub clock;
else from below by how long each boot was seen alive, and from above by when the hub first heard of the new one.
What is known is a set of facts: the order in which they came makes no difference.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

#: Clocks drift apart by less than 100 ppm: an anchor 10 s away is 1 ms less sure.
_DRIFT_PER_MS: Final = 10_000


class Stamp(NamedTuple):
    """An instant on a table: milliseconds of the monotonic clock of one boot."""

    boot: str
    mono_ms: int


class Span(NamedTuple):
    """Elapsed milliseconds between two stamps: at least, and at most where that is known."""

    low_ms: int
    high_ms: int | None

    @property
    def exact(self) -> bool:
        """Whether nothing is unknown about it."""
        return self.low_ms == self.high_ms


class _Anchor(NamedTuple):
    mono_ms: int
    hub_ms: int
    error_ms: int

    def unsure_ms(self, mono_ms: int) -> int:
        """How far off the hub's time may be, read through this anchor at an instant."""
        return self.error_ms + abs(mono_ms - self.mono_ms) // _DRIFT_PER_MS


class Timeline:
    """What the logs say about the boots of all tables."""

    def __init__(self) -> None:
        self._alive_ms: dict[str, int] = {}
        self._previous: defaultdict[str, set[str]] = defaultdict(set)
        self._followed: set[str] = set()
        self._anchors: defaultdict[str, defaultdict[str, set[_Anchor]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self._latest: defaultdict[str, dict[str, int]] = defaultdict(dict)

    # Facts: each tells whether it can change what is known of a span over boots ------------------------

    def saw(self, boot: str, mono_ms: int) -> bool:
        """A table was alive at this instant."""
        if mono_ms <= self._alive_ms.get(boot, 0):
            return False
        self._alive_ms[boot] = mono_ms
        return boot in self._followed

    def booted(self, boot: str, previous: str, alive_ms: int) -> bool:
        """A table started again; its last boot was alive at least until `alive_ms`."""
        if previous == boot:
            return False
        self._previous[boot].add(previous)
        self._followed.add(previous)
        self.saw(previous, alive_ms)
        return True

    def anchored(self, stamp: Stamp, hub_ms: int, base: str, error_ms: int) -> bool:
        """At this stamp the hub's clock `base` read `hub_ms` ± `error_ms`."""
        anchors, anchor = self._anchors[stamp.boot][base], _Anchor(stamp.mono_ms, hub_ms, error_ms)
        if anchor in anchors:
            return False
        anchors.add(anchor)
        return True

    def not_later(self, stamp: Stamp, hub_ms: int, base: str) -> None:
        """This stamp lies before the hub's clock `base` read `hub_ms`: then the hub heard of it."""
        ahead_ms = hub_ms - stamp.mono_ms
        known = self._latest[stamp.boot].get(base)
        self._latest[stamp.boot][base] = ahead_ms if known is None else min(known, ahead_ms)

    # Reading ------------------------------------------------------------------------------------------

    def between(self, start: Stamp, end: Stamp) -> Span:
        """How long it was from `start` to `end`."""
        known_ms = self._exactly(start, end)
        if known_ms is not None:
            return Span(known_ms, known_ms)
        low_ms, high_ms = self._at_least(start, end), self._at_most(start, end)
        return Span(low_ms, None if high_ms is None else max(low_ms, high_ms))

    def _exactly(self, start: Stamp, end: Stamp) -> int | None:
        if start.boot == end.boot:
            return end.mono_ms - start.mono_ms
        ways = [
            (from_unsure_ms + to_unsure_ms, base, to_ms - from_ms)
            for base in self._bases(start.boot) & self._bases(end.boot)
            for from_unsure_ms, from_ms in [self._hub_ms(start, base)]
            for to_unsure_ms, to_ms in [self._hub_ms(end, base)]
        ]
        return min(ways)[2] if ways else None

    def _bases(self, boot: str) -> set[str]:
        return set(self._anchors[boot]) if boot in self._anchors else set()

    def _hub_ms(self, stamp: Stamp, base: str) -> tuple[int, int]:
        """How unsure, and what the hub's clock read at a stamp: through the anchor that tells it best."""
        unsure_ms, anchor = min((a.unsure_ms(stamp.mono_ms), a) for a in self._anchors[stamp.boot][base])
        return unsure_ms, anchor.hub_ms + stamp.mono_ms - anchor.mono_ms

    def _at_least(self, start: Stamp, end: Stamp) -> int:
        """From boot to boot back to one that can be compared; 0 when no chain of boots leads there."""
        best_ms, seen = 0, {end.boot}
        reached = [(end.boot, end.mono_ms)]
        while reached:
            boot, since_ms = reached.pop()
            for previous in sorted(self._previous.get(boot, set()) - seen):
                seen.add(previous)
                alive_ms = self._alive_ms.get(previous, 0)
                known_ms = self._exactly(start, Stamp(previous, alive_ms))
                if known_ms is None:
                    reached.append((previous, since_ms + alive_ms))
                else:
                    best_ms = max(best_ms, since_ms + max(0, known_ms))
        return best_ms

    def _at_most(self, start: Stamp, end: Stamp) -> int | None:
        ways = [
            ahead_ms + end.mono_ms - self._hub_ms(start, base)[1]
            for base, ahead_ms in self._latest.get(end.boot, {}).items()
            if base in self._bases(start.boot)
        ]
        return min(ways, default=None)
