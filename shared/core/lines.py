"""From the results of a category to its lines: which of an entrant's runs count, and who was absent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import Final

from shared.core.model import Mark, Problem, Status
from shared.core.result import Result
from shared.core.run import Run
from shared.core.timeline import Timeline

_LIVE: Final = frozenset({Status.RUNNING, Status.FINISHED, Status.UNFINISHED})

Compare = Callable[[str, str], int]
"""Negative if the first run started before the second."""


def lines_of(results: Iterable[Result], compare: Compare) -> list[Result]:
    """The lines of a category: practice and runs of nobody as they are, of each entrant what counts.

    Of two live runs a finished one counts before any other, then the earlier start; the others are marked.
    A run that a ruling took out of the race stands on its own line, a void one only if there is no other.
    """
    lines: list[Result] = []
    by_entrant: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.entrant is None or Mark.PRACTICE in result.marks:
            lines.append(result)
        else:
            by_entrant[result.entrant].append(result)
    for mine in by_entrant.values():
        lines += mine if len(mine) == 1 else _of_several(mine, compare)
    return lines


def _of_several(mine: Sequence[Result], compare: Compare) -> list[Result]:
    started = cmp_to_key(compare)
    runs = sorted(sorted(mine, key=lambda r: r.run), key=lambda r: started(r.run))
    void = [r for r in runs if r.status is Status.VOID]
    rest = [r for r in runs if r.status is not Status.VOID]
    if not rest:
        return void[-1:]
    if void:
        first = runs.index(void[0])
        rest = [_marked(r, Mark.RERUN) if runs.index(r) > first else r for r in rest]
    live = sorted((r for r in rest if r.status in _LIVE), key=lambda r: r.status is not Status.FINISHED)
    ruled_out = [r for r in rest if r.status not in _LIVE]
    if ruled_out and live:
        told = Problem("ran_again_unvoided", run=live[0].run)
        live[0] = replace(live[0], problems=(*live[0].problems, told))
    return [*live[:1], *(_marked(r, Mark.TWO_RUNS) for r in live[1:]), *ruled_out]


def _marked(result: Result, mark: Mark) -> Result:
    return replace(result, marks=(*result.marks, mark))


def start_order(runs: Mapping[str, Run], timeline: Timeline) -> Compare:
    """Which of two runs started first: by log, by clocks in common, else by the label of wall time."""

    def compare(a: str, b: str) -> int:
        first, second = runs[a], runs[b]
        if first.start.log == second.start.log:
            return first.start.seq - second.start.seq
        span = timeline.between(second.start_stamp, first.start_stamp)
        if span.exact and span.low_ms != 0:
            return span.low_ms
        return (first.start.wall_ms or 0) - (second.start.wall_ms or 0)

    return compare
