"""What a ruling changes, in words: each line before and after (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from gettext import NullTranslations

from hub.effects import Effect, Worth
from hub.web.words import isolated, mark_word, status_word
from shared.duration import clock_text

NameOf = Callable[[str, str | None], str | None]
"""The public name of an entrant of a category."""


@dataclass(frozen=True, slots=True)
class Change:
    """One line."""

    name: str
    run: str
    was: str
    became: str


def changes(effects: Iterable[Effect], name_of: NameOf, t: NullTranslations) -> tuple[Change, ...]:
    """All lines; an entrant who changed stands in both."""
    return tuple(_change(effect, name_of, t) for effect in effects)


def _change(effect: Effect, name_of: NameOf, t: NullTranslations) -> Change:
    was, became = worth_words(effect.was, t), worth_words(effect.became, t)
    if effect.was is not None and effect.became is not None:
        before, after = effect.was.entrant, effect.became.entrant
        if before != after:
            was = f"{isolated(name_of(effect.category, before) or t.gettext('nobody'))} · {was}"
            became = f"{isolated(name_of(effect.category, after) or t.gettext('nobody'))} · {became}"
        if effect.was.table != effect.became.table:
            was = f"{_table(effect.was.table, t)} · {was}"
            became = f"{_table(effect.became.table, t)} · {became}"
    return Change(name_of(effect.category, effect.entrant) or "–", effect.run, was, became)


def _table(number: int, t: NullTranslations) -> str:
    return t.pgettext("place", "table %(number)s") % {"number": number}


def worth_words(worth: Worth | None, t: NullTranslations) -> str:
    """`1.º · 43:21`; status, pieces and marks where they are needed."""
    if worth is None:
        return t.gettext("not listed")
    parts = []
    if worth.rank is not None:
        parts.append(t.gettext("place %(n)d") % {"n": worth.rank})
    if worth.status != "FINISHED":
        parts.append(status_word(worth.status, t))
    if worth.official_s is not None:
        parts.append(clock_text(worth.official_s))
    if worth.pieces is not None:
        parts.append(t.ngettext("%(num)d piece", "%(num)d pieces", worth.pieces) % {"num": worth.pieces})
    parts += [mark_word(mark, t) for mark in worth.marks]
    return " · ".join(parts) or status_word(worth.status, t)
