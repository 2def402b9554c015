"""What is wrong with the parts of a table, for its status and for people (pure)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

from device.debounce import Button
from shared.core.model import Problem

NOISY_BURSTS: Final = 5
"""So many bursts that came to nothing …"""
NOISY_S: Final = 60.0
"""… within so many seconds make a button noisy: a loose lead, or interference."""


class NoiseWatch:
    """Which buttons are noisy now, from counters that only grow."""

    def __init__(self) -> None:
        self._bursts: dict[Button, deque[float]] = {}
        self._counted: dict[Button, int] = {}

    def see(self, now: float, counts: Mapping[Button, int]) -> frozenset[Button]:
        """Take the counters as they stand at `now`; the buttons that are noisy."""
        for button, count in counts.items():
            bursts = self._bursts.setdefault(button, deque(maxlen=NOISY_BURSTS))
            bursts.extend([now] * min(count - self._counted.get(button, 0), NOISY_BURSTS))
            self._counted[button] = count
        return frozenset(
            button
            for button, bursts in self._bursts.items()
            if len(bursts) == NOISY_BURSTS and now - bursts[0] < NOISY_S
        )


def health(
    *,
    display: str,
    noise: Mapping[Button, int],
    noisy: Iterable[Button],
    stuck: Iterable[str],
    restamped: int,
    storage: str | None,
    findings: Iterable[Problem],
) -> dict[str, Any]:
    """The `health` of the status message: counters, and `problems` with a code that the hub puts in words."""
    problems: list[dict[str, Any]] = []
    problems += [{"code": "button_stuck", "button": str(button)} for button in sorted(stuck)]
    problems += [{"code": "button_noisy", "button": str(button)} for button in sorted(noisy)]
    if storage is not None:
        problems.append({"code": f"storage_{storage}"})
    problems += [finding.as_json() for finding in findings]
    return {
        "display": display,
        "noise": {str(button): count for button, count in noise.items() if count},
        "restamped": restamped,
        "storage": storage or "ok",
        "problems": problems,
    }
