"""How an inexact run may have gone: the states to which every possible length of its unknown gaps leads.

As long as every comparison that the fold makes comes out the same, all times in it move evenly with the gaps. So
the gaps with which a run takes one course lie side by side, and in between nothing else can come of it: it is
enough to look where one course ends and the next begins. Those places are found by halving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from shared.core import machine
from shared.core.events import Event, EventType
from shared.core.layout import START, Layout, Place
from shared.core.readings import clock_readings_ms, escape_official_s
from shared.core.state import ActRef, Frame, RunState

_MOST_FOLDS: Final = 2_500
"""A second unsure block needs a search within a search; who needs more is left to the judges."""


class Ways(NamedTuple):
    """The states to which a run may have come, as far as they differ."""

    states: tuple[RunState, ...]
    complete: bool
    """False: too much is unknown of this run to tell them all."""


class _Look(NamedTuple):
    """What comes of it when the first blocks begin at given instants."""

    course: object
    """Equal where nothing differs but times."""
    states: tuple[RunState, ...]


def end_of(frame: Frame) -> int:
    """Milliseconds after the start from which on all acts come too late, by whatever time."""
    rules = frame.rules
    pauses_ms = 0 if rules.pauses is None else rules.pauses.count * rules.pauses.each_ms
    return rules.preview_ms + rules.limit_ms + max(0, frame.granted_ms) + pauses_ms + 1


def ways(start: Event, frame: Frame, acts: Sequence[Event], layout: Layout) -> Ways:
    """Fold the acts with every length of the unknown gaps that makes a difference."""
    search = _Search(start, frame, acts, layout)
    found = search.look((0,), RunState()).states
    return Ways(tuple(dict.fromkeys(found)), search.folds_left > 0)


class _Search:
    def __init__(self, start: Event, frame: Frame, acts: Sequence[Event], layout: Layout) -> None:
        self.folds_left = _MOST_FOLDS
        self._frame = frame
        self._layout = layout
        told = [(start, Place(START, 0)), *zip(acts, layout.places, strict=True)]
        told = [(event, place) for event, place in told if event.type != EventType.RUN_TAKEN_OVER]
        self._parts: list[list[tuple[Event, Place]]] = [[] for _ in layout.bounds]
        """What can be folded once it is known when a block begins, and not before."""
        needed = START
        for event, place in told:
            needed = max(needed, place.block)
            self._parts[needed].append((event, place))

    def look(self, begins: tuple[int, ...], before: RunState) -> _Look:
        """All that can come of it when the first blocks begin so long after the start."""
        state, course = self._folded(before, begins)
        if len(begins) == len(self._layout.bounds):
            return self._ended(state, course)
        seen: dict[int, _Look] = {}

        def look(ms: int) -> _Look:
            if ms not in seen:
                seen[ms] = self.look((*begins, ms), state)
            return seen[ms]

        self._halve(*self._layout.range_of(begins), look)
        courses = [list(alike) for _, alike in groupby(sorted(seen), key=lambda ms: seen[ms].course)]
        telling = [ms for alike in courses for ms in (alike[0], alike[-1])]
        if len(begins) + 1 == len(self._layout.bounds):
            for alike in courses:
                telling += self._turns_of_seconds(alike[0], alike[-1], look)
        course += (seen[alike[0]].course for alike in courses)
        return _Look(course, tuple(state for ms in telling for state in look(ms).states))

    def _halve(self, low_ms: int, high_ms: int, look: Callable[[int], _Look]) -> None:
        """Look until neighbours take the same course or stand next to each other."""
        stretches = [(low_ms, high_ms)]
        while stretches:
            low_ms, high_ms = stretches.pop()
            if look(low_ms).course != look(high_ms).course and high_ms - low_ms > 1 and self.folds_left > 0:
                middle_ms = (low_ms + high_ms) // 2
                stretches += [(low_ms, middle_ms), (middle_ms, high_ms)]

    def _turns_of_seconds(self, low_ms: int, high_ms: int, look: Callable[[int], _Look]) -> Iterator[int]:
        """Where a sum of readings, each cut to seconds, is least or most: within a second of an end.

        One reading that moves alone is least and most at the ends themselves.
        """
        lows, highs = (clock_readings_ms(look(ms).states[0], self._frame) for ms in (low_ms, high_ms))
        moving = [(low, high) for low, high in zip(lows, highs, strict=True) if low != high]
        if len(moving) > 1:
            for low, high in moving:
                ahead = low_ms + -low % 1000, low_ms + low % 1000 + 1
                turns = (*ahead, high_ms - -high % 1000, high_ms - high % 1000 - 1)
                yield from (ms for ms in turns if low_ms < ms < high_ms)

    def _ended(self, state: RunState, course: list[object]) -> _Look:
        """Everything is folded; what happens by itself after the last act belongs to the course too."""
        self.folds_left -= 1
        end = machine.at(state, self._frame, machine.instant(state, end_of(self._frame)))
        stage_s = escape_official_s(end.handed_over, self._frame.rules.escape)
        at_zero = [ms == 0 for ms in clock_readings_ms(end, self._frame)]
        return _Look([course, _seen(end), at_zero, stage_s == 0], (state,))

    def _folded(self, state: RunState, begins: tuple[int, ...]) -> tuple[RunState, list[object]]:
        course: list[object] = []
        for event, place in self._parts[len(begins) - 1]:
            told_ms = begins[place.block] + place.ms
            t_ms = machine.instant(state, told_ms)
            seen = _seen(machine.at(state, self._frame, t_ms, act=event.type))
            act = ActRef(event.log, event.seq, event.type)
            state, refusal = machine.take(state, self._frame, act, t_ms, event.data)
            course.append((told_ms == t_ms, seen, refusal))
        return state, course


def _seen(now: RunState) -> tuple[object, ...]:
    """What tells which of the things that happen by themselves have happened."""
    return now.state, now.escape is None, now.notice
