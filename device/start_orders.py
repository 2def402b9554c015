"""The hub's order for a common start, as one table sees it (pure).

An order has a say at most once: when it was obeyed, or when the judge pressed START while it stood, it is
spent for this table, and what is undone afterwards only the judge starts again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.wire import StartOrder, StartState

PATIENCE_S: Final = 3.0
"""So long after an order came an unknown clock is no reason to trouble the judge: the exchange is on its way."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """What READY shows of an order: how long until the start, and whether the judge has to press."""

    left_s: float | None
    """None while the hub's clock is not known."""
    judge: bool = False


class StartOrders:
    """The newest order, and which ones are spent."""

    def __init__(self, spent: Iterable[str]) -> None:
        """`spent`: ids of orders that the journal says were obeyed or overruled."""
        self._spent = set(spent)
        self._order: StartOrder | None = None
        self._heard_s = 0.0
        self._loaded = False

    def heard(self, order: StartOrder, now: float) -> None:
        """The hub tells of an order, or tells again."""
        if self._order is None or order.id != self._order.id:
            self._heard_s, self._loaded = now, False
        self._order = order

    def standing(self) -> StartOrder | None:
        """The order that this table would obey."""
        order = self._order
        if order is None or order.state is not StartState.ORDERED or order.id in self._spent:
            return None
        return order

    def spend(self) -> None:
        """The order was obeyed, or the judge was ahead of it."""
        if self._order is not None:
            self._spent.add(self._order.id)

    def to_load(self) -> bool:
        """Whether the heat of the order is still to be put on the display, once: the judge may choose another."""
        return self.standing() is not None and not self._loaded

    def loaded(self) -> None:
        """The heat of the order is on the display."""
        self._loaded = True

    def patient(self, now: float) -> bool:
        """Whether the clock may still become known by itself."""
        return now < self._heard_s + PATIENCE_S
