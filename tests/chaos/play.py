"""One chaos run: everything that a seed draws happens, everything is mended, and what must hold is looked at."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.clock import monotonic
from tests.chaos.arena import Arena
from tests.chaos.faults import NEED_SMALL_DISKS, Fault, Kind, schedule
from tests.chaos.stepclock import can_step
from tests.chaos.verdict import Verdict, drained, judged

TABLES: Final = 12
DRAIN_S: Final = 120.0
QUIET_S: Final = 2.0
_TEND_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Played:
    """What a run came to."""

    seed: int
    faults: int
    verdict: Verdict

    def last_line(self) -> str:
        """The figures of the run in one line."""
        v = self.verdict
        return (
            f"seed={self.seed} runs={v.runs} faults={self.faults} events={v.events} "
            f"lost={len(v.lost)} duplicated={len(v.duplicated)} wrong={len(v.wrong)}"
        )


def play(
    folder: Path,
    seed: int,
    seconds: float,
    say: Callable[[str], None],
    *,
    tables: int = TABLES,
    small_disks: bool = False,
) -> Played:
    """Run chaos for so many seconds, mend, drain, and judge."""
    missing = set() if small_disks else set(NEED_SMALL_DISKS)
    missing |= set() if can_step() else {Kind.CLOCK_SET}
    kinds = [kind for kind in Kind if kind not in missing]
    faults = schedule(seed, seconds, range(1, tables + 1), kinds)
    arena = Arena(folder, tables, seed, small_disks=small_disks)
    try:
        arena.open()
        _let_happen(arena, faults, seconds, say)
        say("mended; waiting until the tables have played to the end and told everything")
        # no table may begin another run: the plan that is left is for a table that is not there
        arena.load(["99,1,99,nobody,adulto,Nobody"])
        in_time = _wait_drained(arena)
        verdict = judged(arena)
        say(f"{verdict.seen} final results were read off the displays")
        if not in_time:
            verdict.lost.append(
                f"not everything was with the hub {DRAIN_S:g} s after the last fault was mended"
            )
        falls = [
            f"{s.name} ended by itself: exit codes {s.falls}" for s in (arena.timers, arena.broker) if s.falls
        ]
        verdict.wrong += falls
        if arena.hub.falls:  # a hub cannot start on a full disk; whoever started it starts it again
            say(f"the hub was started again {len(arena.hub.falls)} times")
    finally:
        arena.close()
    return Played(seed, len(faults), verdict)


def _let_happen(arena: Arena, faults: list[Fault], seconds: float, say: Callable[[str], None]) -> None:
    """Begin and mend each fault in its time; all are mended when it returns."""
    began_s = monotonic()
    due = [(fault.at_s, n, fault, False) for n, fault in enumerate(faults)]
    heapq.heapify(due)
    while due:
        _wait_until(arena, began_s + due[0][0])
        _, n, fault, begun = heapq.heappop(due)
        if begun:
            arena.mend(fault)
            continue
        where = f" ({', '.join(map(str, fault.tables))})" if fault.tables else ""
        say(f"{fault.at_s:6.2f} s for {fault.length_s:5.2f} s: {fault.kind}{where}")
        arena.begin(fault)
        heapq.heappush(due, (fault.at_s + fault.length_s, n, fault, True))
    _wait_until(arena, began_s + seconds)


def _wait_until(arena: Arena, at_s: float) -> None:
    never = threading.Event()
    while (left_s := at_s - monotonic()) > 0:
        never.wait(min(left_s, _TEND_S))
        arena.tend()


def _wait_drained(arena: Arena) -> bool:
    """Wait until everything is told, and has been for a while: a judge may just be about to press."""
    end_s, since_s = monotonic() + DRAIN_S, None
    while monotonic() < end_s:
        _wait_until(arena, monotonic() + 0.3)
        if not drained(arena):
            since_s = None
        elif since_s is None:
            since_s = monotonic()
        elif monotonic() - since_s >= QUIET_S:
            return True
    return False
