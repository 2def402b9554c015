"""Everything that any log says of one run, put into the order in which it is folded.

A run lives in one log, unless a spare table takes it over: then what the old log holds behind that point is kept,
not folded. The order follows from what is there, never from what came first.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from shared.core.events import Event, EventType
from shared.core.model import Level, Problem


class Told(NamedTuple):
    """A run as its logs tell it."""

    acts: list[Event]
    """Acts and take-overs in folding order, the start left out; none while no log holds a start."""
    problems: list[Problem]
    superseded: bool = False
    """Something was pressed at a table that had been replaced."""
    split: bool = False
    """Two logs speak of this run and nothing says which goes on: no number of it is certain."""


class _Part(NamedTuple):
    """A stretch of one log: from its beginning or a take-over in it, to the next take-over in it."""

    log: str
    begins: int


_Parts = Mapping[_Part, Sequence[Event]]
#: What can change the order of everything else.
_TURNS: Final = frozenset({EventType.RUN_STARTED, EventType.RUN_TAKEN_OVER})
_NO_SEQ_IS_LATER: Final = 2**53


class Chronicle:
    """What is known of one run id."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.starts: list[Event] = []
        """The first of them counts."""
        self._logs: dict[str, list[Event]] = {}
        self._tail = ("", 0)
        """Where the last folded event stands, if whatever comes behind it in its log is simply the next."""

    def add(self, event: Event) -> bool:
        """Keep an event; True if it is simply the next act, so that nothing needs to be ordered anew."""
        log, seq = self._tail
        if event.log == log and event.seq > seq and event.type not in _TURNS:
            self._logs[log].append(event)
            self._tail = event.log, event.seq
            return True
        if event.type == EventType.RUN_STARTED:
            insort(self.starts, event, key=lambda e: e.key)
            self._logs.setdefault(event.log, [])
        else:
            insort(self._logs.setdefault(event.log, []), event, key=lambda e: e.seq)
        return False

    def told(self) -> Told:
        """The run in folding order, from all that is known now."""
        if not self.starts:
            events = (event for log in self._logs.values() for event in log)
            return Told([], self._reports("act_without_start", events))
        start = self.starts[0]
        parts = self._parts()
        cuts, follows = _turns(parts)
        first = _part_with(parts, start.log, start.seq)
        order = _walked(first, follows)
        strangers = [part for part in sorted(parts) if part not in order and parts[part]]
        folded: dict[str, list[Event]] = {"acts": [], "superseded": [], "before": []}
        for part in (*order, *strangers):
            for event in parts[part]:
                before = part == first and event.seq < start.seq
                late = event.seq > cuts.get(part, event.seq)
                folded["before" if before else "superseded" if late else "acts"].append(event)
        split = bool(strangers) or any(len({p.log for p in after}) > 1 for after in follows.values())
        self._tail = ("", 0) if split or order[-1] in cuts else _tail(parts, order[-1], start)
        problems = [
            *self._reports("run_id_used_twice", self.starts[1:], Level.ERROR),
            *self._reports("act_without_start", folded["before"]),
            *self._reports("superseded", folded["superseded"]),
            *self._reports("one_run_in_two_logs", [start] if split else [], Level.ERROR),
        ]
        return Told(folded["acts"], problems, bool(folded["superseded"]), split)

    def _reports(self, code: str, events: Iterable[Event], level: Level = Level.WARNING) -> list[Problem]:
        return [Problem(code, level, e.log, e.seq, self.run, {"type": str(e.type)}) for e in events]

    def _parts(self) -> dict[_Part, list[Event]]:
        parts: dict[_Part, list[Event]] = {}
        for log, events in self._logs.items():
            here = parts.setdefault(_Part(log, 0), [])
            for event in events:
                if event.type == EventType.RUN_TAKEN_OVER:
                    here = parts.setdefault(_Part(log, event.seq), [])
                here.append(event)
        return parts


def _turns(parts: _Parts) -> tuple[dict[_Part, int], dict[_Part, list[_Part]]]:
    """Behind which seq a part is superseded, and which parts go on from it."""
    cuts: dict[_Part, int] = {}
    follows: defaultdict[_Part, list[_Part]] = defaultdict(list)
    for part in sorted(parts):
        if part.begins > 0:
            taken = parts[part][0].data
            old = _part_with(parts, taken["from_log"], taken["from_seq"])
            cuts[old] = min(cuts.get(old, taken["from_seq"]), taken["from_seq"])
            follows[old].append(part)
    return cuts, follows


def _part_with(parts: _Parts, log: str, seq: int) -> _Part:
    return _Part(log, max((p.begins for p in parts if p.log == log and p.begins <= seq), default=0))


def _walked(first: _Part, follows: Mapping[_Part, Sequence[_Part]]) -> list[_Part]:
    """The parts reached from the first, each followed by those that go on from it."""
    order: dict[_Part, None] = {}
    ahead = [first]
    while ahead:
        part = ahead.pop()
        if part not in order:
            order[part] = None
            ahead += reversed(follows.get(part, ()))
    return list(order)


def _tail(parts: _Parts, last: _Part, start: Event) -> tuple[str, int]:
    """Where the last part ends, unless a later stretch of its log was ordered before it."""
    if last != _part_with(parts, last.log, _NO_SEQ_IS_LATER):
        return "", 0
    seqs = [event.seq for event in parts[last]] + [start.seq] * (last.log == start.log)
    return last.log, max(seqs)
