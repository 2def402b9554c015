"""The memory of a display controller: from the bytes on the bus to the picture on the glass."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from PIL import Image

COMMAND: Final = 0x00
DATA: Final = 0x40
WIDTH: Final = 128
PAGES: Final = 8

_COLUMN_WINDOW, _PAGE_WINDOW, _MODE, _CONTRAST = 0x21, 0x22, 0x20, 0x81
_OFF, _ON = 0xAE, 0xAF

#: How many bytes follow a command; one that is not named stands alone.
_SSD1306: Final = MappingProxyType(
    {
        _MODE: 1,
        _COLUMN_WINDOW: 2,
        _PAGE_WINDOW: 2,
        _CONTRAST: 1,
        **dict.fromkeys((0x8D, 0xA8, 0xD3, 0xD5, 0xD9, 0xDA, 0xDB), 1),
    }
)
_SH1106: Final = MappingProxyType(
    {_CONTRAST: 1, **dict.fromkeys((0xA8, 0xAD, 0xD3, 0xD5, 0xD9, 0xDA, 0xDB), 1)}
)


class DisplayRam:
    """Just enough of an SSD1306, SSD1309 or SH1106, driven by luma, to see what it would show.

    The SH1106 has 132 columns of which the glass shows the middle 128, and pages only.
    """

    def __init__(self, driver: str) -> None:
        known: Mapping[str, tuple[Mapping[int, int], int, int]] = {
            "ssd1306": (_SSD1306, 128, 0),
            "ssd1309": (_SSD1306, 128, 0),
            "sh1106": (_SH1106, 132, 2),
        }
        if driver not in known:
            raise ValueError(f"unknown display driver {driver!r}: one of {', '.join(known)}")
        self._follow, self._columns, self._left = known[driver]
        self.power_cycle()

    def power_cycle(self) -> None:
        """What a moment without supply does: dark, with noise in its memory, and it still answers."""
        self.on = False
        self.contrast = 0x7F
        self._horizontal = False
        self._window = (0, self._columns - 1, 0, PAGES - 1)
        self._column = self._page = 0
        self._pages = [bytearray(os.urandom(self._columns)) for _ in range(PAGES)]

    def feed(self, register: int, values: Iterable[int]) -> None:
        """Takes one transfer: commands or picture bytes, as its register says."""
        if register == DATA:
            for value in values:
                self._store(value)
            return
        rest = iter(values)
        for command in rest:
            follow = [next(rest, 0) for _ in range(self._follow.get(command, 0))]
            self._obey(command, follow)

    def image(self) -> Image.Image:
        """The 128 x 64 picture in the memory, whether it is lit or not."""
        turned = bytearray(WIDTH * PAGES)
        for number, page in enumerate(self._pages):
            turned[PAGES - 1 - number :: PAGES] = page[self._left : self._left + WIDTH]
        image = Image.frombytes("1", (PAGES * 8, WIDTH), bytes(turned))
        return image.transpose(Image.Transpose.ROTATE_90)

    def lit(self) -> Image.Image:
        """The picture people see: black while the display is off."""
        return self.image() if self.on else Image.new("1", (WIDTH, PAGES * 8))

    def _obey(self, command: int, follow: list[int]) -> None:
        first_column, last_column, first_page, last_page = self._window
        windows = bool(self._follow.get(_COLUMN_WINDOW))
        if command in (_OFF, _ON):
            self.on = command == _ON
        elif command == _CONTRAST:
            self.contrast = follow[0]
        elif command == _MODE and windows:
            self._horizontal = follow[0] == 0
        elif command == _COLUMN_WINDOW and windows:
            self._window = (follow[0], follow[1], first_page, last_page)
            self._column = follow[0]
        elif command == _PAGE_WINDOW and windows:
            self._window = (first_column, last_column, follow[0], follow[1])
            self._page = follow[0]
        elif 0xB0 <= command <= 0xB7:
            self._page = command & 0x07
        elif command <= 0x0F:
            self._column = (self._column & 0xF0) | command
        elif command <= 0x1F:
            self._column = (self._column & 0x0F) | (command & 0x0F) << 4

    def _store(self, value: int) -> None:
        if self._column < self._columns:
            self._pages[self._page % PAGES][self._column] = value
        self._column += 1
        first_column, last_column, first_page, last_page = self._window
        if self._horizontal and self._column > last_column:
            self._column = first_column
            self._page = first_page if self._page == last_page else self._page + 1
        elif not self._horizontal and self._column >= self._columns:
            self._column = 0
