"""While a table starts, its display ticks off what works: each tick is a check that has just passed."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto

from device.draw import draw
from device.panel import Panel
from device.screen import Screen
from shared.texts import translator


class Check(Enum):
    """What must work before a table is ready, in the order in which it stands on the display."""

    SETTINGS = auto()
    """The file was read and nothing in it is wrong."""
    DISPLAY = auto()
    """It took the picture before this one."""
    CARD = auto()
    """The journal is open, on a file system that outlives a power cut."""
    BUTTONS = auto()
    """All four pins are ours and told their levels."""
    CLOCK = auto()
    """The journal was read: a run that was in play has its time again."""


def starting(passed: Collection[Check], table: int, language: str) -> Screen:
    """The picture of a table that starts (pure)."""
    pgettext = translator(language).pgettext
    names = {
        Check.SETTINGS: pgettext("oled", "settings"),
        Check.DISPLAY: pgettext("oled", "display"),
        Check.CARD: pgettext("oled", "card"),
        Check.BUTTONS: pgettext("oled", "buttons"),
        Check.CLOCK: pgettext("oled", "clock"),
    }
    return Screen(
        pgettext("oled", "Table {table}").format(table=table),
        top_right=pgettext("oled", "starting"),
        checks=tuple((names[check], check in passed) for check in Check),
    )


class StartUp:
    """The start of one table on its display. Nobody waits for the display, as ever."""

    def __init__(self, panel: Panel | None, table: int, language: str) -> None:
        """Switches the display on; the settings are known to be right."""
        self._panel, self._table, self._language = panel, table, language
        self._passed: set[Check] = set()
        self.passed(Check.SETTINGS)
        if panel is not None:
            panel.start()

    def passed(self, check: Check) -> None:
        """One more check has passed."""
        self._passed.add(check)
        if self._panel is None:
            return
        if self._panel.up:
            self._passed.add(Check.DISPLAY)
        self._panel.show(draw(starting(self._passed, self._table, self._language)))
