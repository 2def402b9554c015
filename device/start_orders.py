"""The hub's order for a common start, as one table sees it (pure).

An order has a say at most once: when it was obeyed, or when the judge pressed START while it stood, it is
spent for this table, and what is undone afterwards only the judge starts again. Instants are hand time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from shared.clock import RunClock
from shared.core.rules import CategoryRules
from shared.wire import StartOrder, StartState

SURE_MS: Final = 250.0
"""With a larger error of the clock a common start is the judge's to press."""
PATIENCE_S: Final = 3.0
"""So long an unknown clock is no reason to trouble the judge: the exchange with the hub is on its way."""


class HubTime(Protocol):
    """What is known of the hub's clock."""

    @property
    def base(self) -> str | None:
        """Its name; None while nothing is known of it."""

    def hand_s(self, hub_ms: int) -> float:
        """The instant at which it reads this."""

    def error_ms(self, now: float) -> float | None:
        """How far off it may be known."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """What READY shows of an order: how long until the start, and whether the judge has to press."""

    left_s: float | None
    """Real seconds; None while the hub's clock is not known."""
    judge: bool = False


class StartOrders:
    """The newest order, and which ones are spent."""

    def __init__(self, spent: Iterable[str], time: HubTime, run_clock: RunClock) -> None:
        """`spent`: ids of orders that the journal says were obeyed or overruled."""
        self._spent = set(spent)
        self._time = time
        self._run_clock = run_clock
        self._order: StartOrder | None = None
        self._heard_s = 0.0
        self._loaded = False

    def heard(self, order: StartOrder, now: float) -> None:
        """The hub tells of an order, or tells again."""
        if self._order is None or order.id != self._order.id:
            self._heard_s, self._loaded = now, False
        self._order = order

    def spend(self, order: str) -> None:
        """This order was obeyed, or the judge was ahead of it."""
        self._spent.add(order)

    def standing(self, heat: str | None) -> str | None:
        """The id of the order that a table with this heat on its display would obey."""
        order = self._standing()
        return None if order is None or order.heat != heat else order.id

    def _standing(self) -> StartOrder | None:
        order = self._order
        if order is None or order.state is not StartState.ORDERED or order.id in self._spent:
            return None
        return None if self._time.base not in (None, order.base) else order

    # The heat of an order comes on the display by itself, once: then the judge may choose another ------------

    def to_load(self) -> str | None:
        """The heat to put on the display."""
        order = self._standing()
        return None if order is None or self._loaded else order.heat

    def loaded(self) -> None:
        """It is there."""
        self._loaded = True

    # The start ----------------------------------------------------------------------------------------------

    def starts_s(self, heat: str | None, rules: CategoryRules, now: float) -> float | None:
        """When a run of this heat starts by itself; None when it does not, or is over already."""
        if self.standing(heat) is None or self._order is None:
            return None
        error_ms = self._time.error_ms(now)
        if error_ms is None or error_ms > SURE_MS:
            return None
        return self._not_over(self._time.hand_s(self._order.at_ms), rules, now)

    def _not_over(self, starts_s: float, rules: CategoryRules, now: float) -> float | None:
        gone_ms = self._run_clock.run_ms(now) - self._run_clock.run_ms(starts_s)
        return None if gone_ms >= rules.preview_ms + rules.limit_ms else starts_s

    def shown(self, heat: str | None, rules: CategoryRules, now: float) -> Ordered | None:
        """What the display says of the order."""
        if self.standing(heat) is None or self._order is None:
            return None
        error_ms = self._time.error_ms(now)
        if error_ms is None:
            return None if now < self._heard_s + PATIENCE_S else Ordered(None, judge=True)
        starts_s = self._not_over(self._time.hand_s(self._order.at_ms), rules, now)
        return None if starts_s is None else Ordered(starts_s - now, judge=error_ms > SURE_MS)
