"""A rulebook in words: what it says of each category, and what to confirm with the organiser (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from shared.core.rules import CategoryRules, CountKind, Order
from shared.duration import clock_text
from shared.rulebook import Rulebook
from shared.texts import translator


def summary(book: Rulebook, language: str) -> str:
    """The whole rulebook in words."""
    return "\n".join(_lines(book, language))


def _lines(book: Rulebook, language: str) -> Iterator[str]:
    pgettext = translator(language).pgettext
    yield f"{book.name} ({book.zone})"
    for rules in book.categories.values():
        yield f"  {rules.id}: {rules.name_in(language)}"
        yield "    " + " · ".join(_category(rules, language))
    if book.confirm:
        yield ""
        yield pgettext("rulebook", "Please confirm with the organiser:")
        for n, confirm in enumerate(book.confirm, start=1):
            question = confirm.question.get(language) or next(iter(confirm.question.values()))
            yield f"  {n}. [{confirm.key}] {question}"


def _category(rules: CategoryRules, language: str) -> Iterator[str]:
    pgettext = translator(language).pgettext
    if rules.who is not None:
        yield pgettext("rulebook", "people: {people}").format(people=rules.who.people)
    yield pgettext("rulebook", "pieces: {pieces}").format(pieces=" + ".join(map(str, rules.puzzles)))
    yield pgettext("rulebook", "limit {time}").format(time=clock_text(rules.limit_ms // 1000))
    if rules.preview_ms:
        yield pgettext("rulebook", "preview {time}").format(time=clock_text(rules.preview_ms // 1000))
    if rules.pauses is not None:
        each = clock_text(rules.pauses.each_ms // 1000)
        yield pgettext("rulebook", "pauses {count} x {time}").format(count=rules.pauses.count, time=each)
    if rules.assists is not None:
        total = clock_text(rules.assists.total_ms // 1000)
        yield pgettext("rulebook", "help {count}, {time} in all").format(
            count=rules.assists.count, time=total
        )
    if rules.escape is not None:
        limit = clock_text(rules.escape.limit_ms // 1000)
        yield pgettext("rulebook", "escape {steps} steps, {time}").format(
            steps=rules.escape.steps, time=limit
        )
    yield _unfinished(rules, language)
    if rules.missing is not None:
        cost = rules.missing.seconds_per_piece
        yield pgettext("rulebook", "{seconds} s for each missing piece").format(seconds=cost)


def _unfinished(rules: CategoryRules, language: str) -> str:
    pgettext = translator(language).pgettext
    if rules.count.kind is CountKind.LOOSE:
        words = pgettext(
            "rulebook", "unfinished: limit + {seconds} s for each piece not in a group of {group}"
        )
        told = words.format(seconds=rules.count.seconds_per_piece, group=rules.count.group)
        return told + (pgettext("rulebook", ", on one scale") if rules.order is Order.ONE_SCALE else "")
    if rules.count.kind is CountKind.JOINED:
        words = pgettext("rulebook", "unfinished: pieces in groups of {group} or more")
        return words.format(group=rules.count.group)
    if rules.count.kind is CountKind.LARGEST:
        return pgettext("rulebook", "unfinished: pieces of the largest area")
    return pgettext("rulebook", "unfinished: not ranked")
