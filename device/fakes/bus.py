"""An I2C bus with one display on it, which rebuilds the picture and can be pulled, hung and mended."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence

from PIL import Image

from device.fakes.controller_ram import DisplayRam


class RecordedBus:
    """What luma needs of an SMBus, with a display at `address` that remembers what it was sent.

    Safe from any thread. Nothing but the display's memory is kept, however long it runs.
    """

    def __init__(self, driver: str = "ssd1306", address: int = 0x3C) -> None:
        self.address = address
        self.transfers = 0
        """Transfers the display took since the bus was made."""
        self._display = DisplayRam(driver)
        self._changed = threading.Condition()
        self._fault = 0
        self._faults_left: int | None = 0
        self._free = threading.Event()
        self._free.set()

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        """One transfer of at most 32 bytes. Raises OSError as the kernel would."""
        if len(data) > 32:
            raise ValueError(f"a block of {len(data)} bytes: an SMBus takes 32")
        self._free.wait()
        with self._changed:
            if self._faults_left != 0:
                self._faults_left = self._faults_left and self._faults_left - 1
                raise OSError(self._fault, os.strerror(self._fault))
            if i2c_addr != self.address:
                raise OSError(errno.EREMOTEIO, os.strerror(errno.EREMOTEIO))
            self._display.feed(register, data)
            self.transfers += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing to let go of: a bus that was closed can be opened again."""

    def fail(self, code: int = errno.EREMOTEIO, *, times: int | None = None) -> None:
        """The next `times` transfers end with this errno, or all until `mend`: a cable pulled, say."""
        with self._changed:
            self._fault, self._faults_left = code, times

    def mend(self) -> None:
        """Transfers arrive again."""
        with self._changed:
            self._faults_left = 0

    def hang(self) -> None:
        """Transfers do not return until `go_on`."""
        self._free.clear()

    def go_on(self) -> None:
        """Transfers that hang return, and later ones do not hang."""
        self._free.set()

    def power_cycle(self) -> None:
        """The display loses its supply for a moment: dark, and it still answers."""
        with self._changed:
            self._display.power_cycle()
            self._changed.notify_all()

    def picture(self) -> Image.Image:
        """The 128 x 64 picture people see."""
        with self._changed:
            return self._display.lit()

    @property
    def contrast(self) -> int:
        """The contrast the display was told, 0 to 255."""
        with self._changed:
            return self._display.contrast

    def wait_for(self, seen: Callable[[Image.Image], bool], timeout: float) -> bool:
        """Waits until the picture people see is as asked; False when `timeout` seconds went by."""
        with self._changed:
            return self._changed.wait_for(lambda: seen(self._display.lit()), timeout)

    def wait_transfers(self, more_than: int, timeout: float) -> int:
        """Waits until the display has taken more transfers than that; gives their number then."""
        with self._changed:
            self._changed.wait_for(lambda: self.transfers > more_than, timeout)
            return self.transfers
