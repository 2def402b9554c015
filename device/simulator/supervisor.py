"""All virtual tables of one machine: numbered from 1, started, pressed, unplugged and stopped together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from device.debounce import Button
from device.simulator.virtual_table import Boot, View, VirtualTable
from shared.clock import HandClock, RunClock, monotonic
from shared.topics import DEFAULT_BASE

GOODBYE_S: Final = 2.0
"""So long all tables together may take to say goodbye to the hub."""


class NoSuchTable(LookupError):
    """There is no table with this number."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Which tables there are, and what they are given."""

    count: int
    data: Path
    """Each table keeps its journal in a folder of its own in here."""
    hub: str = "127.0.0.1:1883"
    base: str = DEFAULT_BASE
    speed: float = 1.0
    language: str = "es"
    rulebook: str = "torneo-puzzles-2026"
    categories: tuple[str, ...] = ()
    device_prefix: str = "t"

    def device(self, table: int) -> str:
        """The name of a table's device."""
        return f"{self.device_prefix}{table:02}"

    def command(self, table: int, boot: Boot) -> list[str]:
        """What starts the app of a table in a boot."""
        options = {
            "--device": self.device(table),
            "--table": str(table),
            "--hub": self.hub,
            "--base": self.base,
            "--state-dir": str(self.data / self.device(table)),
            "--boot": boot.id,
            "--zero-s": repr(boot.zero_s),
            "--speed": repr(self.speed),
            "--language": self.language,
            "--rulebook": self.rulebook,
        }
        # -P: a folder `device` where somebody happens to stand is not ours
        command = [sys.executable, "-P", "-m", "device.simulator.table"]
        command += [f"{name}={value}" for name, value in options.items()]
        return [*command, *(f"--category={category}" for category in self.categories)]


class Supervisor:
    """The tables, each a process of its own; safe from any thread. Every call raises NoSuchTable."""

    def __init__(
        self,
        tables: Tables,
        *,
        changed: Callable[[int], None] = lambda _: None,
        clock: HandClock = monotonic,
    ) -> None:
        """`changed` is told the number of a table whenever its view has changed, from any thread."""
        self.settings = tables
        self._clock = clock
        self._tables = {
            n: VirtualTable(n, tables.device(n), partial(tables.command, n), changed, clock)
            for n in range(1, tables.count + 1)
        }

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the tables."""
        return tuple(self._tables)

    def start(self) -> None:
        """Plug all tables in; returns at once."""
        for table in self._tables.values():
            table.start()

    def stop(self) -> None:
        """End all tables; no process is left when it returns, in less than 3 s."""
        for table in self._tables.values():
            table.ask_to_stop()
        end_s = self._clock() + GOODBYE_S
        for table in self._tables.values():
            table.stop(max(0.0, end_s - self._clock()))

    def wait_ready(self, timeout_s: float) -> bool:
        """Wait until each table has shown a picture, or has said why it cannot; False when one did not."""
        end_s = self._clock() + timeout_s
        return all(
            table.wait_for(lambda v: v.alive or v.trouble, max(0.0, end_s - self._clock()))
            for table in self._tables.values()
        )

    def view(self, table: int) -> View:
        """What can be seen of a table."""
        return self._table(table).view

    def wait_for(self, table: int, seen: Callable[[View], object], timeout_s: float) -> bool:
        """Wait until a table can be seen as asked; False when that did not happen in time."""
        return self._table(table).wait_for(seen, timeout_s)

    def look(self, table: int) -> Mapping[str, Any]:
        """What a table told of itself last, its clocks brought forward to now.

        `on` and `alive`, `clock_ms` (its run clock), and the values of `telling`, if it has told any.
        """
        seated = self._table(table)
        view, now = seated.view, self._clock()
        clock_ms = RunClock(seated.zero_s, self.settings.speed).run_ms(now)
        seen = {**view.table, "on": view.on, "alive": view.alive, "clock_ms": clock_ms}
        if seen.get("t_ms") is not None:
            gone_ms = int((now - view.t) * 1000 * self.settings.speed)
            seen["t_ms"] += gone_ms
        return seen

    def press(self, table: int, button: Button, hold_s: float) -> None:
        """Hold a button for so long (hand time) and let it go; back when it is up."""
        self._table(table).press(button, hold_s)

    def down(self, table: int, button: Button) -> None:
        """A finger comes down on a button and stays there."""
        self._table(table).move(button, down=True)

    def up(self, table: int, button: Button) -> None:
        """The finger goes up again."""
        self._table(table).move(button, down=False)

    def power(self, table: int, on: bool) -> None:
        """Pull the plug (the app is gone when it returns; the journal stays), or put it in: a new boot."""
        self._table(table).power(on=on)

    def kill(self, table: int) -> None:
        """Kill the app of a table; it comes back in the same boot within a second."""
        self._table(table).kill()

    def _table(self, number: int) -> VirtualTable:
        try:
            return self._tables[number]
        except KeyError:
            raise NoSuchTable(number) from None
