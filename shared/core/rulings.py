"""Rulings of judge and organiser: which are in force, what each is about, and how they change the fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from copy import copy
from typing import Final, Self

from shared.core.events import Event, EventType
from shared.core.model import Level, Problem
from shared.core.state import Frame

Subject = tuple[str, ...]
"""What a ruling is about."""
RUN: Final = "run"
HEAT: Final = "heat"
ENTRANT: Final = "entrant"
TIE: Final = "tie"
NOTHING: Final = "nothing"

#: Rulings that change how the acts of a run are folded; the others are laid over the result.
FRAMING: Final = frozenset({EventType.TIME_GRANTED, EventType.PUZZLE_PIECES_SET})


def subject_of(ruling: Event) -> Subject:
    """What a ruling is about: a run, a heat, an entrant of a category, a tie of a category, or nothing."""
    if ruling.type == EventType.DID_NOT_START:
        return ENTRANT, ruling.data["category"], ruling.data["entrant"]
    if ruling.type == EventType.TIE_BROKEN:
        return TIE, ruling.data["category"]
    if ruling.run is not None:
        return RUN, ruling.run
    if ruling.type == EventType.TIME_GRANTED and ruling.data.get("heat") is not None:
        return HEAT, ruling.data["heat"]
    return (NOTHING,)


Key = tuple[str, int]
"""Log and seq of a ruling."""


def named_by(ruling: Event, name: str) -> Key:
    """The ruling that another names by its seq: of the same log, where no other (`of_log`) is named."""
    return ruling.data.get("of_log") or ruling.log, ruling.data[name]


class _HubLog:
    """The rulings of one hub log."""

    def __init__(self) -> None:
        self.all: dict[int, Event] = {}
        self.first_ms: float = float("inf")
        self.revokes: set[Key] = set()
        """What its revocations take back, here and in other logs."""

    def revoked(self) -> set[Key]:
        """The same, worked out: newest first, so that whether each is itself revoked is known when it is reached.

        Only its own log can take a revocation back: two logs could revoke each other's in a circle.
        """
        found = [r for r in self.all.values() if r.type == EventType.RULING_REVOKED]
        revokes: set[Key] = set()
        for revocation in sorted(found, key=lambda r: r.seq, reverse=True):
            log, seq = named_by(revocation, "ruling")
            if revocation.key not in revokes and (log != revocation.log or seq < revocation.seq):
                revokes.add((log, seq))
        return revokes


class Rulings:
    """All rulings of all hub logs; those in force by what they are about."""

    def __init__(self) -> None:
        self._logs: defaultdict[str, _HubLog] = defaultdict(_HubLog)
        self._about: defaultdict[Subject, list[Event]] = defaultdict(list)

    def add(self, ruling: Event) -> list[Event]:
        """Keep a ruling; those that came into force or went out of it because of it."""
        log = self._logs[ruling.log]
        log.all[ruling.seq] = ruling
        if ruling.wall_ms is not None:
            log.first_ms = min(log.first_ms, ruling.wall_ms)
        if ruling.type == EventType.RULING_REVOKED:
            return self._revoke(log)
        if self._is_revoked(ruling.key):
            return []
        self._about[subject_of(ruling)].append(ruling)
        return [ruling]

    def _revoke(self, log: _HubLog) -> list[Event]:
        before, after = log.revokes, log.revoked()
        touched = [(key, self._is_revoked(key)) for key in sorted(before ^ after)]
        log.revokes = after
        changed = []
        for key, was_revoked in touched:
            ruling = self._revocable(key)
            if ruling is None or was_revoked == self._is_revoked(key):
                continue
            here = self._about[subject_of(ruling)]
            if was_revoked:
                here.append(ruling)
            else:
                here.remove(ruling)
            changed.append(ruling)
        return changed

    def _is_revoked(self, key: Key) -> bool:
        return any(key in log.revokes for log in self._logs.values())

    def _revocable(self, key: Key) -> Event | None:
        """The ruling of this key, but no revocation."""
        log = self._logs.get(key[0])
        found = None if log is None else log.all.get(key[1])
        return None if found is None or found.type == EventType.RULING_REVOKED else found

    def about(self, *subjects: Subject) -> list[Event]:
        """The rulings in force about any of these, in their order."""
        found = [ruling for subject in subjects for ruling in self._about.get(subject, ())]
        return found if len(found) < 2 else self.in_order(found)

    def in_order(self, rulings: Iterable[Event]) -> list[Event]:
        """By `seq` in one log; the log of an earlier database before that of a later one, by its first ruling."""
        return sorted(rulings, key=lambda r: (self._logs[r.log].first_ms, r.log, r.seq))

    def in_force(self) -> list[Event]:
        """Every ruling in force, in order."""
        return self.in_order(ruling for here in self._about.values() for ruling in here)

    def copied(self) -> Self:
        """The same rulings, to which others can be added without a trace here."""
        other = copy(self)
        other._logs, other._about = defaultdict(_HubLog), defaultdict(list)
        for name, log in self._logs.items():
            other._logs[name] = kept = copy(log)
            kept.all = dict(log.all)
        for subject, here in self._about.items():
            other._about[subject] = list(here)
        return other

    def subjects(self, kind: str) -> list[Subject]:
        """What of a kind any ruling in force is about, in no order that means anything."""
        return sorted(s for s, here in self._about.items() if here and s[0] == kind)

    def problems(
        self,
        has_result: Callable[[str], bool],
        has_heat: Callable[[str], bool],
        categories: Container[str],
    ) -> Iterator[Problem]:
        """Rulings about nothing that is there: no earlier ruling, no run with a result, no such category."""
        for ruling in self.in_order(r for log in self._logs.values() for r in log.all.values()):
            code = None
            if ruling.type == EventType.RULING_REVOKED:
                log, seq = named_by(ruling, "ruling")
                if log == ruling.log:
                    found = seq < ruling.seq and seq in self._logs[log].all
                else:
                    found = self._revocable((log, seq)) is not None
                code = None if found else "nothing_to_revoke"
            elif not self._is_revoked(ruling.key):
                code = _idle(ruling, has_result, has_heat, categories)
            if code is not None:
                yield problem_of(code, ruling)


def _reassigns(ruling: Event) -> bool:
    return any(ruling.data.get(name) is not None for name in ("entrant", "table"))


def _idle(
    ruling: Event,
    has_result: Callable[[str], bool],
    has_heat: Callable[[str], bool],
    categories: Container[str],
) -> str | None:
    kind, *about = subject_of(ruling)
    if kind in (ENTRANT, TIE):
        return None if about[0] in categories else "unknown_category"
    if kind == RUN:
        says_nothing = ruling.type == EventType.RUN_REASSIGNED and not _reassigns(ruling)
        return (
            "ruling_says_nothing" if says_nothing else None if has_result(about[0]) else "ruling_without_run"
        )
    if kind == HEAT:
        return None if has_heat(about[0]) else "ruling_without_run"
    granted_to_nobody = kind == NOTHING and ruling.type == EventType.TIME_GRANTED
    return "ruling_without_run" if granted_to_nobody else None


def problem_of(code: str, ruling: Event, run: str | None = None) -> Problem:
    """A problem with a ruling, where it stands."""
    detail = {"type": str(ruling.type)}
    return Problem(code, Level.WARNING, ruling.log, ruling.seq, run or ruling.run, detail)


def frame_with(frame: Frame, rulings: Iterable[Event]) -> Frame:
    """The rules with the time granted and the puzzle's pieces as the rulings in force on a run say."""
    granted_s, pieces = 0, None
    for ruling in rulings:
        if ruling.type == EventType.TIME_GRANTED:
            granted_s += ruling.data["seconds"]
        elif ruling.type == EventType.PUZZLE_PIECES_SET:
            pieces = ruling.data["pieces"]
    return Frame(frame.rules, granted_s * 1000, pieces)
