"""What runs on a table, for the hub: versions of the program, of Python and of the system."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """By name; the system is left out where it does not say what it is."""
    try:
        system = {"os": platform.freedesktop_os_release().get("PRETTY_NAME", "")}
    except OSError:
        system = {}
    return {"table-timer": version("puzzle-table-timer"), "python": platform.python_version(), **system}
