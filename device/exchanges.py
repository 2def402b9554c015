"""When to ask the hub for its time, and which answers count (pure).

A burst of 8 questions when the hub is reached, then 4 every 30 seconds; one question at a time, so that they
do not queue up behind each other. Nothing is waited for here: `tick` is called in every pass of the loop.
"""

from __future__ import annotations

from typing import Final

from device.hub_clock import Sample
from shared.wire import TimeAnswer

FIRST_BURST: Final = 8
LATER_BURST: Final = 4
EVERY_S: Final = 30.0
ANSWER_S: Final = 1.0
"""A question is lost when it is not answered so soon; a later answer would be worth little anyway."""


class Exchanges:
    """The questions of one table. All instants are hand time, in seconds unless they say otherwise."""

    def __init__(self) -> None:
        self._online = False
        self._left = 0
        self._asked: tuple[int, float] | None = None
        self._samples: list[Sample] = []
        self._next_s = 0.0

    def tick(self, now: float, *, online: bool) -> bool:
        """Whether to ask now; `asked` is to be called then."""
        if not online:
            self._online, self._left, self._asked = False, 0, None
            return False
        if not self._online:
            self._online, self._left = True, FIRST_BURST
        elif self._left == 0 and self._asked is None and now >= self._next_s:
            self._left = LATER_BURST
        if self._asked is not None and now >= self._asked[1] + ANSWER_S:
            self._asked = None
            self._end_of_burst(now)
        return self._left > 0 and self._asked is None

    def asked(self, t1_us: int) -> None:
        """A question was sent at this instant."""
        self._left -= 1
        self._asked = t1_us, t1_us / 1e6

    def answered(self, answer: TimeAnswer, at_s: float) -> None:
        """An answer that arrived at `at_s`; one to another question than the last is old."""
        if self._asked is None or answer.t1_us != self._asked[0]:
            return
        self._asked = None
        t4_us = round(at_s * 1e6)
        round_trip_us = t4_us - answer.t1_us - (answer.t3_us - answer.t2_us)
        if round_trip_us >= 0 and answer.t3_us >= answer.t2_us:
            middle_us = (answer.t1_us + t4_us) // 2
            ahead_us = (answer.t2_us + answer.t3_us) // 2 - middle_us
            self._samples.append(Sample(middle_us, ahead_us, round_trip_us, answer.base))
        self._end_of_burst(at_s)

    def _end_of_burst(self, now: float) -> None:
        if self._left == 0:
            self._next_s = now + EVERY_S

    def burst(self) -> list[Sample]:
        """The exchanges of a burst that is over, once; empty before."""
        if self._left or self._asked is not None:
            return []
        samples, self._samples = self._samples, []
        return samples

    def next_due(self) -> float | None:
        """When `tick` has something to do; None while the hub is not reached."""
        if self._asked is not None:
            return self._asked[1] + ANSWER_S
        if not self._online:
            return None
        return self._next_s if self._left == 0 else float("-inf")
