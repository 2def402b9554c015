"""Cells of a CSV file that a spreadsheet takes for text and for nothing else (pure)."""

from __future__ import annotations

from typing import Final

_BEGINNINGS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(text: str) -> str:
    """A cell that begins like a formula gets a quote before it, which spreadsheets do not show."""
    return "'" + text if text.startswith(_BEGINNINGS) else text
