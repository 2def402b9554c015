"""The numbers a display shows when a table cannot time; docs/error-codes.md says what to do (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from shared.checked_toml import FileProblem


class ErrorCode(IntEnum):
    """Tens: 10 the settings, 30 the buttons, 40 the card, 90 everything else."""

    SETTINGS_UNREADABLE = 10
    """No file, not text, or not TOML."""
    SETTINGS_DEVICE = 11
    SETTINGS_TABLE = 12
    SETTINGS_PINS = 13
    """Buttons, buzzer, light."""
    SETTINGS_DISPLAY = 14
    SETTINGS_HUB = 15
    SETTINGS_RULES = 16
    """Rulebook and categories."""
    SETTINGS_OTHER = 19
    NO_BUTTONS = 30
    NOT_SAVED = 40
    JOURNAL_BUSY = 41
    """Another program has this table's journal."""
    OTHER = 90

    def __str__(self) -> str:
        return f"E{self.value}"


_BY_KEY = {
    "": ErrorCode.SETTINGS_UNREADABLE,
    "device": ErrorCode.SETTINGS_DEVICE,
    "table": ErrorCode.SETTINGS_TABLE,
    "buttons": ErrorCode.SETTINGS_PINS,
    "signals": ErrorCode.SETTINGS_PINS,
    "display": ErrorCode.SETTINGS_DISPLAY,
    "hub": ErrorCode.SETTINGS_HUB,
    "rulebook": ErrorCode.SETTINGS_RULES,
    "categories": ErrorCode.SETTINGS_RULES,
}


def settings_codes(problems: Iterable[FileProblem]) -> tuple[ErrorCode, ...]:
    """What is wrong with the settings, each number once, smallest first."""
    keys = (problem.key.split(".")[0].split("[")[0] for problem in problems)
    return tuple(sorted({_BY_KEY.get(key, ErrorCode.SETTINGS_OTHER) for key in keys}))
