"""Where the acts of a run stand: some exactly, the others in blocks of which only bounds are known.

Stamps of one boot differ exactly, and so do those of boots with a clock in common. What is not known is when
such a block begins: it moves as one piece, and never out of the order in which the log tells it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from shared.core.timeline import Span, Stamp, Timeline

START: Final = 0
"""The block of all that is known exactly; it begins at the start."""
_NEVER_MS: Final = 2**60


class Place(NamedTuple):
    """Where an act stands: so long after the beginning of its block."""

    block: int
    ms: int


class Order(NamedTuple):
    """One block begins at least so long after another; negative: at most so long before it."""

    first: int
    then: int
    least_ms: int


class Layout(NamedTuple):
    """All that is known of when the acts of a run were done."""

    places: tuple[Place, ...]
    bounds: tuple[tuple[int, int], ...]
    """Of each block: when it begins at the earliest and at the latest; the first one begins at 0."""
    orders: tuple[Order, ...]

    def range_of(self, begins: Sequence[int]) -> tuple[int, int]:
        """When the next block begins at the earliest and at the latest, the ones before it given."""
        block = len(begins)
        low_ms, high_ms = self.bounds[block]
        for order in self.orders:
            if order.then == block and order.first < block:
                low_ms = max(low_ms, begins[order.first] + order.least_ms)
            elif order.first == block and order.then < block:
                high_ms = min(high_ms, begins[order.then] - order.least_ms)
        return low_ms, max(low_ms, high_ms)


def lay_out(stamps: Sequence[Stamp], spans: Sequence[Span], timeline: Timeline, end_ms: int) -> Layout:
    """Place acts, in folding order, by their spans since the start; nothing changes beyond `end_ms`."""
    heads: list[Stamp | None] = [None]
    places = [_placed(stamp, span, heads, timeline) for stamp, span in zip(stamps, spans, strict=True)]
    orders = list(_orders(places, stamps, spans, timeline))
    lows, highs = [0] * len(heads), [_NEVER_MS] * len(heads)
    for _ in heads:  # what is known of one block bounds the ones before and behind it
        for first, then, least_ms in orders:
            if then != START:
                lows[then] = max(lows[then], lows[first] + least_ms)
            if first != START:
                highs[first] = min(highs[first], (0 if then == START else highs[then]) - least_ms)
    ends = [end_ms - min([0, *(p.ms for p in places if p.block == block)]) for block in range(len(heads))]
    bounds = [(low, max(low, min(high, end))) for low, high, end in zip(lows, highs, ends, strict=True)]
    return Layout(tuple(places), ((0, 0), *bounds[1:]), tuple(dict.fromkeys(orders)))


def _placed(stamp: Stamp, span: Span, heads: list[Stamp | None], timeline: Timeline) -> Place:
    """In the block with which its boot has a clock in common, else at the head of a new one."""
    if span.exact:
        return Place(START, span.low_ms)
    for block, head in enumerate(heads):
        apart = None if head is None else timeline.between(head, stamp)
        if apart is not None and apart.exact:
            return Place(block, apart.low_ms)
    heads.append(stamp)
    return Place(len(heads) - 1, 0)


def _orders(
    places: Sequence[Place], stamps: Sequence[Stamp], spans: Sequence[Span], timeline: Timeline
) -> Iterator[Order]:
    for place, span in zip(places, spans, strict=True):
        if place.block != START:
            yield from _apart(Place(START, 0), place, span)
    for (a, a_stamp), (b, b_stamp) in pairwise(zip(places, stamps, strict=True)):
        if a.block != b.block:
            yield from _apart(a, b, timeline.between(a_stamp, b_stamp))


def _apart(a: Place, b: Place, span: Span) -> Iterator[Order]:
    yield Order(a.block, b.block, a.ms + span.low_ms - b.ms)
    if span.high_ms is not None:
        yield Order(b.block, a.block, b.ms - span.high_ms - a.ms)
