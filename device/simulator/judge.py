"""The scripted judge: plays whole heats at any speed, for people who watch, for tests and for rehearsals."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from random import Random
from typing import Any, Final, Protocol

from device.debounce import Button
from device.simulator.script import script
from device.simulator.tactics import TACTICS, Look, Memory, Move, Sight
from shared.clock import HandClock, monotonic

GLANCE_S: Final = 0.05
"""Between two looks at a table."""
TAKEN_WITHIN_S: Final = 2.0
"""A press that has changed nothing on the display for so long was in vain, and is made again."""
PLAN_WITHIN_S: Final = 10.0
"""So long a table waits for a plan before it is played without one."""


class Hands(Protocol):
    """What a judge needs of the tables; `Supervisor` is one, and so could be arms over HTTP."""

    def press(self, table: int, button: Button, hold_s: float) -> None:
        """Hold a button for so long, in seconds of hand time; back when it is up."""

    def look(self, table: int) -> Look:
        """`on`, `alive`, `clock_ms` and the values of `telling`, with clocks brought forward to now."""


class ScriptedJudge:
    """One judge at each table, all from one seed. What each decides depends on nothing but that seed."""

    def __init__(
        self,
        random: Random,
        hands: Hands,
        tables: Sequence[int],
        *,
        runs_without_plan: int = 1,
        plan_within_s: float = PLAN_WITHIN_S,
        clock: HandClock = monotonic,
    ) -> None:
        """Where there is no plan to come to the end of, `runs_without_plan` are played at each table."""
        self._hands = hands
        self._runs_without_plan = runs_without_plan
        self._plan_within_s = plan_within_s
        self._clock = clock
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._judge, args=(table, Random(seed)), name=f"judge {table}", daemon=True
            )
            for table, seed in [(table, random.getrandbits(64)) for table in sorted(tables)]
        ]

    def start(self) -> None:
        """Begin; returns at once."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Take the hands off, at once but for a button that is being held."""
        self._stopping.set()

    def wait_done(self, timeout_s: float) -> bool:
        """Wait until every plan is done; False when that took longer."""
        end_s = self._clock() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, end_s - self._clock()))
        return not any(thread.is_alive() for thread in self._threads)

    def _judge(self, table: int, random: Random) -> None:
        runs = 0
        while not self._stopping.is_set():
            if not self._may_begin(table, runs):
                return
            if not self._run(table, Memory(script(random))):
                return
            runs += 1

    def _may_begin(self, table: int, runs: int) -> bool:
        """Wait for a plan, but not for ever; False when there is none and enough was played."""
        end_s = self._clock() + (self._plan_within_s if not runs else 0.0)
        while not self._stopping.is_set():
            look = self._hands.look(table)
            begun = look.get("state", "ready") != "ready"
            if "state" in look and (begun or look["planned"]):
                return True
            if look["alive"] and self._clock() >= end_s:  # one that is off will remember its plan
                return runs < self._runs_without_plan
            self._stopping.wait(GLANCE_S)
        return False

    def _run(self, table: int, memory: Memory) -> bool:
        """Play one run to the end and ask for the next; False when there is none, or the judge was stopped."""
        shown: object = None
        seated: object = None
        asked_next = False
        while not self._stopping.wait(GLANCE_S):
            look = self._hands.look(table)
            if not look["alive"]:
                continue
            if asked_next and look["state"] == "ready":
                return True
            if asked_next and look["refusal"] == "plan_done":
                return False
            if seated != (seated := (look["state"], look["category"], look["entrant"])):
                memory.since_ms = look["clock_ms"]
            if shown != (shown := _mark(look)):
                memory.since_s = self._clock()
            move = TACTICS[look["state"]](Sight(look, memory, self._clock()))
            if move is not None:
                asked_next = look["state"] == "sealed"
                self._press(table, move, shown)
        return False

    def _press(self, table: int, move: Move, before: object) -> None:
        """Press, and wait until it can be seen that the table took or refused it."""
        self._hands.press(table, move.button, move.hold_s)
        end_s = self._clock() + TAKEN_WITHIN_S
        while self._clock() < end_s and not self._stopping.wait(GLANCE_S):
            look = self._hands.look(table)
            if not look["alive"] or _mark(look) != before:
                return


_MARKS: Final = ("state", "notice", "armed", "refusal", "count", "escape", "category", "entrant")


def _mark(look: Look) -> tuple[Any, ...]:
    """What makes one picture another, beside running clocks."""
    return tuple(str(look.get(name)) for name in _MARKS)
