"""E10: a table that crashes again and again times on without what it does not need for that."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from device.app import AGAIN_S, App, Parts
from device.buttons import open_factory
from device.debounce import Button
from device.from_hub import LinkSettings
from device.plan_store import PlanStore
from device.starts import CRASHES, Mode, Starts
from device.table import Seat
from shared.clock import monotonic
from tests.device.rig import TORNEO, Rig
from tests.device.test_seat import plan
from tests.waiting import GENEROUS_S


def begin(folder: Path, boot: str = "boot-1") -> Mode:
    """A process starts and says nothing at its end."""
    return Starts(folder, boot).begin()


def test_five_crashes_in_a_row_leave_hub_and_plan_out_and_five_more_the_display(tmp_path: Path) -> None:
    """E10."""
    modes = [begin(tmp_path) for _ in range(2 * CRASHES + 2)]
    assert modes == [Mode.WHOLE] * CRASHES + [Mode.SAFE] * CRASHES + [Mode.BLIND] * 2


def test_who_ended_as_told_has_not_crashed(tmp_path: Path) -> None:
    for _ in range(CRASHES):
        begin(tmp_path)
    Starts(tmp_path, "boot-1").end()
    assert begin(tmp_path) is Mode.WHOLE


def test_a_power_cut_is_no_crash(tmp_path: Path) -> None:
    assert {begin(tmp_path, f"boot-{n}") for n in range(3 * CRASHES)} == {Mode.WHOLE}


def test_who_ran_for_a_minute_did_not_crash_at_its_start(tmp_path: Path) -> None:
    for _ in range(3 * CRASHES):
        starts = Starts(tmp_path, "boot-1")
        assert starts.begin() is Mode.WHOLE
        starts.steady()


def test_a_safe_mode_that_works_stays_one(tmp_path: Path) -> None:
    for _ in range(CRASHES):
        begin(tmp_path)
    starts = Starts(tmp_path, "boot-1")
    assert starts.begin() is Mode.SAFE
    starts.steady()
    assert begin(tmp_path) is Mode.SAFE


@pytest.mark.parametrize("kept", ["", "{", "7", '{"boot":"boot-1","crashes":"9"}', '{"boot":7}', "\ufeffx"])
def test_a_file_that_a_crash_left_behind_counts_nothing(tmp_path: Path, kept: str) -> None:
    (tmp_path / "starts").write_text(kept, encoding="utf-8")
    assert begin(tmp_path) is Mode.WHOLE


def test_a_disk_that_takes_nothing_does_not_keep_a_table_from_starting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert begin(tmp_path / "file" / "deeper") is Mode.WHOLE


def test_a_table_in_safe_mode_says_so_and_times_without_the_plan(tmp_path: Path) -> None:
    """E10: a plan may be what made it crash."""
    PlanStore(tmp_path).keep_plan(plan())
    rig = Rig(tmp_path, "adulto", language="en")
    assert "Ana G." in rig.screen.lines
    rig.unplug()
    safe = Rig(tmp_path, "adulto", language="en", safe=True, online=False, life="-2")
    assert safe.screen.top_right == "SAFE MODE"
    assert "no plan" in safe.screen.words()
    safe.press(Button.START)
    safe.wait(120.0)
    assert safe.types()[-1] == "run_started"
    assert safe.screen.clock
    safe.unplug()


def test_safe_mode_connects_to_nobody_and_ends_by_itself_after_ten_minutes_without_a_run(
    tmp_path: Path,
) -> None:
    """E10: whoever started it starts it again, whole."""
    factory, began_s = open_factory("mock"), monotonic()
    app = App(
        Parts(
            seat=Seat(7, (TORNEO["adulto"],)),
            link=LinkSettings("127.0.0.1", 1, "t07"),
            state_dir=tmp_path,
            boot="boot-1",
            pin_factory=factory,
            panel=None,
            allow_volatile=True,
            safe=True,
            clock=lambda: began_s + (monotonic() - began_s) * 500,
        )
    )
    delivery: list[str] = []
    app.run(ready=lambda: delivery.extend(t.name for t in threading.enumerate() if t.name == "delivery"))
    assert delivery == []
    assert (monotonic() - began_s) * 500 >= AGAIN_S
    factory.close()


@contextmanager
def systemd(folder: Path) -> Iterator[socket.socket]:
    """Where a service says how it is."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(folder / "notify"))
        heard.settimeout(GENEROUS_S)
        yield heard


def test_a_killed_table_comes_back_each_time_and_the_sixth_time_in_safe_mode(tmp_path: Path) -> None:
    """E10: real processes, as systemd starts them."""
    config = tmp_path / "table-timer.toml"
    config.write_text(
        f'device = "t07"\ntable = 7\nstate_dir = "{tmp_path}/state"\nallow_volatile = true\n'
        '[buttons]\npins = "mock"\n[display]\ndriver = "none"\n[hub]\nhost = "127.0.0.1"\nport = 1\n'
    )
    command = [sys.executable, "-P", "-m", "device.cli", "run", "--config", str(config)]
    told = []
    with systemd(tmp_path) as heard:
        environment = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        for _ in range(CRASHES + 2):
            table = subprocess.Popen(command, env=environment)
            while "READY=1" not in (said := heard.recv(1000).decode()):
                pass
            told.append(said.split("STATUS=")[1])
            table.send_signal(signal.SIGKILL)
            table.wait()
        table = subprocess.Popen(command, env=environment)
        while "READY=1" not in (said := heard.recv(1000).decode()):
            pass
        table.terminate()
        assert table.wait(GENEROUS_S) == 0
        table = subprocess.Popen(command, env=environment)
        while "READY=1" not in (said := heard.recv(1000).decode()):
            pass
        table.terminate()
        table.wait(GENEROUS_S)
    assert told == ["table 7: no run"] * CRASHES + ["table 7, safe mode: no run"] * 2
    assert said.endswith("table 7: no run"), "a restart by hand tries the whole again"
