"""What happens in a chaos run and when, drawn from one seed before anything starts (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

GAP_S: Final = (0.2, 1.2)
"""Between the beginnings of two faults."""
REST_S: Final = 0.5
"""What one fault has broken stays whole for so long before the next may break it."""


class Kind(StrEnum):
    """Everything that can happen."""

    APP_KILLED = "a table's program is killed"
    TABLE_UNPLUGGED = "a table's plug is pulled"
    HUB_KILLED = "the hub is killed"
    HUB_STOPPED = "the hub is ended as a service is"
    HUB_RESTORED = "the hub is killed and its newest backup restored"
    HUB_LOCKED = "another program locks the hub's database"
    HUB_DISK_FULL = "the hub's disk is full"
    TABLE_DISK_FULL = "the tables' disk is full"
    BROKER_KILLED = "the broker is killed and keeps what it had saved"
    BROKER_STOPPED = "the broker is ended, saves everything and comes back with it"
    BROKER_WIPED = "the broker is killed and has forgotten everything"
    BROKER_DAMAGED = "the broker is killed and what it had saved is damaged"
    NET_CUT = "connections are cut and none is possible"
    NET_DARK = "nothing passes although connections stand"
    NET_DEAF = "what is sent to them does not pass"
    NET_MUTE = "what they send does not pass"
    NET_SLOW = "everything passes late"
    REPEATED = "messages of the past are sent again"
    CLOCK_SET = "a wall clock is set"


#: How often, and for how long at most.
_DRAWN: Final = {
    Kind.APP_KILLED: (6, 0.0),
    Kind.TABLE_UNPLUGGED: (4, 4.0),
    Kind.HUB_KILLED: (5, 3.0),
    Kind.HUB_STOPPED: (2, 2.0),
    Kind.HUB_RESTORED: (2, 1.0),
    Kind.HUB_LOCKED: (2, 8.0),
    Kind.HUB_DISK_FULL: (2, 5.0),
    Kind.TABLE_DISK_FULL: (2, 5.0),
    Kind.BROKER_KILLED: (3, 3.0),
    Kind.BROKER_STOPPED: (2, 2.0),
    Kind.BROKER_WIPED: (4, 3.0),
    Kind.BROKER_DAMAGED: (2, 1.0),
    Kind.NET_CUT: (4, 5.0),
    Kind.NET_DARK: (4, 15.0),
    Kind.NET_DEAF: (3, 15.0),
    Kind.NET_MUTE: (3, 15.0),
    Kind.NET_SLOW: (3, 8.0),
    Kind.REPEATED: (6, 0.0),
    Kind.CLOCK_SET: (5, 0.0),
}
_OF_A_TABLE: Final = (Kind.APP_KILLED, Kind.TABLE_UNPLUGGED)
_OF_THE_NET: Final = (Kind.NET_CUT, Kind.NET_DARK, Kind.NET_DEAF, Kind.NET_MUTE, Kind.NET_SLOW)
_OF_NOTHING: Final = (Kind.REPEATED, Kind.CLOCK_SET)
NEED_SMALL_DISKS: Final = frozenset({Kind.HUB_DISK_FULL, Kind.TABLE_DISK_FULL})


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that happens, to whom, from when on and for how long."""

    at_s: float
    kind: Kind
    length_s: float
    tables: tuple[int, ...] = ()
    with_hub: bool = False
    """Of the network: the hub's connection is hit too."""
    draw: float = 0.0
    """A number from 0 to 1 for what the fault itself has to choose."""


def schedule(seed: int, seconds: float, tables: Sequence[int], kinds: Sequence[Kind]) -> list[Fault]:
    """All faults in the order in which they begin; the same for the same arguments."""
    return list(_drawn(Random(seed), seconds, tables, kinds))


def _drawn(random: Random, seconds: float, tables: Sequence[int], kinds: Sequence[Kind]) -> Iterator[Fault]:
    at_s, free_at_s = 0.0, dict[str, float]()
    weights = [_DRAWN[kind][0] for kind in kinds]
    while (at_s := at_s + random.uniform(*GAP_S)) < seconds:
        kind = random.choices(kinds, weights)[0]
        length_s = round(random.uniform(0.0, 1.0) * min(_DRAWN[kind][1], seconds / 2), 2)
        hit: tuple[int, ...] = ()
        with_hub = False
        if kind in _OF_A_TABLE:
            hit = (random.choice(tables),)
        elif kind in _OF_THE_NET:
            hit = tuple(sorted(random.sample(tables, random.choice((1, 3, len(tables))))))
            with_hub = random.random() < 0.25
        fault = Fault(round(at_s, 2), kind, length_s, hit, with_hub, random.random())
        things = _things(fault)
        if all(free_at_s.get(thing, 0.0) <= at_s for thing in things):
            free_at_s |= dict.fromkeys(things, at_s + length_s + REST_S)
            yield fault


def _things(fault: Fault) -> list[str]:
    """What a fault holds broken, which no other may touch meanwhile."""
    kind = fault.kind
    if kind in _OF_A_TABLE:
        return [f"table {n}" for n in fault.tables]
    if kind in _OF_THE_NET:
        return [f"net {n}" for n in fault.tables] + (["net hub"] if fault.with_hub else [])
    return [] if kind in _OF_NOTHING else [kind.name.split("_")[0]]
