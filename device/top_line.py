"""What stands in the top line: a state's title, a mark when something is off, PRACTICE, the time that is left (pure).

Nothing of ours is ever cut: what is too long beside another text is said shorter, and what still is too long takes
turns with it. Only names may be cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from device.draw import top_stands
from device.lettering import ELLIPSIS, most_fitting, printable
from device.screen import Screen
from shared.core.model import State
from shared.duration import clock_text
from shared.texts import translator

if TYPE_CHECKING:
    from device.facts import Facts

_TURN_S: Final = 2
Ways = tuple[str, ...]
"""Ways to say the same, the longest first."""


def with_top_line(screen: Screen, facts: Facts) -> Screen:
    """The screen with what has to stand in its top line at this instant."""
    title, rights = (screen.top, *screen.shorter), []
    inverse = screen.top_inverse or facts.not_saved
    if (mark := _mark(facts)) is not None:
        rights.append(mark)
    if facts.practice and facts.situation.state is not State.READY:
        inverse = True
        word = translator(facts.language).pgettext("oled", "PRACTICE")
        if screen.top == table_words(facts):
            title = (word,)
        else:
            rights.append((word,))
    if mark is None and screen.top_right:
        rights.append((screen.top_right, *_shorter_heat(screen, facts, inverse=inverse)))
    pages = _pages(title, rights, inverse=inverse)
    top, right = pages[facts.tick // _TURN_S % len(pages)]
    blinks = screen.blinks or facts.not_saved
    return replace(screen, top=top, top_right=right, shorter=(), top_inverse=inverse, blinks=blinks)


def beside(screen: Screen, right: str, tick: int) -> Screen:
    """The screen with one thing more to say in its top line."""
    pages = _pages((screen.top, *screen.shorter), [(right,)], inverse=True)
    top, right = pages[tick // _TURN_S % len(pages)]
    return replace(screen, top=top, top_right=right, top_inverse=True)


def table_words(facts: Facts) -> str:
    """Which table this is, as the title of a state that needs no other."""
    return translator(facts.language).pgettext("oled", "Table {table}").format(table=facts.table)


def heat_words(facts: Facts) -> str:
    """The heat; empty if there is none."""
    if not facts.heat:
        return ""
    return translator(facts.language).pgettext("oled", "Heat {heat}").format(heat=facts.heat)


def _mark(facts: Facts) -> Ways | None:
    """What is off, the gravest only."""
    pgettext = translator(facts.language).pgettext
    if facts.not_saved:
        ago = pgettext("oled", "NOT SAVED {time}").format(time=clock_text(facts.saved_ago_s))
        return ago, pgettext("oled", "NOT SAVED")
    if facts.stuck:
        return (pgettext("oled", "STUCK {button}").format(button=facts.stuck[0].upper()),)
    if facts.low:
        return (pgettext("oled", "CLOCK"),)
    if facts.supply_weak:
        return (pgettext("oled", "POWER"),)
    if facts.safe:
        return (pgettext("oled", "SAFE MODE"),)
    if facts.copied:
        return (pgettext("oled", "CARD COPIED"),)
    if not facts.online:
        offline = pgettext("oled", "offline {unsent}").format(unsent=facts.unsent or "").strip()
        return offline, pgettext("oled", "offline {unsent}").format(unsent="").strip()
    return None


def _shorter_heat(screen: Screen, facts: Facts, *, inverse: bool) -> Ways:
    """A heat's name says enough without the word; beside the table's number, which never goes away, it is cut."""
    name = printable(facts.heat or "")
    if not name or screen.top_right != heat_words(facts):
        return ()

    def beginning(letters: int) -> str:
        return name[:letters].rstrip() + ELLIPSIS

    most = most_fitting(len(name) - 1, lambda n: top_stands(screen.top, beginning(n), inverse=inverse))
    return name, beginning(most)


def _pages(titles: Ways, rights: Sequence[Ways], *, inverse: bool) -> list[tuple[str, str]]:
    """The pictures of the top line that take turns: all of the right ends beside the title, else alone."""
    pages: list[tuple[str, str]] = []
    for ways in rights or [("",)]:
        whole = (
            (title, right) for title in titles for right in ways if top_stands(title, right, inverse=inverse)
        )
        page = next(whole, None)
        pages += [(titles[0], ""), (_alone(ways, inverse=inverse), "")] if page is None else [page]
    return list(dict.fromkeys(pages))


def _alone(ways: Ways, *, inverse: bool) -> str:
    return next((way for way in ways if top_stands(way, "", inverse=inverse)), ways[-1])
