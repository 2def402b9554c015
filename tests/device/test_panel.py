"""The real luma drivers over a recorded bus: the picture on the glass is the one that was shown."""

from __future__ import annotations

import errno
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import fake_rpi
import pytest
from fake_rpi.smbus import SMBus
from PIL import Image

from device.fakes.bus import RecordedBus
from device.fakes.controller_ram import DisplayRam
from device.panel import CONTRAST, DRIVERS, Panel

fake_rpi.toggle_print(False)

LONG = 60.0
QUICK: dict[str, Any] = {"refresh_s": 0.02, "back_off_s": (0.001, 0.002)}


def picture(seed: int) -> Image.Image:
    return Image.frombytes("1", (128, 64), random.Random(seed).randbytes(1024))


@contextmanager
def running(panel: Panel) -> Iterator[Panel]:
    panel.start()
    try:
        yield panel
    finally:
        panel.stop(LONG)


def sees(bus: RecordedBus, image: Image.Image) -> bool:
    return bus.wait_for(lambda lit: lit.tobytes() == image.tobytes(), LONG)


class FakeRpiBus(SMBus):  # type: ignore[misc]
    """fake_rpi's bus with a display on it."""

    def __init__(self, driver: str) -> None:
        super().__init__(1)
        self.display = DisplayRam(driver)

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        super().write_i2c_block_data(i2c_addr, register, data)
        self.display.feed(register, data)


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_picture_on_the_glass_is_the_one_shown(driver: str) -> None:
    bus = RecordedBus(driver)
    with running(Panel(driver, lambda: bus)) as panel:
        for seed in range(5):
            panel.show(picture(seed))
            assert panel.wait_sent(picture(seed), LONG)
            assert bus.picture().tobytes() == picture(seed).tobytes()
        assert bus.contrast == CONTRAST
        assert panel.up


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_picture_is_whole_over_the_smbus_of_fake_rpi_too(driver: str) -> None:
    bus = FakeRpiBus(driver)
    with running(Panel(driver, lambda: bus)) as panel:
        panel.show(picture(7))
        assert panel.wait_sent(picture(7), LONG)
        assert bus.display.lit().tobytes() == picture(7).tobytes()
        assert bus.display.contrast == CONTRAST


@pytest.mark.parametrize("x", [0, 127])
@pytest.mark.parametrize("y", [0, 63])
@pytest.mark.parametrize("driver", DRIVERS)
def test_each_corner_pixel_is_where_it_belongs(driver: str, x: int, y: int) -> None:
    dot = Image.new("1", (128, 64))
    dot.putpixel((x, y), 1)
    bus = RecordedBus(driver)
    with running(Panel(driver, lambda: bus)) as panel:
        panel.show(dot)
        assert panel.wait_sent(dot, LONG)
        assert bus.picture().getbbox() == (x, y, x + 1, y + 1)


def test_a_panel_of_another_kind_is_shifted_and_harms_nothing() -> None:
    bus = RecordedBus("sh1106")
    with running(Panel("ssd1306", lambda: bus)) as panel:
        panel.show(picture(1))
        assert panel.wait_sent(picture(1), LONG)
        assert bus.picture().tobytes() != picture(1).tobytes()


def test_the_display_is_found_at_its_other_address() -> None:
    bus = RecordedBus(address=0x3D)
    with running(Panel("ssd1306", lambda: bus)) as panel:
        panel.show(picture(1))
        assert sees(bus, picture(1))
        assert panel.up


def test_an_absent_display_is_a_state_and_is_shown_to_once_it_is_attached() -> None:
    bus = RecordedBus()
    bus.fail(errno.EREMOTEIO)
    down = threading.Event()

    def open_bus() -> RecordedBus:
        if panel.last_error:
            down.set()
        return bus

    panel = Panel("ssd1306", open_bus, **QUICK)
    with running(panel):
        panel.show(picture(1))
        assert down.wait(LONG)
        assert not panel.up
        assert "0x3C" in panel.last_error
        assert "0x3D" in panel.last_error
        panel.show(picture(2))
        bus.mend()
        assert sees(bus, picture(2))


def test_a_bus_that_cannot_be_opened_is_a_state() -> None:
    tries = threading.Semaphore(0)

    def no_bus() -> RecordedBus:
        tries.release()
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/dev/i2c-1")

    with running(Panel("sh1106", no_bus, **QUICK)) as panel:
        for _ in range(3):
            assert tries.acquire(timeout=LONG)
        assert not panel.up
        assert "/dev/i2c-1" in panel.last_error


@pytest.mark.parametrize("code", [errno.EREMOTEIO, errno.EIO, errno.ETIMEDOUT, errno.ENXIO])
@pytest.mark.parametrize("after", [0, 1, 2, 3, 20, 36])
@pytest.mark.parametrize("driver", ["ssd1306", "sh1106"])
def test_after_two_failed_transfers_the_picture_is_right_again(driver: str, after: int, code: int) -> None:
    class Fragile(RecordedBus):
        left = after

        def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
            self.left -= 1
            if self.left == -1:
                self.fail(code, times=2)
            super().write_i2c_block_data(i2c_addr, register, data)

    bus = Fragile(driver)
    with running(Panel(driver, lambda: bus, back_off_s=(0.001,))) as panel:
        panel.show(picture(3))
        assert sees(bus, picture(3))
        assert panel.wait_sent(picture(3), LONG)
        assert panel.up


def test_a_panel_that_lost_power_for_a_moment_is_lit_again_by_itself() -> None:
    bus = RecordedBus()
    with running(Panel("ssd1306", lambda: bus, **QUICK)) as panel:
        panel.show(picture(1))
        assert sees(bus, picture(1))
        bus.power_cycle()
        assert sees(bus, picture(1))
        assert bus.contrast == CONTRAST
        assert panel.last_error == ""


def test_the_periodic_set_up_never_darkens_the_display() -> None:
    dark = threading.Event()

    class Watched(RecordedBus):
        def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
            if register == 0x00 and data[0] == 0xAE and lit.is_set() and not stopping.is_set():
                dark.set()
            super().write_i2c_block_data(i2c_addr, register, data)

    lit, stopping, bus = threading.Event(), threading.Event(), Watched()
    with running(Panel("ssd1306", lambda: bus, **QUICK)) as panel:
        panel.show(picture(1))
        assert panel.wait_sent(picture(1), LONG)
        lit.set()
        seen = bus.transfers
        assert bus.wait_transfers(seen + 100, LONG) > seen + 100
        stopping.set()
    assert not dark.is_set()


def test_an_unchanged_picture_is_not_sent_again() -> None:
    bus = RecordedBus()
    with running(Panel("ssd1306", lambda: bus, refresh_s=3600)) as panel:
        panel.show(picture(1))
        assert panel.wait_sent(picture(1), LONG)
        sent = bus.transfers
        panel.show(picture(1))
        panel.show(picture(1))
        panel.show(picture(2))
        assert panel.wait_sent(picture(2), LONG)
        one_frame = bus.transfers - sent
        assert one_frame == 33


def test_a_hanging_bus_delays_nobody_and_only_the_newest_picture_is_shown_after_it() -> None:
    bus, told = RecordedBus(), []
    panel = Panel("ssd1306", lambda: bus, refresh_s=3600, on_sent=lambda frame, t: told.append((frame, t)))
    with running(panel):
        panel.show(picture(0))
        assert panel.wait_sent(picture(0), LONG)
        bus.hang()
        started = time.monotonic()
        for seed in range(1, 200):
            panel.show(picture(seed))
        assert time.monotonic() - started < 5
        bus.go_on()
        assert panel.wait_sent(picture(199), LONG)
        assert sees(bus, picture(199))
    # the dark one at the start, the first, one that was on its way, the newest
    assert len(told) <= 4
    assert told[-1][0] == picture(199).tobytes()
    assert [t for _, t in told] == sorted(t for _, t in told)


def test_a_picture_is_told_with_the_hand_time_at_which_the_bus_had_taken_it() -> None:
    bus, told = RecordedBus(), []
    panel = Panel("sh1106", lambda: bus, clock=lambda: 42.0, on_sent=lambda frame, t: told.append((frame, t)))
    panel.show(picture(5))
    with running(panel):
        assert panel.wait_sent(picture(5), LONG)
    assert told == [(picture(5).tobytes(), 42.0)]


def test_a_thousand_failures_make_no_second_driver_object() -> None:
    bus, tries = RecordedBus(), threading.Semaphore(0)
    bus.fail(errno.EIO)

    def open_bus() -> RecordedBus:
        tries.release()
        return bus

    panel = Panel("ssd1306", open_bus, back_off_s=(0.0,))
    driver = panel._device
    with running(panel):
        for _ in range(1000):
            assert tries.acquire(timeout=LONG)
        bus.mend()
        panel.show(picture(1))
        assert sees(bus, picture(1))
    assert panel._device is driver


def test_stopping_darkens_the_display_and_a_stop_before_the_start_is_nothing() -> None:
    bus = RecordedBus()
    panel = Panel("ssd1306", lambda: bus)
    panel.stop()
    panel = Panel("ssd1306", lambda: bus)
    panel.start()
    panel.show(picture(1))
    assert sees(bus, picture(1))
    panel.stop(LONG)
    assert bus.picture().getbbox() is None


@pytest.mark.parametrize("image", [Image.new("L", (128, 64)), Image.new("1", (128, 32))])
def test_a_picture_of_another_shape_is_a_bug_of_the_caller(image: Image.Image) -> None:
    with pytest.raises(ValueError, match="a picture of mode"):
        Panel("ssd1306", RecordedBus).show(image)


def test_an_unknown_driver_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="ssd1306, ssd1309, sh1106"):
        Panel("ssd1322", RecordedBus)
    with pytest.raises(ValueError, match="unknown display driver"):
        DisplayRam("ssd1322")


def test_a_block_longer_than_an_smbus_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="33 bytes"):
        RecordedBus().write_i2c_block_data(0x3C, 0x40, bytes(33))
