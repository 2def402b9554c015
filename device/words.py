"""Short words for refusals and acts, as they fit the display (pure)."""

from __future__ import annotations

from collections.abc import Callable

from device.facts import Refusal
from device.situation import Situation
from shared.core.events import EventType
from shared.core.guards import help_wait_ms
from shared.core.result import Result
from shared.core.rules import CountKind
from shared.duration import clock_text
from shared.refusal_words import refusal_words
from shared.texts import translator


def refusal_text(language: str, refusal: Refusal, situation: Situation, bound: str = "") -> str:
    """Why a press was refused, in about twenty letters; `bound` stands before a time that is not exactly known."""
    pgettext = translator(language).pgettext
    reason = refusal.reason
    if reason == "help_too_soon" and situation.frame is not None:
        wait_s = -(-help_wait_ms(situation.run.escape, situation.frame, situation.t_ms) // 1000)
        return pgettext("oled", "help in {time}").format(time=bound + clock_text(wait_s))
    if reason == "after_limit":
        late_s = max(0, refusal.detail_ms) / 1000
        seconds = f"{late_s:.1f}".replace(".", pgettext("decimal mark", "."))
        return pgettext("oled", "too late by {seconds} s").format(seconds=seconds)
    return refusal_words(reason, translator(language))


def undo_text(language: str, act: str | None) -> str:
    """What a held START is about to undo, as a title."""
    pgettext = translator(language).pgettext
    texts: dict[str | None, str] = {
        EventType.RUN_STARTED: pgettext("oled", "UNDO START"),
        EventType.PAUSE_STARTED: pgettext("oled", "UNDO PAUSE"),
        EventType.PAUSE_ENDED: pgettext("oled", "UNDO RESUME"),
        EventType.ASSIST_STARTED: pgettext("oled", "UNDO HELP"),
        EventType.ASSIST_ENDED: pgettext("oled", "UNDO END OF HELP"),
        EventType.STEP_SOLVED: pgettext("oled", "UNDO STEP"),
        EventType.HINT_GIVEN: pgettext("oled", "UNDO HINT"),
        EventType.SOLUTION_GIVEN: pgettext("oled", "UNDO SOLUTION"),
        EventType.RUN_FINISHED: pgettext("oled", "NOT COMPLETE"),
        EventType.FINISH_ACCEPTED: pgettext("oled", "UNDO ACCEPT"),
    }
    return texts.get(act, pgettext("oled", "NOTHING TO UNDO"))


def left_text(milliseconds: int, pgettext: Callable[[str, str], str]) -> str:
    """Time left until the limit, coarse while there is much of it: `1h14`, `41:10`."""
    seconds = -(-max(0, milliseconds) // 1000)
    if seconds >= 3600:
        hours, rest = divmod(seconds, 3600)
        return pgettext("oled", "{hours}h{minutes:02}").format(hours=hours, minutes=rest // 60)
    return clock_text(seconds)


def parts_text(language: str, result: Result, kind: CountKind | None = None) -> str:
    """What an official time is made of, `43:21 + help 2:10`; of an unfinished run its pieces, and of which `kind`;
    empty if of one part.

    What is left over is of the escape stage's tickets or of missing pieces.
    """
    pgettext = translator(language).pgettext
    if result.pieces is not None:
        texts: dict[CountKind | None, str] = {
            CountKind.LOOSE: pgettext("oled", "{n} loose pieces"),
            CountKind.LARGEST: pgettext("oled", "area of {n} pieces"),
            CountKind.JOINED: pgettext("oled", "{n} joined pieces"),
        }
        return texts.get(kind, pgettext("oled", "{n} pieces")).format(n=result.pieces)
    if result.raw_s is None or result.official_s is None or result.official_s == result.raw_s:
        return ""
    rest_s = result.official_s - result.raw_s - result.assist_s - result.penalty_s
    parts = [clock_text(result.raw_s)]
    if result.assist_s:
        parts.append("+ " + pgettext("oled", "help {time}").format(time=clock_text(result.assist_s)))
    parts += [_signed(seconds) for seconds in (result.penalty_s, rest_s) if seconds]
    return " ".join(parts)


def _signed(seconds: int) -> str:
    return f"{'+' if seconds > 0 else '−'} {clock_text(abs(seconds))}"
