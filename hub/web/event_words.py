"""What stands in the logs, as words for judges and organisers (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from shared.core.events import Event, EventType
from shared.duration import clock_text
from shared.refusal_words import refusal_words


def event_word(kind: str, t: NullTranslations) -> str:
    """What happened; a kind that nobody translated stands as it is."""
    words: Mapping[str, str] = {
        EventType.RUN_STARTED: t.pgettext("event", "start"),
        EventType.PAUSE_STARTED: t.pgettext("event", "pause"),
        EventType.PAUSE_ENDED: t.pgettext("event", "end of the pause"),
        EventType.ASSIST_STARTED: t.pgettext("event", "assistance"),
        EventType.ASSIST_ENDED: t.pgettext("event", "end of the assistance"),
        EventType.STEP_SOLVED: t.pgettext("event", "step solved"),
        EventType.HINT_GIVEN: t.pgettext("event", "hint"),
        EventType.SOLUTION_GIVEN: t.pgettext("event", "solution"),
        EventType.RUN_FINISHED: t.pgettext("event", "finish"),
        EventType.FINISH_ACCEPTED: t.pgettext("event", "finish accepted"),
        EventType.FINISH_REJECTED: t.pgettext("event", "finish rejected"),
        EventType.PIECES_COUNTED: t.pgettext("event", "pieces counted"),
        EventType.NOTICE_DISMISSED: t.pgettext("event", "notice seen"),
        EventType.ACT_UNDONE: t.pgettext("event", "undone"),
        EventType.PRESS_REFUSED: t.pgettext("event", "press refused"),
        EventType.RUN_TAKEN_OVER: t.pgettext("event", "goes on after a power cut, or at another table timer"),
        EventType.BOOT_STARTED: t.pgettext("event", "table timer switched on"),
        EventType.RECORDS_MISSING: t.pgettext("event", "presses lost"),
        EventType.CLOCK_ANCHORED: t.pgettext("event", "clock compared with the hub's"),
        EventType.PENALTY_GIVEN: t.pgettext("event", "penalty"),
        EventType.PIECES_CORRECTED: t.pgettext("event", "pieces corrected"),
        EventType.PUZZLE_PIECES_SET: t.pgettext("event", "the puzzle's pieces corrected"),
        EventType.TIME_SET: t.pgettext("event", "time set"),
        EventType.TIME_GRANTED: t.pgettext("event", "time granted"),
        EventType.DISQUALIFIED: t.pgettext("event", "disqualified"),
        EventType.DID_NOT_FINISH: t.pgettext("event", "gave up"),
        EventType.RUN_VOIDED: t.pgettext("event", "run void"),
        EventType.DID_NOT_START: t.pgettext("event", "did not start"),
        EventType.RUN_REOPENED: t.pgettext("event", "reopened"),
        EventType.RUN_REASSIGNED: t.pgettext("event", "reassigned"),
        EventType.TIE_BROKEN: t.pgettext("event", "tie broken"),
        EventType.INCIDENT_NOTED: t.pgettext("event", "incident"),
        EventType.RULING_REVOKED: t.pgettext("event", "ruling taken back"),
    }
    return words.get(kind, kind)


def event_detail(event: Event, t: NullTranslations) -> str:
    """The numbers and names that an event carries, as short as they are read; the reason stands elsewhere."""
    data, told = event.data, []
    if type(seconds := data.get("seconds")) is int:
        signed = event.type in (EventType.PENALTY_GIVEN, EventType.TIME_GRANTED)
        sign = "−" if seconds < 0 else "+" if signed else ""
        told.append(sign + clock_text(abs(seconds)))
    told += [str(data[name]) for name in ("pieces", "missing") if type(data.get(name)) is int]
    told += [f"n.º {data[name]}" for name in ("ruling", "undone") if type(data.get(name)) is int]
    if isinstance(entrant := data.get("entrant"), str):
        told.append(entrant)
    if event.type == EventType.PRESS_REFUSED:
        told += [event_word(str(data.get("act", "")), t), refusal_words(str(data.get("reason", "")), t)]
    return " · ".join(told)


def deed_word(deed: str, t: NullTranslations) -> str:
    """What somebody did to the hub itself."""
    words = {
        "set_up": t.pgettext("deed", "organiser set up"),
        "logged_in": t.pgettext("deed", "logged in"),
        "slowed_down": t.pgettext("deed", "many wrong passwords"),
        "password_changed": t.pgettext("deed", "password changed"),
        "judge_let_in": t.pgettext("deed", "judge let in"),
        "pin_renewed": t.pgettext("deed", "new PIN"),
        "judge_dismissed": t.pgettext("deed", "judge dismissed"),
        "device_replaced": t.pgettext("deed", "table timer replaced"),
        "table_identify": t.pgettext("deed", "asked a table which one it is"),
        "table_show_text": t.pgettext("deed", "text on a table's display"),
        "table_selftest": t.pgettext("deed", "self-test of a table ordered"),
        "table_reload": t.pgettext("deed", "settings of a table read again"),
        "entrant_forgotten": t.pgettext("deed", "name forgotten"),
        "restored": t.pgettext("deed", "database brought back from a backup"),
        "refilled": t.pgettext("deed", "events taken from journals (new)"),
        "plan_loaded": t.pgettext("deed", "plan loaded (runs / tables)"),
        "seat_given": t.pgettext("deed", "table timer put on a table"),
        "start_ordered": t.pgettext("deed", "start of a heat ordered"),
        "start_cancelled": t.pgettext("deed", "start of a heat cancelled"),
        "start_closed": t.pgettext("deed", "start of a heat closed"),
    }
    return words.get(deed, deed)


def deed_value(value: str, t: NullTranslations) -> str:
    """What was before or after a deed; a name or number stands as it is."""
    words = {
        "may_log_in": t.pgettext("deed", "may log in"),
        "may_not_log_in": t.pgettext("deed", "may not log in"),
    }
    return words.get(value, value)


def role_word(role: str, t: NullTranslations) -> str:
    """What somebody is at the tournament."""
    return {"organiser": t.pgettext("role", "organiser"), "judge": t.pgettext("role", "judge")}.get(
        role, role
    )
