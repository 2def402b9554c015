"""How the clocks of the hub's boots are related: through the wall clock, while its kernel vouches for that (pure).

A fuse blows, hall and hub are dark for two minutes: the hub's clock starts anew, and no table lived through it. What
the hub's own log says of each boot, `clock_anchored` at a wall time, still tells how far apart two such clocks are.
"""

from __future__ import annotations

from typing import Final

from shared.core.events import HUB_DEVICE, Event, EventType
from shared.wire import EarlierClock

SURE_MS: Final = 250
"""A wall clock known less well than this relates nothing: results are whole seconds."""
NOTE_EVERY_S: Final = 600.0
MOST_TOLD: Final = 3
_LONGEST_AGO_MS: Final = 48 * 3_600_000


class HubBoots:
    """What the hub's logs say of the clock of each of its boots."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._best: dict[str, Event] = {}

    def apply(self, event: Event) -> None:
        """Note one event; of each boot the reading with the smallest error is kept."""
        if event.type != EventType.CLOCK_ANCHORED or event.device != HUB_DEVICE or event.wall_ms is None:
            return
        if "heard" in event.data:
            return
        best = self._best.get(event.data["base"])
        if best is None or event.data["error_ms"] <= best.data["error_ms"]:
            self._best[event.data["base"]] = event

    @property
    def noted(self) -> bool:
        """Whether this boot's clock was read against the wall clock."""
        return self._base in self._best

    def earlier(self) -> tuple[EarlierClock, ...]:
        """The clocks of the boots before, newest first, as they are related to the one now."""
        here = self._best.get(self._base)
        if here is None:
            return ()
        others = [event for base, event in self._best.items() if base != self._base]
        recent = [event for event in others if _wall_ms(here) - _wall_ms(event) <= _LONGEST_AGO_MS]
        newest = sorted(recent, key=_wall_ms, reverse=True)[:MOST_TOLD]
        return tuple(
            EarlierClock(
                event.data["base"],
                (_zero_ms(here) - _zero_ms(event)) * 1000,
                (here.data["error_ms"] + event.data["error_ms"] + 1) * 1000,
            )
            for event in newest
        )


def _wall_ms(event: Event) -> int:
    return event.wall_ms or 0


def _zero_ms(event: Event) -> int:
    """The wall time at which this boot's clock read 0."""
    hub_ms: int = event.data["hub_ms"]
    return _wall_ms(event) - hub_ms
