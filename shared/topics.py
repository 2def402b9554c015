"""Topic names under one settable base: building them, and reading them back."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

DEFAULT_BASE: Final = "puzzle/1"

_DEVICE: Final = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)
#: Words that stand where a device name stands, or that name the other end.
_RESERVED: Final = frozenset({"all", "standings", "hub"})
_LEVEL: Final = re.compile(r"[^/+#\x00]{1,100}")


class Direction(StrEnum):
    """The level after the device name, or what stands in its place."""

    UP = "up"
    DOWN = "down"
    ALL = "all"
    STANDINGS = "standings"


class Address(NamedTuple):
    """A topic taken apart; `device` is empty in what concerns everybody."""

    device: str
    direction: Direction
    name: str


def is_device(name: str) -> bool:
    """Whether this can be the name of a table's device: `[a-z0-9-]{1,32}` and not a reserved word."""
    return _DEVICE.fullmatch(name) is not None and name not in _RESERVED


class Topics:
    """All topic names of one installation."""

    def __init__(self, base: str = DEFAULT_BASE) -> None:
        """Raises ValueError for a base with empty levels, wildcards or a leading `$`."""
        if base.startswith("$") or not all(_LEVEL.fullmatch(level) for level in base.split("/")):
            raise ValueError(f"topic base {base!r} must be words separated by '/', without + # $")
        self.base = base
        self.start = f"{base}/all/start"
        self.hub = f"{base}/all/hub"
        #: Subscription of the hub: all that any device says.
        self.every_up = f"{base}/+/up/+"
        #: Subscription of a table: start orders and the hub's presence.
        self.every_all = f"{base}/all/+"

    def every_down(self, device: str) -> str:
        """Subscription of a table: all that is said to it."""
        return self._of(device, Direction.DOWN, "+")

    def up_event(self, device: str) -> str:
        """Events, 1 to 16 in a message; QoS 1, not retained."""
        return self._of(device, Direction.UP, "event")

    def up_state(self, device: str) -> str:
        """What the table shows; QoS 0, retained."""
        return self._of(device, Direction.UP, "state")

    def up_status(self, device: str) -> str:
        """Online or offline, and what the device is; QoS 1, retained, last will."""
        return self._of(device, Direction.UP, "status")

    def up_reply(self, device: str) -> str:
        """Answers to commands; QoS 1, not retained."""
        return self._of(device, Direction.UP, "reply")

    def up_time(self, device: str) -> str:
        """Questions for the hub's time; QoS 0, not retained."""
        return self._of(device, Direction.UP, "time")

    def down_ack(self, device: str) -> str:
        """What the hub has committed; QoS 1, retained (a gap ack is not)."""
        return self._of(device, Direction.DOWN, "ack")

    def down_plan(self, device: str) -> str:
        """Seat and next runs; QoS 1, retained."""
        return self._of(device, Direction.DOWN, "plan")

    def down_rulings(self, device: str) -> str:
        """Rulings on the run the table shows; QoS 1, retained."""
        return self._of(device, Direction.DOWN, "rulings")

    def down_command(self, device: str) -> str:
        """Commands, done once; QoS 1, never retained."""
        return self._of(device, Direction.DOWN, "command")

    def down_time(self, device: str) -> str:
        """The hub's time; QoS 0, not retained."""
        return self._of(device, Direction.DOWN, "time")

    def standings(self, category: str) -> str:
        """Public standings of one category; QoS 1, retained. Raises ValueError for `/ + #` in the id."""
        if not _LEVEL.fullmatch(category):
            raise ValueError(f"category id {category!r} cannot stand in a topic")
        return f"{self.base}/standings/{category}"

    def parse(self, topic: str) -> Address | None:
        """The parts of a topic, or None when it is none of this installation's."""
        if not topic.startswith(f"{self.base}/"):
            return None
        match topic.removeprefix(f"{self.base}/").split("/"):
            case [device, ("up" | "down") as direction, name] if is_device(device) and name:
                return Address(device, Direction(direction), name)
            case [("all" | "standings") as direction, name] if name:
                return Address("", Direction(direction), name)
            case _:
                return None

    def _of(self, device: str, direction: Direction, name: str) -> str:
        if not is_device(device):
            raise ValueError(f"{device!r} is no device name")
        return f"{self.base}/{device}/{direction.value}/{name}"
