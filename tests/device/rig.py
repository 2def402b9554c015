"""A whole table without threads: the real controller over a real journal, driven by a hand clock of ours."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from device.alive import Alive
from device.debounce import Button, RawEdge
from device.from_hub import TimeAnswered
from device.history import History
from device.journal import Journal
from device.plan_store import PlanStore
from device.screen import Screen
from device.table import Ports, Seat, Table
from shared.clock import RunClock
from shared.core.events import Event, EventType
from shared.rulebook import shipped_rulebook
from shared.wire import EarlierClock, TimeAnswer

TORNEO = shipped_rulebook("torneo-puzzles-2026").categories
CASTRILLO = shipped_rulebook("castrillo-2023").categories


class RigHub:
    """A hub's clock ahead of the rig's, behind a network with a fixed delay each way."""

    def __init__(self, ahead_s: float = 5_000.0, base: str = "hub-1", way_s: float = 0.002) -> None:
        self.ahead_s, self.base, self.way_s = ahead_s, base, way_s
        self.earlier: tuple[EarlierClock, ...] = ()

    def ms(self, hand_s: float) -> int:
        """What its clock reads at an instant of hand time."""
        return round((hand_s + self.ahead_s) * 1000)

    def answer(self, t1_us: int) -> TimeAnswered:
        """Its answer to a question for its time."""
        asked_s = t1_us / 1e6
        hub_us = round((asked_s + self.way_s + self.ahead_s) * 1e6)
        return TimeAnswered(
            TimeAnswer(t1_us, hub_us, hub_us, self.base, self.earlier), asked_s + 2 * self.way_s
        )


class Faults:
    """What goes wrong around a table: nothing, until a test says otherwise."""

    trouble: str | None = None
    """What the disk has: `full`, `read_only` or `failing`; it takes nothing then."""

    def at(self, place: str) -> None:
        """The table is about to `write`, has `written`, is about to `show`, `publish` or look at `levels`."""

    def sync(self, fd: int) -> None:
        """Make durable, or raise OSError."""
        self.at("write")
        if self.trouble is not None:
            raise OSError(errno.ENOSPC if self.trouble == "full" else errno.EROFS, self.trouble)
        os.fdatasync(fd)
        self.at("written")


class _RigJournal(Journal):
    """A journal whose disk is asked of the faults."""

    faults: Faults | None = None

    def trouble(self) -> str | None:
        return super().trouble() if self.faults is None else self.faults.trouble


class _RigAlive(Alive):
    """The counter beside it, on the same disk."""

    def __init__(self, path: Path, faults: Faults) -> None:
        super().__init__(path)
        self._faults = faults

    def note(self, boot: str, mono_ms: int) -> None:
        if self._faults.trouble is not None:
            raise OSError(errno.EROFS, self._faults.trouble)
        super().note(boot, mono_ms)


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
        speed: float = 1.0,
        hub: RigHub | None = None,
        online: bool = True,
        faults: Faults | None = None,
        life: str = "",
        safe: bool = False,
    ) -> None:
        """`life` tells apart the processes of one boot, as chance does at a real table."""
        self.faults = Faults() if faults is None else faults
        self.hub = hub
        self.wall_ahead_ms = 0
        self.folder = folder
        self.now, self.zero_s = now, zero_s
        self.levels: dict[Button, bool] = dict.fromkeys(Button, False)
        self.screens: list[Screen] = []
        self.states: list[Mapping[str, Any]] = []
        self.inbox: list[object] = []
        self.online, self.unsent = online, 0
        rules = TORNEO | {f"castrillo-{k}": v for k, v in CASTRILLO.items()}
        run_ids = (f"{boot}{life}-run-{n}" for n in count(1))
        log_ids = count(1)
        new_log, sync = (lambda: f"t07-{boot}{life}-{next(log_ids)}"), self.faults.sync
        self.journal = _RigJournal.open(folder, "t07", new_log, sync=sync, reserve_bytes=0)
        self.journal.faults = self.faults
        plans = PlanStore(folder)
        run_clock = RunClock(zero_s, speed)
        self.history = History(
            self.journal,
            plans,
            _RigAlive(folder / "alive", self.faults),
            boot=boot,
            run_clock=run_clock,
            wall=lambda: 1_790_000_000_000 + int(self.now * 1000) + self.wall_ahead_ms,
            clock=lambda: self.now,
        )
        ports = Ports(
            levels=self._levels_now,
            show=self._show,
            publish_state=self._publish,
            link=lambda: (self.online, self.unsent),
            new_run=lambda: next(run_ids),
            ask_time=self._ask_time,
            safe=safe,
        )
        seat = Seat(7, tuple(rules[c] for c in categories), language)
        self.table = Table(seat, self.history, plans, ports, clock=lambda: self.now, run_clock=run_clock)
        self.step()

    def _levels_now(self) -> Mapping[Button, bool]:
        self.faults.at("levels")
        return self.levels

    def _show(self, screen: Screen) -> None:
        self.faults.at("show")
        self.screens.append(screen)

    def _publish(self, state: Mapping[str, Any]) -> None:
        self.faults.at("publish")
        self.states.append(state)

    def _ask_time(self, t1_us: int) -> bool:
        if self.hub is not None and self.online:
            self.inbox.append(self.hub.answer(t1_us))
        return self.online

    def step(self) -> float:
        """One pass of the loop now."""
        items, self.inbox = self.inbox, []
        return self.table.step(self.now, items)

    def wait(self, seconds: float) -> None:
        """Time goes by; the loop runs whenever it asked to."""
        end = self.now + seconds
        due = self.step()
        while due < end or (self.inbox and self.now < end):
            self.now = max(self.now if self.inbox else due, self.now + 1e-6)
            due = self.step()
        self.now = max(self.now, end)  # what blocked for long may have gone beyond
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
