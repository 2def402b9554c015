"""Durations as people write them in a rulebook: `2m`, `1h30m`, `90s`, `1:30:00`."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = re.compile(r"(?:(?P<h>\d{1,3})h)?(?:(?P<m>\d{1,4})m)?(?:(?P<s>\d{1,6})s)?", re.ASCII)
_CLOCK: Final = re.compile(r"(?:(?P<h>\d{1,3}):)?(?P<m>\d{1,2}):(?P<s>[0-5]\d)", re.ASCII)


def seconds_from(text: str) -> int:
    """Whole seconds of a duration; raises ValueError with what to write instead."""
    compact = "".join(text.split()).lower()
    match = (_UNITS.fullmatch(compact) if compact else None) or _CLOCK.fullmatch(compact)
    if match is None:
        raise ValueError(f'"{text}" is no duration; write for example "2m", "1h30m" or "90s"')
    hours, minutes, seconds = (int(match[unit] or 0) for unit in "hms")
    return hours * 3600 + minutes * 60 + seconds


def clock_text(seconds: int) -> str:
    """Seconds as people read them: `43:21`, `1:02:03`; a sign in front of negative ones."""
    sign, left = ("-", -seconds) if seconds < 0 else ("", seconds)
    hours, rest = divmod(left, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{sign}{hours}:{minutes:02}:{rest:02}" if hours else f"{sign}{minutes}:{rest:02}"
