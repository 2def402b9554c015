"""A whole table without threads: the real controller over a real journal, driven by a hand clock of ours."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from device.alive import Alive
from device.debounce import Button, RawEdge
from device.history import History
from device.journal import Journal
from device.plan_store import PlanStore
from device.screen import Screen
from device.table import Ports, Seat, Table
from shared.clock import RunClock
from shared.core.events import Event, EventType
from shared.rulebook import shipped_rulebook

TORNEO = shipped_rulebook("torneo-puzzles-2026").categories
CASTRILLO = shipped_rulebook("castrillo-2023").categories


class Rig:
    """One table in a folder; `press`, `wait` and `screen` are what a judge does and sees."""

    def __init__(
        self,
        folder: Path,
        *categories: str,
        boot: str = "boot-1",
        now: float = 1000.0,
        zero_s: float = 0.0,
        language: str = "es",
    ) -> None:
        self.folder = folder
        self.now = now
        self.levels: dict[Button, bool] = dict.fromkeys(Button, False)
        self.screens: list[Screen] = []
        self.states: list[Mapping[str, Any]] = []
        self.inbox: list[object] = []
        self.online, self.unsent = True, 0
        rules = TORNEO | {f"castrillo-{k}": v for k, v in CASTRILLO.items()}
        run_ids = (f"{boot}-run-{n}" for n in count(1))
        log_ids = count(1)
        self.journal = Journal.open(folder, "t07", lambda: f"t07-{boot}-{next(log_ids)}")
        plans = PlanStore(folder)
        run_clock = RunClock(zero_s=zero_s)
        self.history = History(
            self.journal,
            plans,
            Alive(folder / "alive"),
            boot=boot,
            run_clock=run_clock,
            wall=lambda: 1_790_000_000_000 + int(self.now * 1000),
            clock=lambda: self.now,
        )
        ports = Ports(
            levels=lambda: self.levels,
            show=self.screens.append,
            publish_state=self.states.append,
            link=lambda: (self.online, self.unsent),
            new_run=lambda: next(run_ids),
        )
        seat = Seat(7, tuple(rules[c] for c in categories), language)
        self.table = Table(seat, self.history, plans, ports, clock=lambda: self.now, run_clock=run_clock)
        self.step()

    def step(self) -> float:
        """One pass of the loop now."""
        items, self.inbox = self.inbox, []
        return self.table.step(self.now, items)

    def wait(self, seconds: float) -> None:
        """Time goes by; the loop runs whenever it asked to."""
        end = self.now + seconds
        due = self.step()
        while due < end:
            self.now = max(due, self.now + 1e-6)
            due = self.step()
        self.now = end
        self.step()

    def jump(self, seconds: float) -> None:
        """Much time goes by with a single pass at its end, as on a busy machine."""
        self.now += seconds
        self.step()

    def down(self, button: Button) -> None:
        """A finger comes down."""
        self.levels[button] = True
        self.inbox.append(RawEdge(button, self.now, True))

    def up(self, button: Button) -> None:
        """A finger goes up."""
        self.levels[button] = False
        self.inbox.append(RawEdge(button, self.now, False))

    def press(self, button: Button, hold: float = 0.08) -> None:
        """Press, hold and release a button; half a second passes in all."""
        self.down(button)
        self.wait(hold)
        self.up(button)
        self.wait(0.45)

    def unplug(self) -> None:
        """The plug is pulled: the process is gone, the journal stays."""
        self.journal.close()

    @property
    def screen(self) -> Screen:
        """What the display shows."""
        return self.screens[-1]

    @property
    def state(self) -> str:
        """The state people see."""
        return self.table.situation(self.now).state

    def events(self, *kinds: EventType) -> list[Event]:
        """What the journal holds, of these kinds."""
        return [e for e in self.journal.events() if not kinds or e.type in kinds]

    def types(self) -> list[str]:
        """The kinds of all events, in order."""
        return [str(e.type) for e in self.events()]
