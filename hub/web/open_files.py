"""How many files and connections this process may have open: raised as far as the machine allows."""

from __future__ import annotations

import resource
from typing import Final

WANTED: Final = 8192
"""As `LimitNOFILE` of the hub's unit says."""


def room_for_files(wanted: int = WANTED) -> int:
    """Raise the limit to `wanted` if it is lower and may be raised so far; the limit that holds now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):  # the unit's sandbox allows no change, and has set it already
            return soft
        return most
    return soft
