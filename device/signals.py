"""When a table's buzzer sounds and its light shines, from what the table knows of itself (pure).

Buzzer and light say what the display says too; who has neither misses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import Final

from device.facts import Facts
from device.rest import BLINK_S, next_blink
from shared.core.machine import limit_due
from shared.core.model import State
from shared.wire import Do

PAUSE_ENDS_MS: Final = 30_000
_CLOCK_RUNS: Final = (State.RUNNING, State.ASSISTING)


class Signal(Enum):
    """What is to be heard: milliseconds of sound, silence, sound … The later ones matter more."""

    CALLED = (150, 150, 150, 150, 150, 150, 150)
    REFUSED = (60, 60, 60)
    TEN_MINUTES = (250, 250, 250)
    PAUSE_ENDS = (150, 850, 150, 850, 150)
    ONE_MINUTE = (250, 250, 250, 250, 250)
    RAN_OUT = (800, 200, 800)
    LIMIT = (2000,)

    @property
    def rank(self) -> int:
        """A signal is not broken off by a lesser one."""
        return list(Signal).index(self)


CALLS: Final = ((600_000, Signal.TEN_MINUTES), (60_000, Signal.ONE_MINUTE))
"""Called when so much is left of the run."""


@dataclass(frozen=True, slots=True)
class Lit:
    """What is switched on."""

    buzzer: bool = False
    led: bool = False


def signal_of(before: Facts, facts: Facts) -> Signal | None:
    """What the change between two looks at a table is to be heard as; of several the weightiest."""
    heard = [
        signal
        for is_heard, signal in (
            (_is_called(facts) and facts.called != before.called, Signal.CALLED),
            (facts.refusal is not None and facts.refusal is not before.refusal, Signal.REFUSED),
            (_falls_to(PAUSE_ENDS_MS, _pause_left_ms(before), _pause_left_ms(facts)), Signal.PAUSE_ENDS),
            (_ran_out(before, facts), Signal.RAN_OUT),
            (_limit_came(before, facts), Signal.LIMIT),
            *((_falls_to(ms, _left_ms(before), _left_ms(facts)), signal) for ms, signal in CALLS),
        )
        if is_heard
    ]
    return max(heard, key=lambda signal: signal.rank, default=None)


class Signals:
    """Plays the signals of one table: ask at each change and whenever `next_due` says."""

    def __init__(self) -> None:
        self._before: Facts | None = None
        self._playing: tuple[Signal, float] | None = None
        self._blinks = False

    def step(self, now: float, facts: Facts, *, display_down: bool) -> Lit:
        """What is switched on at this instant of hand time.

        The light shines while the clock runs and blinks while somebody should come and look. It flashes
        with the buzzer, for whoever cannot hear that.
        """
        heard = None if self._before is None else signal_of(self._before, facts)
        self._before = facts
        if heard is not None and (self._playing is None or heard.rank >= self._playing[0].rank):
            self._playing = heard, now
        if self._playing is not None and now >= _ends(*self._playing)[-1]:
            self._playing = None
        wants_somebody = display_down or facts.not_saved or facts.situation.notice is not None
        self._blinks = wants_somebody or _is_called(facts)
        if self._playing is not None:
            sounds = sum(now >= end for end in _ends(*self._playing)) % 2 == 0
            return Lit(sounds, sounds)
        if self._blinks:
            return Lit(led=int(now / BLINK_S) % 2 == 0)
        return Lit(led=facts.situation.state in _CLOCK_RUNS)

    def next_due(self, now: float) -> float:
        """When something is switched by itself next."""
        if self._playing is not None:
            return min((end for end in _ends(*self._playing) if end > now), default=now)
        return next_blink(now) if self._blinks else float("inf")


def _is_called(facts: Facts) -> bool:
    """Whether somebody at the hub wants to see which table this is."""
    return facts.called is not None and facts.called.do is Do.IDENTIFY


def _ends(signal: Signal, began_s: float) -> list[float]:
    """The instants at which sounds and silences of a signal end."""
    return [began_s + ms / 1000 for ms in accumulate(signal.value)]


def _falls_to(ms: int, before_ms: int | None, left_ms: int | None) -> bool:
    return before_ms is not None and left_ms is not None and left_ms <= ms < before_ms


def _left_ms(facts: Facts) -> int | None:
    """Until the limit, while the clock runs towards it."""
    situation = facts.situation
    if situation.frame is None or situation.state not in _CLOCK_RUNS:
        return None
    return limit_due(situation.run, situation.frame) - situation.t_ms


def _pause_left_ms(facts: Facts) -> int | None:
    situation = facts.situation
    frame, since_ms = situation.frame, situation.run.pause_ms
    if situation.state is not State.PAUSED or frame is None or frame.rules.pauses is None or since_ms is None:
        return None
    return since_ms + frame.rules.pauses.each_ms - situation.t_ms


def _ran_out(before: Facts, facts: Facts) -> bool:
    return facts.situation.notice is not None and facts.situation.notice is not before.situation.notice


def _limit_came(before: Facts, facts: Facts) -> bool:
    return facts.situation.state is State.TIME_UP and before.situation.state in (*_CLOCK_RUNS, State.CLAIMED)
