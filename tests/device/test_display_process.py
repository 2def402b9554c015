"""The display of the real `table-timer run` over real smbus2, read from the bus, in life and after death."""

from __future__ import annotations

import errno
import signal
from pathlib import Path

import pytest

from device.draw import WIDTH, draw
from device.fakes.bus import RecordedBus
from device.panel import DRIVERS
from device.screen import Screen
from device.start_up import Check, starting
from tests.device.fakechip.chip import missing
from tests.device.glass import a_run, a_table, shows, shows_running_time
from tests.waiting import GENEROUS_S, wait_until

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"needs {missing()}")

READY = Screen("Mesa 7", bottom="START empieza")
BOTTOM = range(49, 62)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_c04_a_killed_or_stopped_table_leaves_a_still_picture_and_then_the_right_running_time_is_back(
    tmp_path: Path, number: signal.Signals
) -> None:
    zero_s = a_run(tmp_path / "state")
    bus = RecordedBus()
    with a_table(tmp_path, bus) as unit:
        assert bus.wait_for(lambda lit: shows_running_time(lit, zero_s), GENEROUS_S)
        assert unit.ready.wait(GENEROUS_S)
        unit.signal(number)
        assert bus.picture().getbbox() is not None, "nothing has darkened it"
        wait_until(lambda: not shows_running_time(bus.picture(), zero_s))
        assert bus.wait_for(lambda lit: shows_running_time(lit, zero_s), GENEROUS_S)
        assert unit.starts == 2
        mark = bus.picture().crop((0, 63, WIDTH, 64)).tobytes()
        assert bus.wait_for(lambda lit: lit.crop((0, 63, WIDTH, 64)).tobytes() != mark, GENEROUS_S)


@pytest.mark.parametrize(("driver", "address"), [*zip(DRIVERS, (0x3C, 0x3D, 0x3C), strict=True)])
def test_c05_the_real_program_finds_each_display_and_its_picture_is_whole(
    tmp_path: Path, driver: str, address: int
) -> None:
    bus = RecordedBus(driver, address)
    bus.fail(errno.EREMOTEIO)  # attached after the start
    with a_table(tmp_path, bus, driver):
        assert not bus.wait_for(lambda lit: lit.getbbox() is not None, 1.0)
        bus.mend()
        assert bus.wait_for(lambda lit: shows(lit, READY, BOTTOM), GENEROUS_S)


def test_a_starting_table_ticks_off_its_checks_until_it_is_ready(tmp_path: Path) -> None:
    bus = RecordedBus()
    with a_table(tmp_path, bus):
        first = draw(starting({Check.SETTINGS}, 7, "es")).tobytes()
        assert bus.wait_for(lambda lit: lit.tobytes() == first, GENEROUS_S)
        assert bus.wait_for(lambda lit: shows(lit, READY, BOTTOM), GENEROUS_S)
