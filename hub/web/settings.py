"""What the web server can be told: intervals, limits, the clock and time zone of its labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

from shared.clock import HandClock, WallClock, monotonic, wall_ms

_NO_DATE_MS: Final = 250_000_000_000_000
"""A table may send any number as its wall clock; from here on calendars know no date (year 9892)."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Settings of the pages; the defaults are right for a hall."""

    heartbeat_s: float = 10.0
    """Between two signs of life on an event stream."""
    lost_after_s: float = 25.0
    """Without any sign of life for this long a page says that it lost the hub."""
    ask_every_s: float = 10.0
    """Between two questions of a page that is not served live."""
    settle_s: float = 0.2
    """Least time between two snapshots, however often something changes."""
    recheck_s: float = 2.0
    """Between two looks whether who watches a staff page live is still logged in."""
    public_streams: int = 300
    """Most spectators' pages fed live at a time; later ones ask every few seconds instead."""
    staff_streams: int = 40
    """The same for staff: places of their own, so that a full hall never shuts them out."""
    zone: tzinfo | None = None
    """Time zone of the times of day on pages; None is the machine's."""
    now_ms: WallClock = wall_ms
    hand: HandClock = monotonic

    @property
    def zone_name(self) -> str:
        """What browsers call the venue's time zone; empty where only the machine knows it."""
        return getattr(self.zone, "key", "")

    def moment(self, at_ms: int) -> str:
        """`2026-06-27 14:32:05` at the venue, of a UTC instant in ms."""
        return self._written(at_ms, "%Y-%m-%d %H:%M:%S")

    def time_of_day(self, at_ms: int | None = None, *, seconds: bool = False) -> str:
        """`14:32` (or `14:32:05`) at the venue, of a UTC instant in ms or of now."""
        return self._written(self.now_ms() if at_ms is None else at_ms, "%H:%M:%S" if seconds else "%H:%M")

    def _written(self, at_ms: int, form: str) -> str:
        if not 0 <= at_ms < _NO_DATE_MS:
            return "–"
        return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(self.zone).strftime(form)
