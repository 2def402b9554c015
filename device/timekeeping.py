"""This table's clock against the hub's: it asks, it knows, and it journals anchors that bridge a reboot.

The exchange is about hand time, which is real time everywhere. An anchor is about run time, which runs are
stamped with: in a demo that is faster, and the hub's clock is multiplied by the same speed and named so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from device.exchanges import Exchanges
from device.history import History
from device.hub_clock import HubClock
from shared.clock import HandClock, RunClock
from shared.core.events import EventType
from shared.wire import EarlierClock, TimeAnswer

ANCHOR_EVERY_S: Final = 600.0
"""How often an anchor is renewed in a run."""


class Timekeeping:
    """What the table knows of the hub's clock. Instants are hand time in seconds, the hub's in milliseconds."""

    def __init__(
        self, history: History, ask: Callable[[int], bool], clock: HandClock, run_clock: RunClock
    ) -> None:
        self._history = history
        self._ask = ask
        self._clock = clock
        self._run_clock = run_clock
        self._exchanges = Exchanges()
        self._hub = HubClock()
        self._anchored_s = float("-inf")
        self._earlier: tuple[str, tuple[EarlierClock, ...]] = ("", ())
        """Clocks of the hub's boots before the one of this name."""

    @property
    def base(self) -> str | None:
        """The name of the hub's clock; None while nothing is known of it."""
        return self._hub.base

    def hand_s(self, hub_ms: int) -> float:
        """The instant at which the hub's clock reads this. Only once there is a `base`."""
        return self._hub.hand_us(hub_ms * 1000) / 1e6

    def error_ms(self, now: float) -> float | None:
        """How far off the hub's clock may be known; None while nothing is known of it."""
        return None if self.base is None else self._hub.error_us(now * 1e6) / 1000

    def answered(self, answer: TimeAnswer, at_s: float) -> None:
        """The hub has answered a question for its time."""
        self._exchanges.answered(answer, at_s)
        self._earlier = answer.base, answer.earlier

    def tick(self, now: float, *, online: bool, in_run: bool) -> None:
        """Ask what is due, learn from what was answered, and anchor this boot where that is due."""
        ask = self._exchanges.tick(now, online=online)
        burst = self._exchanges.burst()
        if burst:
            self._hub.take(burst)
        if burst or (in_run and now >= self._anchored_s + ANCHOR_EVERY_S):
            self._anchor(now, in_run=in_run)
        if ask:
            t1_us = round(self._clock() * 1e6)  # now, not when this pass began
            self._exchanges.asked(t1_us)
            self._ask(t1_us)

    def next_due(self) -> float | None:
        """When `tick` has something to do."""
        return self._exchanges.next_due()

    def _anchor(self, now: float, *, in_run: bool) -> None:
        if self.base is None:
            return
        self._write(now, self.base, 0, 0, again=in_run and now >= self._anchored_s + ANCHOR_EVERY_S)
        told_of, earlier = self._earlier
        for clock in earlier if told_of == self.base else ():
            if self._history.bridged_by(self._named(clock.base)):
                self._write(now, clock.base, clock.ahead_us, clock.error_us, again=False)

    def _write(self, now: float, base: str, ahead_us: int, error_us: int, *, again: bool) -> None:
        """Anchor this boot to a clock of the hub, if that is known better than before, or `again`."""
        speed = self._run_clock.speed
        mono_ms = self._run_clock.run_ms(now)
        read_us = (self._hub.hub_us(self._run_clock.hand_s(mono_ms) * 1e6) + ahead_us) * speed
        error_ms = math.ceil((self._hub.error_us(now * 1e6) + error_us) * speed / 1000)
        known_ms = self._history.anchored_ms.get(self._named(base))
        if known_ms is not None and error_ms * 2 > known_ms and not again:
            return
        self._anchored_s = now
        self._history.record(
            EventType.CLOCK_ANCHORED,
            now,
            hub_ms=round(read_us / 1000),
            base=self._named(base),
            error_ms=error_ms,
        )

    def _named(self, base: str) -> str:
        """A demo's runs are stamped faster: another clock, by another name."""
        speed = self._run_clock.speed
        return base if speed == 1 else f"{base}-x{speed:g}"
