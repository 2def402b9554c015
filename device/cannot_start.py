"""A table that cannot time says why, on its display and to whoever started it, and ends."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from device.buttons import NoButtons
from device.draw import draw
from device.error_codes import ErrorCode, settings_codes
from device.journal import JournalBusy, NotSaved
from device.panel import Panel
from device.screen import Screen
from shared.checked_toml import FileProblem
from shared.texts import translator

SHOWN_S: Final = 10.0
"""So long the reason stays on the display before the process ends and is started again."""
HEARD_S: Final = 3.0
"""Without a display, the time it takes to be heard by the hub."""
EXIT_NO_BUTTONS: Final = 3
EXIT_NOT_SAVED: Final = 4


def exit_code(error: Exception) -> int:
    """What the process ends with, for scripts and for `systemctl status`."""
    codes: dict[type[Exception], int] = {NoButtons: EXIT_NO_BUTTONS, NotSaved: EXIT_NOT_SAVED}
    return codes.get(type(error), 1)


def error_code(error: Exception) -> ErrorCode:
    """The number that stands on the display."""
    codes: dict[type[Exception], ErrorCode] = {
        NoButtons: ErrorCode.NO_BUTTONS,
        NotSaved: ErrorCode.NOT_SAVED,
        JournalBusy: ErrorCode.JOURNAL_BUSY,
    }
    return codes.get(type(error), ErrorCode.OTHER)


def why_settings(problems: Iterable[FileProblem], language: str) -> Screen:
    """The picture that tells by numbers all that is wrong with the settings."""
    pgettext = translator(language).pgettext
    return Screen(
        pgettext("oled", "SETTINGS"),
        top_inverse=True,
        lines=(" ".join(map(str, settings_codes(problems))),),
        bottom=pgettext("oled", "see error numbers"),
    )


def why(error: Exception, table: int, language: str) -> Screen:
    """The picture that tells people at the table that it cannot time."""
    pgettext = translator(language).pgettext
    words = {
        ErrorCode.NO_BUTTONS: pgettext("oled", "NO BUTTONS"),
        ErrorCode.NOT_SAVED: pgettext("oled", "NOT SAVED"),
        ErrorCode.JOURNAL_BUSY: pgettext("oled", "OTHER PROGRAM"),
    }
    return Screen(
        pgettext("oled", "Table {table}").format(table=table),
        top_right=str(error_code(error)),
        top_inverse=True,
        lines=(words.get(error_code(error), pgettext("oled", "DOES NOT START")),),
        bottom=pgettext("oled", "call the organisers"),
    )


def show_why(panel: Panel | None, screen: Screen, stop: threading.Event, shown_s: float = SHOWN_S) -> None:
    """Show it for a while, or until the end is asked for; without a display the hub has time to hear of it."""
    if panel is None:
        stop.wait(HEARD_S)
        return
    panel.start()
    for tick in range(
        max(1, round(shown_s))
    ):  # the mark walks: the display is alive, and so is who wrote this
        panel.show(draw(replace(screen, tick=tick)))
        if stop.wait(min(1.0, shown_s)):
            break
    panel.stop()
