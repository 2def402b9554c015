"""How a table's parts are and what it answered, as sentences for the organisers (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from gettext import NullTranslations
from typing import Any

from hub.web.problem_words import problem_words

_WEAK_NOW, _WEAK_SINCE_BOOT = 1 << 0, 1 << 16
_SLOWED_SINCE_BOOT = 1 << 17 | 1 << 18 | 1 << 19
_SLOWED_NOW = 1 << 1 | 1 << 2 | 1 << 3


def condition_words(
    condition: Mapping[str, Any] | None, problems: list[Any], language: str, t: NullTranslations
) -> tuple[str, ...]:
    """What there is to tell of the parts of a table, a line each; nothing of what it does not tell."""
    return () if condition is None else tuple(_lines(condition, problems, language, t))


def _lines(told: Mapping[str, Any], problems: list[Any], language: str, t: NullTranslations) -> Iterator[str]:
    display = told["display"]
    if display is not None:
        words = {
            "ok": t.pgettext("condition", "display works"),
            "none": t.pgettext("condition", "no display fitted"),
        }
        yield words.get(
            display, t.pgettext("condition", "display does not answer: %(why)s") % {"why": display}
        )
        codes = {problem.get("code") for problem in problems if isinstance(problem, Mapping)}
        if not codes & {"button_stuck", "button_noisy"}:
            yield t.pgettext("condition", "buttons work")
    if told["clock_error_ms"] is None:
        yield t.pgettext("condition", "clock not compared with the hub's")
    else:
        yield t.pgettext("condition", "clock within %(ms)d ms of the hub's") % {"ms": told["clock_error_ms"]}
    if told["throttled"] is not None:
        yield _supply(told["throttled"], t)
    if told["temperature_c"] is not None:
        yield t.pgettext("condition", "%(degrees)d °C") % {"degrees": told["temperature_c"]}
    if told["free_mb"] is not None:
        room = _decimal(told["free_mb"] / 1000, language)
        yield t.pgettext("condition", "%(room)s GB free on the card") % {"room": room}
    versions = [
        told["software"] or "",
        f"Python {told['python']}" if told["python"] else "",
        told["os"] or "",
    ]
    if any(versions):
        yield t.pgettext("condition", "software %(versions)s") % {
            "versions": ", ".join(filter(None, versions))
        }


def _supply(bits: str, t: NullTranslations) -> str:
    """The firmware's bits; what is wrong now stands among the problems as well."""
    try:
        number = int(bits, 16)
    except ValueError:
        return t.pgettext("condition", "supply unknown")
    now, since = [], []
    for mask_now, mask_since, word in (
        (_WEAK_NOW, _WEAK_SINCE_BOOT, t.pgettext("condition", "too weak")),
        (_SLOWED_NOW, _SLOWED_SINCE_BOOT, t.pgettext("condition", "slowed down")),
    ):
        if number & mask_now:
            now.append(word)
        elif number & mask_since:
            since.append(word)
    if not now and not since:
        return t.pgettext("condition", "supply good since power-on")
    told = [t.pgettext("condition", "now %(what)s") % {"what": word} for word in now]
    told += [t.pgettext("condition", "%(what)s since power-on") % {"what": word} for word in since]
    return t.pgettext("condition", "supply: %(what)s") % {"what": ", ".join(told)}


def _decimal(number: float, language: str) -> str:
    text = f"{number:.1f}"
    return text.replace(".", ",") if language == "es" else text


def answer_words(answer: Mapping[str, Any] | None, t: NullTranslations) -> tuple[str, ...]:
    """What a table answered, the sentence first, then what a self-test found wrong."""
    if answer is None:
        return ()
    deeds = {
        "identify": t.pgettext("answer", "showed its number"),
        "show_text": t.pgettext("answer", "showed the text"),
        "reload": t.pgettext("answer", "reads its settings again"),
        "selftest": t.pgettext("answer", "self-test: all is well"),
    }
    results = {
        "done": deeds.get(answer["do"], answer["do"]),
        "faults": t.pgettext("answer", "self-test: not all is well"),
        "run_on": t.pgettext("answer", "not done: a run is on"),
        "expired": t.pgettext("answer", "not done: it came too late"),
        "clock_unknown": t.pgettext(
            "answer", "not done: its clock is not compared yet; again in ten seconds"
        ),
        "busy": t.pgettext("answer", "not done: a self-test is on"),
        "cannot_reload": t.pgettext("answer", "not done: nobody would start it again"),
        "settings_wrong": t.pgettext("answer", "settings not taken: %(why)s") % {"why": answer["why"]},
        "not_understood": t.pgettext("answer", "not done: its program is of another version"),
    }
    faults = [finding for finding in answer["findings"] if not finding["ok"]]
    return (results.get(answer["result"], answer["result"]), *(finding_words(f, t) for f in faults))


def finding_words(finding: Mapping[str, Any], t: NullTranslations) -> str:
    """What a self-test found out about one part; what nobody translated stands as the table said it."""
    code, values = (
        str(finding.get("code", "")),
        {"ms": finding.get("ms", 0), "names": finding.get("names", "")},
    )
    words = {
        "display_answers": t.pgettext("finding", "display works"),
        "display_none": t.pgettext("finding", "no display fitted"),
        "display_failed": t.pgettext("finding", "display does not answer"),
        "buttons_up": t.pgettext("finding", "no button is pressed"),
        "buttons_down": t.pgettext("finding", "pressed or stuck: %(names)s"),
        "signals_ready": t.pgettext("finding", "buzzer and light ready"),
        "signals_failed": t.pgettext("finding", "buzzer or light does not work"),
        "clock_set": t.pgettext("finding", "time of day set by the network"),
        "clock_unset": t.pgettext("finding", "time of day not set by the network; runs do not need it"),
        "disk_writes": t.pgettext("finding", "slowest of 20 writes to the card: %(ms)d ms"),
        "disk_volatile": t.pgettext("finding", "nothing on its card outlives a power cut"),
        "disk_failed": t.pgettext("finding", "its card takes nothing"),
        "board_ok": t.pgettext("finding", "supply, heat and room on the card are good"),
        "network_answers": t.pgettext("finding", "the broker answers in %(ms)d ms"),
        "network_none": t.pgettext("finding", "the broker does not answer"),
    }
    if code in words:
        return words[code] % values
    known = problem_words(code, t)
    return known if known != code else str(finding.get("text") or code or finding.get("part", ""))
