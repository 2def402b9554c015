"""From raw edges of four contacts to presses and releases, each stamped with its first edge (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SETTLE_S: Final = 0.020
"""A contact counts once it has been quiet for so long."""

LONGEST_BOUNCE_S: Final = 0.050
"""No contact bounces longer: what goes on beyond it is interference, and lends its first edge to nobody."""

HEAL_S: Final = 0.080
"""An edge may come late on a busy machine, with its true stamp; only then it is lost and the level has the say."""

OLDEST_STAMP_S: Final = 60.0
"""A stamp further from now than this is of another clock, not of a slow loop."""


class Button(StrEnum):
    """The four buttons of a table timer, in the order in which a tie of stamps is told."""

    START = "start"
    PAUSE = "pause"
    ASSIST = "assist"
    FINISH = "finish"


_RANK: Final[Mapping[Button, int]] = {button: n for n, button in enumerate(Button)}


@dataclass(frozen=True, slots=True)
class RawEdge:
    """One edge as the pin told it, bounces and all; `t` in seconds of hand time."""

    button: Button
    t: float
    pressed: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """One press or release that counts; `t` is its first edge, in seconds of hand time."""

    button: Button
    t: float
    pressed: bool


class Debouncer:
    """One contact: reports late and stamps early.

    A burst of edges is judged when the line has been quiet for `settle`: either the level has changed,
    then an Edge with the time of the first edge of the burst, or it went and came back: noise.
    """

    def __init__(self, button: Button, pressed: bool, settle: float = SETTLE_S) -> None:
        self.button = button
        self.pressed = pressed
        """The level that counts."""
        self.noise = 0
        """Bursts that came to nothing, and stretches of interference."""
        self._settle = settle
        self._raw = pressed
        self._first: float | None = None
        self._last = 0.0
        self.healed = 0
        """Edges that only the level told of."""
        self._odd_since: float | None = None

    @property
    def open_since(self) -> float | None:
        """The first edge of the burst that is not judged yet, if there is one."""
        if self._first is not None:
            return self._first
        return self._odd_since

    def edge(self, t: float, pressed: bool) -> list[Edge]:
        """Takes one raw edge; gives what the quiet before it has settled."""
        settled = self._judge(t)
        self._odd_since = None
        if self._first is None:
            self._first = t
        elif t - self._first > LONGEST_BOUNCE_S:
            self.noise += 1
            self._first = t
        self._last, self._raw = t, pressed
        return settled

    def poll(self, now: float, pressed: bool) -> list[Edge]:
        """Takes the level just read, which heals an edge that was lost on its way.

        The level runs about a millisecond ahead of the edges, so it must disagree for a while.
        """
        if pressed == self._raw:
            self._odd_since = None
            return self._judge(now)
        if self._odd_since is None:
            self._odd_since = now
        if now - self._odd_since < HEAL_S:
            return []
        self.healed += 1
        return self.edge(self._odd_since, pressed) + self._judge(now)

    def _judge(self, now: float) -> list[Edge]:
        if self._first is None or now - self._last < self._settle:
            return []
        first, self._first = self._first, None
        if self._raw == self.pressed:
            self.noise += 1
            return []
        self.pressed = self._raw
        return [Edge(self.button, first, self._raw)]


class ButtonBank:
    """The four contacts together: presses and releases in the order in which they were made."""

    def __init__(self, levels: Mapping[Button, bool], settle: float = SETTLE_S) -> None:
        self._contacts = {b: Debouncer(b, levels.get(b, False), settle) for b in Button}
        self._settle = settle
        self._fed: list[RawEdge] = []
        self._held: list[Edge] = []
        self.restamped = 0
        """Edges whose stamp was of another clock and that were stamped anew on arrival."""

    @property
    def noise(self) -> dict[Button, int]:
        """Glitches counted per button: a number that grows is a loose lead or interference."""
        return {button: contact.noise for button, contact in self._contacts.items()}

    @property
    def healed(self) -> int:
        """Edges of all buttons that only the levels told of."""
        return sum(contact.healed for contact in self._contacts.values())

    def unsettled(self) -> dict[Button, float]:
        """The buttons whose last edge is not judged yet, each with the first edge of its burst."""
        since = {button: contact.open_since for button, contact in self._contacts.items()}
        return {button: t for button, t in since.items() if t is not None}

    def feed(self, edges: Iterable[RawEdge]) -> None:
        """Takes raw edges in the order of their arrival; the next poll judges them."""
        self._fed.extend(edges)

    def poll(self, now: float, levels: Mapping[Button, bool]) -> list[Edge]:
        """Takes the levels just read and gives what has settled, sorted by stamp.

        An edge is held back while another button's burst that began before it is still open, so that
        the order of two hands is the order of their first edges also from one poll to the next.
        """
        for raw in self._fed:
            self._held += self._contacts[raw.button].edge(self._stamp(raw.t, now), raw.pressed)
        self._fed.clear()
        for button, contact in self._contacts.items():
            self._held += contact.poll(now, levels[button])
        began = [c.open_since for c in self._contacts.values() if c.open_since is not None]
        horizon = min(began, default=now)
        ready = [e for e in self._held if not began or e.t < horizon]
        self._held = [e for e in self._held if began and e.t >= horizon]
        return sorted(ready, key=lambda e: (e.t, _RANK[e.button]))

    def next_due(self, now: float) -> float | None:
        """The instant at which it wants to be polled again; None while nothing is open."""
        if self._fed or self._held or any(c.open_since is not None for c in self._contacts.values()):
            return now + self._settle / 2
        return None

    def _stamp(self, t: float, now: float) -> float:
        if -1.0 < now - t < OLDEST_STAMP_S:
            return t
        self.restamped += 1
        return now
