"""What the standings page says: the answer of the ranking, grouped and in words (pure).

Ranks and order are the ranking's own; nothing is ranked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any

from hub.web.words import mark_word, pieces_words, status_word
from shared.duration import clock_text
from shared.standings import official_words

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Line:
    """One entrant of a category, as written on the board."""

    key: str
    """Names the line on its page, so that what a visitor opened stays open."""
    place: str
    """`3`, `3=` for a tie, empty where no place is due."""
    name: str
    table: int | None
    status: str
    """Status code; the shape beside the words follows it."""
    main: str
    """The large figure: official time, or pieces where they rank, or nothing."""
    parts: tuple[str, ...]
    """`43:21`, `+ 2:10 ayuda`; empty where the official time has no parts."""
    notes: tuple[str, ...]
    """Status, pieces and marks in words."""


@dataclass(frozen=True, slots=True)
class Board:
    """One category's standings."""

    id: str
    name: str
    pieces: int
    ranked: tuple[Line, ...]
    unranked: tuple[Line, ...]
    running: tuple[Line, ...]
    play_off: bool
    """Several share the first place."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines in the order of the page."""
        return (*self.ranked, *self.unranked, *self.running)


def boards(standings: Mapping[str, Any], language: str, t: NullTranslations) -> tuple[Board, ...]:
    """The boards of every category in the order given, those without a line last."""
    made = [
        _board(shown, language, t)
        for category in standings["categories"]
        for shown in (category, *_further(category))
    ]
    return tuple(sorted(made, key=lambda board: not board.lines))


def _further(category: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Further rankings from a category's race, each as a board of its own."""
    for ranking in category.get("rankings", ()):
        names = {k: f"{name} · {ranking['name'].get(k, '')}" for k, name in category["name"].items()}
        board_id = f"{category['id']}-{ranking['id']}"
        yield {**category, "id": board_id, "name": names, "standings": ranking["standings"], "rankings": ()}


def _board(category: Mapping[str, Any], language: str, t: NullTranslations) -> Board:
    entries: Sequence[Mapping[str, Any]] = category["standings"]
    holders = Counter(entry["rank"] for entry in entries if entry["rank"] is not None)
    groups: dict[str, list[Line]] = {"ranked": [], "unranked": [], "running": []}
    for entry in entries:
        running = "running" if entry["status"] == "RUNNING" else "unranked"
        groups["ranked" if entry["rank"] is not None else running].append(_line(entry, holders, category, t))
    names: Mapping[str, str] = category["name"]
    return Board(
        id=category["id"],
        name=names.get(language) or next(iter(names.values()), category["id"]),
        pieces=category["pieces"],
        ranked=tuple(groups["ranked"]),
        unranked=tuple(groups["unranked"]),
        running=tuple(groups["running"]),
        play_off=holders[1] > 1,
    )


def _line(
    entry: Mapping[str, Any], holders: Counter[int], category: Mapping[str, Any], t: NullTranslations
) -> Line:
    rank, status = entry["rank"], entry["status"]
    pieces = None
    if entry["pieces"] is not None:
        pieces = pieces_words(entry["pieces"], category["count"], category["pieces"], t)
    main = official_words(entry) or pieces or ""
    notes = [] if status == "FINISHED" else [status_word(status, t)]
    if pieces is not None and pieces != main:
        notes.append(pieces)
    notes += [mark_word(mark, t) for mark in entry["marks"]]
    return Line(
        key=f"{category['id']}/{entry['entrant']}/{entry['table']}",
        place="" if rank is None else f"{rank}=" if holders[rank] > 1 else str(rank),
        name=entry["name"] or entry["entrant"] or t.gettext("name to follow"),
        table=entry["table"],
        status=status,
        main=main,
        parts=() if "interrupted" in entry["marks"] else time_parts(entry, t),  # nothing is sure of them
        notes=tuple(notes),
    )


def time_parts(entry: Mapping[str, Any], t: NullTranslations) -> tuple[str, ...]:
    """What an official time is made of, `43:21`, `+ 2:10 ayuda`, `+ 0:30 penalización`; empty if of one part."""
    official_s, assist_s, penalty_s = entry["official_s"], entry["assist_s"], entry["penalty_s"]
    stage_s, raw_s = entry["stage_s"], entry["raw_s"]
    if official_s is None:
        return ()
    if "manual" in entry["marks"]:
        if raw_s is None:
            return ()
        return (t.pgettext("part", "the clock said %(time)s") % {"time": clock_text(raw_s)},)
    added, taken_off = t.pgettext("part", "penalty %(time)s"), t.pgettext("part", "compensation %(time)s")
    penalty = added if penalty_s > 0 else taken_off
    after = [(assist_s, t.pgettext("part", "help %(time)s")), (penalty_s, penalty)]
    rest_s = official_s - assist_s - penalty_s
    if stage_s is not None:
        first = [
            (stage_s, t.pgettext("part", "escape %(time)s")),
            (rest_s - stage_s, t.pgettext("part", "puzzle %(time)s")),
        ]
    elif raw_s is None:
        first = [(rest_s, t.pgettext("part", "limit and loose pieces %(time)s"))]
    else:
        first = [(raw_s, "%(time)s")]
    parts = first + [(seconds, text) for seconds, text in after if seconds]
    return () if len(parts) == 1 else tuple(_signed(parts))


def _signed(parts: Sequence[tuple[int, str]]) -> Iterator[str]:
    for number, (seconds, text) in enumerate(parts):
        sign = "" if number == 0 else f"{MINUS} " if seconds < 0 else "+ "
        yield sign + text % {"time": clock_text(abs(seconds))}
