"""The order for a common start: given, cancelled or closed, and kept in the database for a hub that restarts.

Whoever changes it, the command or the running hub, changes the row; the hub sees it there and tells the
tables. The instant is the clock of this machine's boot: an order of an earlier boot means nothing any more.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from typing import Final

from hub.store import Store
from shared.clock import HubClock
from shared.wire import BadPayload, StartOrder, StartState, parse_start_order

LEAST_AHEAD_S: Final = 5.0
"""The order has to reach every table, and the judges have to look up."""
_NOTE: Final = "start-order"


class CannotOrder(ValueError):
    """Why there is no such start, in a sentence that says what to do."""


def kept_order(store: Store) -> StartOrder | None:
    """The newest order, whatever became of it. Raises StoreTrouble."""
    kept = store.note(_NOTE)
    try:
        return None if kept is None else parse_start_order(kept.encode())
    except BadPayload:  # of a newer version, or edited by hand
        return None


def told_order(store: Store, clock: HubClock) -> StartOrder | None:
    """The newest order as the tables are told it: one of an earlier boot of this machine is closed."""
    order = kept_order(store)
    if order is None or order.base == clock.base:
        return order
    return replace(order, state=StartState.CLOSED)


def order_start(store: Store, clock: HubClock, heat: str, in_s: float) -> StartOrder:
    """Let a heat start in so many seconds. Raises CannotOrder, StoreTrouble."""
    heats = dict.fromkeys(row.heat for row in store.plan_rows())
    if heat not in heats:
        planned = f"planned are {', '.join(heats)}" if heats else "there is no plan yet"
        raise CannotOrder(f'no run of heat "{heat}" is planned; {planned}')
    if in_s < LEAST_AHEAD_S:
        raise CannotOrder(f"a start needs {LEAST_AHEAD_S:g} seconds to reach every table")
    now_ms = clock.now_ms()
    standing = told_order(store, clock)
    if standing is not None and standing.state is StartState.ORDERED and standing.at_ms > now_ms:
        left_s = (standing.at_ms - now_ms) // 1000
        raise CannotOrder(f'heat "{standing.heat}" starts in {left_s} s already; cancel that first')
    order = StartOrder(secrets.token_hex(6), heat, now_ms + round(in_s * 1000), clock.base)
    return _kept(store, order)


def cancel_start(store: Store, clock: HubClock, heat: str | None = None) -> StartOrder:
    """Take back an order whose start has not come, of that heat if one is named. Raises CannotOrder, StoreTrouble."""
    order = _standing(store, clock, heat)
    if order.at_ms <= clock.now_ms():
        raise CannotOrder(f'heat "{order.heat}" has started; judges undo it by holding START')
    return _kept(store, replace(order, state=StartState.CANCELLED))


def close_start(store: Store, clock: HubClock, heat: str | None = None) -> StartOrder:
    """Let no late table start by itself any more, of that heat if one is named. Raises CannotOrder, StoreTrouble."""
    order = _standing(store, clock, heat)
    if order.at_ms > clock.now_ms():
        raise CannotOrder(f'heat "{order.heat}" has not started; cancel it instead')
    return _kept(store, replace(order, state=StartState.CLOSED))


def _standing(store: Store, clock: HubClock, heat: str | None) -> StartOrder:
    order = told_order(store, clock)
    if order is None or order.state is not StartState.ORDERED:
        raise CannotOrder("no start is ordered")
    if heat not in (None, order.heat):
        raise CannotOrder(f'the start that is ordered is of heat "{order.heat}", not of "{heat}"')
    return order


def _kept(store: Store, order: StartOrder) -> StartOrder:
    store.keep_note(_NOTE, json.dumps(order.as_json()))
    return order
