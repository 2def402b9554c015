"""The field's codes as words for people, and numbers as the boards write them (pure)."""

from __future__ import annotations

from gettext import NullTranslations

from shared.duration import clock_text


def clock(shown_ms: float, direction: str) -> str:
    """A clock's reading: counting up it is truncated to whole seconds, down rounded up; never below 0."""
    whole_ms = max(0, int(shown_ms))
    return clock_text(-(-whole_ms // 1000) if direction == "down" else whole_ms // 1000)


def status_word(code: str, t: NullTranslations) -> str:
    """What a result is worth, in words; a code nobody translated stands as it is."""
    words = {
        "RUNNING": t.pgettext("status", "in play"),
        "FINISHED": t.pgettext("status", "finished"),
        "UNFINISHED": t.pgettext("status", "not completed"),
        "DNS": t.pgettext("status", "did not start"),
        "DNF": t.pgettext("status", "gave up"),
        "DSQ": t.pgettext("status", "disqualified"),
        "VOID": t.pgettext("status", "void"),
    }
    return words.get(code, code)


def state_word(code: str, t: NullTranslations) -> str:
    """What happens at a table, in words."""
    words = {
        "": t.pgettext("state", "no news"),
        "ready": t.pgettext("state", "ready"),
        "preview": t.pgettext("state", "looking, box closed"),
        "running": t.pgettext("state", "running"),
        "paused": t.pgettext("state", "paused"),
        "assisting": t.pgettext("state", "being helped"),
        "claimed": t.pgettext("state", "complete? to be accepted"),
        "time_up": t.pgettext("state", "time is up: count the pieces"),
        "sealed": t.pgettext("state", "closed"),
    }
    return words.get(code, code)


def mark_word(code: str, t: NullTranslations) -> str:
    """A remark on a result, in words."""
    words = {
        "unaccepted": t.pgettext("mark", "to be accepted"),
        "awaiting_count": t.pgettext("mark", "pieces to be counted"),
        "interrupted": t.pgettext("mark", "clock interrupted, to be decided"),
        "manual": t.pgettext("mark", "time set by the judges"),
        "corrected": t.pgettext("mark", "corrected"),
        "two_runs": t.pgettext("mark", "two runs, to be decided"),
        "superseded": t.pgettext("mark", "replaced by a spare table timer"),
        "practice": t.pgettext("mark", "practice"),
        "out_of_competition": t.pgettext("mark", "out of competition"),
        "rerun": t.pgettext("mark", "repeated run"),
    }
    return words.get(code, code)


def pieces_words(pieces: int, count: str, total: int, t: NullTranslations) -> str:
    """What an unfinished puzzle is worth: `143 de 200` joined, or `37 sueltas`."""
    if count == "loose":
        return t.npgettext("pieces", "%(n)d loose", "%(n)d loose", pieces) % {"n": pieces}
    return t.pgettext("pieces", "%(n)d of %(total)d") % {"n": pieces, "total": total}


def isolated(text: str) -> str:
    """A name where no element can hold it apart (a title, a choice): what it turns round ends with it."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
