"""The door to luma: a display that may be absent, hang or lose power without anybody waiting for it."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import luma.oled.device
from luma.core.error import Error as LumaError
from luma.core.interface.serial import i2c
from PIL import Image

from device.screen import Glow
from shared.clock import HandClock, monotonic

DRIVERS: Final = ("ssd1306", "ssd1309", "sh1106")
ADDRESSES: Final = (0x3C, 0x3D)
SIZE: Final = (128, 64)
CONTRAST: Final = 0x60
"""Bright enough at two metres; luma's own 0xCF wears the panel."""
DIM_CONTRAST: Final = 0x08
"""Still to be read by who comes near."""
REFRESH_S: Final = 10.0
"""A panel that lost power for a moment answers and stays dark: only a new initialisation lights it."""
BACK_OFF_S: Final = (0.5, 1.0, 2.0, 5.0)

_NOTHING: Final = 0xE3
_DISPLAY_OFF: Final = 0xAE
_SET_CONTRAST: Final = 0x81
_DOWN: Final = (OSError, LumaError)


class Bus(Protocol):
    """What is needed of an SMBus."""

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int], /) -> None:
        """Sends one block of at most 32 bytes. Raises OSError."""

    def close(self) -> None:
        """Lets go of the bus."""


def open_i2c(port: int) -> Bus:
    """The I2C bus /dev/i2c-`port`. Raises OSError if it is not there or not ours."""
    from smbus2 import SMBus

    bus: Bus = SMBus(port)
    return bus


class _Link:
    """What luma takes for its serial interface: remembers the driver's set-up, connects when told."""

    def __init__(self, open_bus: Callable[[], Bus], addresses: Sequence[int]) -> None:
        self._open_bus = open_bus
        self._addresses = addresses
        self._bus: Bus | None = None
        self._serial: Any = None
        self._set_up: list[tuple[int, ...]] = []
        self._drawing = False
        self.recording = True

    def command(self, *command: int) -> None:
        if self.recording:
            if not self._drawing and command[0] != _SET_CONTRAST:  # the contrast is the panel's own
                self._set_up.append(command)
        else:
            self._connected().command(*command)

    def data(self, values: Sequence[int]) -> None:
        if self.recording:
            self._drawing = True  # set up so far: luma goes on to clear the display and to light it
        else:
            self._connected().data(values)

    def cleanup(self) -> None:
        self.drop()

    def connect(self) -> None:
        """Opens the bus, finds the display and sets it up, dark. Raises OSError or LumaError."""
        self._bus = self._open_bus()
        self._serial = self._answering(self._bus)
        self._send_set_up()

    def refresh(self) -> None:
        """Sets the display up again without a blink."""
        self._send_set_up(dark=False)

    def drop(self) -> None:
        """Lets go of the bus, which may be broken."""
        bus, self._bus, self._serial = self._bus, None, None
        if bus is not None:
            try:
                bus.close()
            except OSError:
                return

    def _send_set_up(self, *, dark: bool = True) -> None:
        for command in self._set_up:
            skip = 0 if dark or command[0] != _DISPLAY_OFF else 1
            self._connected().command(*command[skip:])

    def _answering(self, bus: Bus) -> Any:
        reasons = []
        for address in self._addresses:
            serial = i2c(bus=bus, address=address)
            try:
                serial.command(_NOTHING)
            except _DOWN as error:
                reasons.append(str(error))
            else:
                return serial
        raise OSError(errno.ENODEV, "; ".join(reasons))

    def _connected(self) -> Any:
        if self._serial is None:
            raise OSError(errno.ENOTCONN, "display not connected")
        return self._serial


def _lit(frame: bytes, glow: Glow) -> bytes:
    """What people see: nothing of a picture in the memory of a dark display."""
    return bytes(len(frame)) if glow is Glow.DARK else frame


class Panel:
    """A display of 128 x 64 in a thread of its own: the newest picture wins, and nobody waits for it.

    The driver object is made once: luma keeps every one that was ever made. Hardware trouble is a state
    (`up`, `last_error`), retried with a growing pause; any other exception is a bug and ends the thread.
    """

    def __init__(
        self,
        driver: str,
        open_bus: Callable[[], Bus],
        addresses: Sequence[int] = ADDRESSES,
        *,
        contrast: int = CONTRAST,
        refresh_s: float = REFRESH_S,
        back_off_s: Sequence[float] = BACK_OFF_S,
        clock: HandClock = monotonic,
        on_sent: Callable[[bytes, float], None] | None = None,
    ) -> None:
        """`on_sent` is told, in the display's thread, what people see whenever that has changed, and when."""
        if driver not in DRIVERS:
            raise ValueError(f"unknown display driver {driver!r}: one of {', '.join(DRIVERS)}")
        self.up = False
        """The last transfer arrived."""
        self.last_error = ""
        """Why the display was last lost; stays when it is back."""
        self._link = _Link(open_bus, addresses)
        self._device = getattr(luma.oled.device, driver)(self._link)
        self._device.persist = True  # luma's own exit hook would draw from another thread
        self._link.recording = False
        self._contrast, self._refresh_s, self._back_off_s = contrast, refresh_s, back_off_s
        self._clock, self._on_sent = clock, on_sent
        self._news = threading.Condition()
        self._wanted = Image.new("1", SIZE).tobytes(), Glow.FULL
        self._shown: tuple[bytes, Glow] | None = None
        self._stopping = False
        self._failures = 0
        self._set_up_at = self._next_try = 0.0
        self._thread = threading.Thread(target=self._run, name="panel", daemon=True)

    def show(self, image: Image.Image, glow: Glow = Glow.FULL) -> None:
        """Wants this picture (mode "1", 128 x 64) on the display, so bright; returns at once, from any thread."""
        if image.mode != "1" or image.size != SIZE:
            raise ValueError(f"a picture of mode {image.mode} and size {image.size}")
        with self._news:
            self._wanted = image.tobytes(), glow
            self._news.notify_all()

    def start(self) -> None:
        """Starts the display's thread; where it runs already nothing changes."""
        if self._thread.ident is None:
            self._thread.start()

    def stop(self, timeout: float = 3.0) -> None:
        """Darkens the display and ends the thread; gives up on a bus that hangs after `timeout` seconds."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def wait_sent(self, image: Image.Image, timeout: float) -> bool:
        """Waits until people see this picture; False when `timeout` seconds went by."""
        frame = image.tobytes()
        with self._news:
            return self._news.wait_for(
                lambda: self._shown is not None and _lit(*self._shown) == frame, timeout
            )

    def _run(self) -> None:
        while True:
            pause = self._step()
            with self._news:
                self._news.wait_for(lambda: self._stopping or self._has_news(), pause)
                if self._stopping:
                    break
        if self.up:
            try:
                self._device.hide()
            except _DOWN as error:
                self._lost(error)
        self._link.drop()

    def _has_news(self) -> bool:
        return self.up and self._wanted != self._shown

    def _step(self) -> float:
        """One try to have the wanted picture shown; gives the seconds until the next is due."""
        now = self._clock()
        if now < self._next_try:
            return self._next_try - now
        with self._news:
            (frame, glow), shown = self._wanted, self._shown
        was_frame, was_glow = (None, None) if shown is None else shown
        due = not self.up or now - self._set_up_at >= self._refresh_s
        try:
            if was_glow is Glow.DARK and glow is not Glow.DARK:
                self._light(glow)  # its memory holds the picture: a few bytes, and people see it
                was_glow = glow
            if due:
                self._set_up(now)
            if due or frame != was_frame:
                self._send(frame)
            if due or glow is not was_glow:
                self._light(glow)  # after the picture: what its memory held before was noise
        except _DOWN as error:
            return self._lost(error)
        lit = _lit(frame, glow)
        if self._on_sent is not None and (shown is None or lit != _lit(*shown)):
            self._on_sent(lit, self._clock())
        self._failures = 0
        with self._news:
            self.up, self._shown = True, (frame, glow)
            self._news.notify_all()
        return max(0.0, self._set_up_at + self._refresh_s - self._clock())

    def _set_up(self, now: float) -> None:
        if self.up:
            self._link.refresh()
        else:
            self._link.connect()
        self._set_up_at = now

    def _light(self, glow: Glow) -> None:
        if glow is Glow.DARK:
            self._device.hide()
            return
        dim = min(self._contrast, DIM_CONTRAST)
        self._device.contrast(self._contrast if glow is Glow.FULL else dim)
        self._device.show()

    def _send(self, frame: bytes) -> None:
        with self._news:
            self._shown = None  # until the last byte has arrived nobody knows what it shows
        self._device.display(Image.frombytes("1", SIZE, frame))

    def _lost(self, error: Exception) -> float:
        self._link.drop()
        pause = self._back_off_s[min(self._failures, len(self._back_off_s) - 1)]
        self._failures += 1
        self._next_try = self._clock() + pause
        with self._news:
            self.up, self._shown, self.last_error = False, None, str(error)
            self._news.notify_all()
        return pause
