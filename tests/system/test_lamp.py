"""The lamp of a table, online or not, is true whatever happens to its link, and does not flap (D11)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos.proxy import Proxy, Way
from tests.system.hall import RULEBOOK, Hall, Process, a_hall
from tests.waiting import wait_until

CUT, DARK = Way(open=False), Way(up=False, down=False)
KNOWN_S = 60.0
"""Until the hub must know of a change; keepalive, will and a busy machine are well within."""
PLAN = ["1,1,1,e1,adulto,Participante 1", "1,1,2,e2,adulto,Participante 2"]


@dataclass
class Lamps:
    """Two tables behind a network that can be cut, and the lamps that somebody sees who just came."""

    hall: Hall
    proxy: Proxy

    def lit(self, table: int) -> bool | None:
        """Of a table; None while nobody tells."""
        return next((line["online"] for line in self.hall.table_lines() if line["table"] == table), None)

    def until(self, table: int, *, lit: bool) -> None:
        """Wait for a lamp."""
        wait_until(lambda: self.lit(table) is lit, KNOWN_S)

    def stays(self, table: int, *, lit: bool, for_s: float) -> None:
        """The lamp does not change for so long."""
        with pytest.raises(AssertionError):
            wait_until(lambda: self.lit(table) is (not lit), for_s)

    def link(self, table: int, way: Way) -> None:
        """How it is between a table and the broker from now on."""
        self.proxy.set([f"t{table:02}"], way)

    def restart_hub(self) -> None:
        """The hub goes and comes back; it knows of the lamps what the broker kept."""
        self.hall.hub.stop()
        self.hall.hub.start()
        wait_until(lambda: (self.hall.health() or {}).get("connected"), KNOWN_S)


@contextmanager
def lamps(folder: Path) -> Iterator[Lamps]:
    """Everything runs and both lamps are lit."""
    with a_hall(folder, tables=2) as hall:
        hall.load(PLAN)
        hall.start_hub()
        proxy = Proxy(hall.broker.port, ["t01", "t02"])
        proxy.start()
        hall.timers = Process(
            "device.cli", "simulate", "--tables", "2", "--port", str(hall.timer_port),
            "--hub", f"127.0.0.1:{proxy.port}", "--device-prefix", "t", "--data", str(folder / "tables"),
            "--rulebook", RULEBOOK, "--category", "adulto", cwd=folder,
        )  # fmt: skip
        try:
            hall.start_tables()
            here = Lamps(hall, proxy)
            here.until(1, lit=True)
            here.until(2, lit=True)
            yield here
        finally:
            hall.timers.stop()
            proxy.stop()


def test_a_short_drop_does_not_blink_and_a_long_one_goes_out_alone(tmp_path: Path) -> None:
    with lamps(tmp_path) as here:
        here.link(1, CUT)
        here.stays(1, lit=True, for_s=2.0)
        here.link(1, Way())
        here.stays(1, lit=True, for_s=15.0)
        here.link(1, DARK)
        here.until(1, lit=False)
        assert here.lit(2)
        here.link(1, Way())
        here.until(1, lit=True)


def test_who_joins_late_sees_the_lamps_as_they_are(tmp_path: Path) -> None:
    with lamps(tmp_path) as here:
        here.hall.power(1, on=False)
        here.until(1, lit=False)
        here.restart_hub()
        here.until(2, lit=True)
        assert here.lit(1) is False
        here.hall.power(1, on=True)
        here.until(1, lit=True)
        here.hall.timers.stop()
        here.until(1, lit=False)
        here.until(2, lit=False)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_after_any_row_of_drops_cuts_and_restarts_every_lamp_is_true(tmp_path: Path) -> None:
    chance = random.Random(11)
    with lamps(tmp_path) as here:
        for _ in range(8):
            table = chance.choice((1, 2))
            what = chance.choice(("cut", "dark", "power", "kill"))
            for_s = chance.uniform(1, 15)
            if what == "kill":
                here.hall.kill_app(table)
            elif what == "power":
                here.hall.power(table, on=False)
                here.until(table, lit=False)
                here.hall.power(table, on=True)
            else:
                here.link(table, CUT if what == "cut" else DARK)
                with pytest.raises(AssertionError):
                    wait_until(lambda: False, for_s)
                if chance.random() < 0.3:
                    here.restart_hub()
                here.link(table, Way())
            for number in (1, 2):
                here.until(number, lit=True)
