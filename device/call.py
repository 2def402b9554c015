"""What a display shows when the hub asks for its table: which one it is, a text, a self-test (pure).

A clock in play is never covered: then only the line above it is taken, or the one below for a text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from device.screen import Screen
from device.top_line import beside
from shared.core.model import State
from shared.texts import translator
from shared.wire import Do

if TYPE_CHECKING:
    from device.facts import Facts

SHOWN_S: Final = {Do.IDENTIFY: 10.0, Do.SHOW_TEXT: 30.0, Do.SELFTEST: 3.0}
"""So long it stays, unless a button is pressed."""


@dataclass(frozen=True, slots=True)
class Called:
    """The hub asks for this table, until an instant of hand time."""

    do: Do
    until_s: float
    text: str = ""


def called_on(screen: Screen, facts: Facts) -> Screen:
    """The screen with what the hub asks for."""
    called = facts.called
    if called is None:
        return screen
    pgettext = translator(facts.language).pgettext
    table = pgettext("oled", "Table {table}").format(table=facts.table)
    if _is_busy(facts):
        if called.do is Do.IDENTIFY:
            asked = asks(facts)
            titled = screen if asked else replace(screen, top=table)
            return replace(beside(titled, table if asked else screen.top_right, facts.tick), blinks=True)
        if called.do is Do.SHOW_TEXT and not _bottom_needed(facts):
            keeps = (screen.bottom, *screen.keeps)
            return replace(screen, bottom=called.text, bottom_inverse=True, keeps=keeps)
        return screen
    if called.do is Do.IDENTIFY:
        title = pgettext("oled", "THIS IS TABLE")
        return Screen(title, clock=str(facts.table), tick=facts.tick, blinks=True, negative=True)
    if called.do is Do.SHOW_TEXT:
        bottom = pgettext("oled", "any button: seen")
        return Screen(table, top_inverse=True, lines=(called.text,), bottom=bottom, tick=facts.tick)
    title, line = pgettext("oled", "SELF-TEST"), pgettext("oled", "ordered by the hub")
    return Screen(title, top_inverse=True, lines=(line,), bottom=table, tick=facts.tick)


def _is_busy(facts: Facts) -> bool:
    """Whether the display says something that must be seen now: a run, a countdown, trouble with the card."""
    resting = facts.situation.state in (State.READY, State.SEALED)
    return not resting or facts.ordered is not None or facts.not_saved


def asks(facts: Facts) -> bool:
    """Whether the display asks something that a button answers: that is never hidden."""
    claimed = facts.situation.state is State.CLAIMED
    return claimed or facts.armed is not None or (facts.count is not None and facts.count.asked)


def _bottom_needed(facts: Facts) -> bool:
    """Whether the line below says which button does what just now, or why a press was refused."""
    return asks(facts) or facts.count is not None or facts.refusal is not None or facts.held_s > 0
