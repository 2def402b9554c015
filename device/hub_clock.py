"""What the hub's clock reads at an instant of hand time, as far as exchanges tell (pure).

An exchange says that the hub's clock was ahead of ours by some amount, give or take half its round trip. A
burst is worth its exchange with the shortest round trip. Offset and rate are fitted over the better half of
the last bursts: two crystals drift apart by milliseconds a minute, so holding the last offset is not enough.
All instants are microseconds: `hand_us` of this table's hand clock, `hub_us` of the hub's.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

KEPT_BURSTS: Final = 20
DRIFT: Final = 100e-6
"""Two clocks drift apart by less than this, in seconds a second."""
FIT_OVER_US: Final = 100_000_000
"""Over a shorter time the jitter of the network would be taken for a drift of the clocks."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One exchange: in the middle of it the hub's clock was ahead by so much, ± half the round trip."""

    hand_us: int
    ahead_us: int
    round_trip_us: int
    base: str

    def bound_us(self, hand_us: float) -> float:
        """How far off this exchange may be at another instant."""
        return self.round_trip_us / 2 + DRIFT * abs(hand_us - self.hand_us)


@dataclass(frozen=True, slots=True)
class _Line:
    """`ahead_us` at an instant, and its change per microsecond."""

    hand_us: float
    ahead_us: float
    rate: float


class HubClock:
    """The hub's clock as this boot of the table knows it; nothing before the first burst."""

    def __init__(self) -> None:
        self.base: str | None = None
        """The name of the hub's clock: another one when its machine was started again."""
        self._bursts: deque[Sample] = deque(maxlen=KEPT_BURSTS)
        self._line: _Line | None = None

    def take(self, burst: Sequence[Sample]) -> None:
        """What a burst of exchanges told; those with a clock of another name begin anew."""
        if not burst:
            return
        base = burst[-1].base
        best = min((s for s in burst if s.base == base), key=lambda s: s.round_trip_us)
        if base != self.base or not self._agrees(best):
            self.base = base
            self._bursts.clear()
        self._bursts.append(best)
        self._line = self._fitted()

    def _agrees(self, sample: Sample) -> bool:
        """Whether a clock that only drifts can have told both this and the last burst."""
        if not self._bursts:
            return True
        last = self._bursts[-1]
        apart_us = abs(sample.ahead_us - last.ahead_us)
        return apart_us <= sample.round_trip_us / 2 + last.bound_us(sample.hand_us)

    def _fitted(self) -> _Line | None:
        """A straight line through the better half of the bursts, once they span long enough."""
        better = sorted(self._bursts, key=lambda s: s.round_trip_us)[
            : max(2, math.ceil(len(self._bursts) / 2))
        ]
        instants = [s.hand_us for s in better]
        if max(instants) - min(instants) < FIT_OVER_US:
            return None
        middle_us = sum(instants) / len(better)
        ahead_us = sum(s.ahead_us for s in better) / len(better)
        spread = sum((x - middle_us) ** 2 for x in instants)
        slope = sum((s.hand_us - middle_us) * (s.ahead_us - ahead_us) for s in better) / spread
        return _Line(middle_us, ahead_us, min(DRIFT, max(-DRIFT, slope)))

    def hub_us(self, hand_us: float) -> float:
        """What the hub's clock reads at an instant. Only once there is a `base`."""
        return hand_us + self._ahead_us(hand_us)

    def hand_us(self, hub_us: float) -> float:
        """The instant at which the hub's clock reads this. Only once there is a `base`."""
        if self._line is None:
            hand_us = hub_us - self._bursts[-1].ahead_us
            return hub_us - self._ahead_us(hand_us)
        line = self._line
        return line.hand_us + (hub_us - line.hand_us - line.ahead_us) / (1 + line.rate)

    def error_us(self, hand_us: float) -> float:
        """How far `hub_us` may be off at an instant: no exchange, with half its round trip and its drift,
        leaves room for more. Only once there is a `base`.
        """
        ahead_us = self._ahead_us(hand_us)
        return min(abs(ahead_us - s.ahead_us) + s.bound_us(hand_us) for s in self._bursts)

    def _ahead_us(self, hand_us: float) -> float:
        if self._line is not None:
            return self._line.ahead_us + self._line.rate * (hand_us - self._line.hand_us)
        return min(self._bursts, key=lambda s: s.bound_us(hand_us)).ahead_us
