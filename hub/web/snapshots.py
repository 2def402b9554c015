"""The live part of each page, rendered once a revision and language, shared by everyone who watches."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from shared.clock import HandClock

Fragment = Callable[["Topic", str], str]
"""Renders the live part of a page, as it is now, in a language."""


class Topic(StrEnum):
    """What a live page is about; also the name of its template."""

    STANDINGS = "standings"
    TABLES = "tables"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live part of one page at one revision."""

    topic: Topic
    revision: int
    html: str
    made_s: float
    """Hand time at which it was rendered: clocks on it are as old as this."""

    def aged_ms(self, now_s: float) -> int:
        """How old it is, in milliseconds of hand time."""
        return max(0, int((now_s - self.made_s) * 1000))

    def message(self, now_s: float, version: str) -> str:
        """As browsers take it: a line of JSON about it, then the HTML."""
        about = {"revision": self.revision, "aged_ms": self.aged_ms(now_s), "version": version}
        return f"{json.dumps(about)}\n{self.html}"


class Snapshots:
    """Snapshots of the current revision."""

    def __init__(self, revision: Callable[[], int], fragment: Fragment, hand: HandClock) -> None:
        self._revision = revision
        self._fragment = fragment
        self._hand = hand
        self._kept: dict[tuple[Topic, str], Snapshot] = {}

    def of(self, topic: Topic, language: str) -> Snapshot:
        """The live part of a page, as new as the hub's revision."""
        kept = self._kept.get((topic, language))
        if kept is not None and kept.revision == self._revision():
            return kept
        # Read before rendering: what is shown may be newer than its number, never older.
        revision, made_s = self._revision(), self._hand()
        snapshot = Snapshot(topic, revision, self._fragment(topic, language), made_s)
        self._kept[topic, language] = snapshot
        return snapshot
