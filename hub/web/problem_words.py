"""What the logs have to report, as sentences for the organisers (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations
from typing import Any

from shared.duration import clock_text


def problem_words(problem: Mapping[str, Any] | str, t: NullTranslations) -> str:
    """A problem in words; one whose code nobody translated stands as its code."""
    if isinstance(problem, str):
        return _sentences(t).get(problem, problem)
    code = str(problem.get("code", ""))
    seconds = problem.get("seconds")
    words = {
        "button": str(problem.get("button", "")).upper(),
        "number": str(problem.get("number", "")),
        "why": str(problem.get("why", "")),
        "time": clock_text(seconds) if type(seconds) is int else "…",
    }
    sentence = _sentences(t).get(code)
    return code if sentence is None else sentence % words


def _sentences(t: NullTranslations) -> Mapping[str, str]:
    return {
        "board_hot": t.pgettext("problem", "the table's computer is too hot: let air to it"),
        "board_slowed": t.pgettext("problem", "the table's computer slows itself down"),
        "supply_weak": t.pgettext("problem", "the table's supply is too weak: change cable or supply"),
        "supply_was_weak": t.pgettext(
            "problem", "the table's supply was too weak since it was switched on: change cable or supply"
        ),
        "button_noisy": t.pgettext(
            "problem", "%(button)s flickers: a loose lead, or interference; it still works"
        ),
        "cannot_time": t.pgettext("problem", "cannot time, %(number)s: %(why)s"),
        "button_stuck": t.pgettext("problem", "%(button)s is stuck; the other buttons work"),
        "journal_damaged": t.pgettext("problem", "a part of the table's journal was damaged and set aside"),
        "journal_unreadable": t.pgettext("problem", "a part of the table's journal cannot be read"),
        "log_deleted": t.pgettext("problem", "the table's card is full: its oldest log was deleted there"),
        "not_saved": t.pgettext("problem", "NOT SAVED for %(time)s: the table's card takes nothing"),
        "signals_failed": t.pgettext("problem", "the table's buzzer or light does not work"),
        "storage_failing": t.pgettext("problem", "the table's card fails"),
        "storage_full": t.pgettext("problem", "the table's card is full"),
        "storage_little_room": t.pgettext("problem", "the table's card is nearly full"),
        "storage_read_only": t.pgettext("problem", "the table's card can only be read"),
        "act_after_undone_start": t.pgettext("problem", "a press came after the start was undone"),
        "act_from_the_hub": t.pgettext("problem", "the hub's log holds a press that only a table can make"),
        "act_refused": t.pgettext("problem", "a press does not fit the run and was not counted"),
        "act_without_start": t.pgettext("problem", "a press belongs to a run whose start is missing"),
        "did_not_start_but_has_a_run": t.pgettext("problem", "marked as absent, but there is a run"),
        "clock_went_back": t.pgettext("problem", "a table's clock went back: its log or its clock is broken"),
        "ran_again_unvoided": t.pgettext(
            "problem", "ran again though an earlier run was ruled out and not voided"
        ),
        "ruling_says_nothing": t.pgettext(
            "problem", "a ruling names neither another entrant nor another table"
        ),
        "which_puzzle": t.pgettext("problem", "a ruling on pieces does not say which of several puzzles"),
        "nothing_to_revoke": t.pgettext("problem", "the ruling to be revoked is not there"),
        "one_run_in_two_logs": t.pgettext("problem", "two table timers timed the same run"),
        "ruling_from_a_table": t.pgettext("problem", "a table sent a ruling, which only the hub can give"),
        "ruling_without_run": t.pgettext("problem", "a ruling is about a run that is not there"),
        "time_between_bounds": t.pgettext(
            "problem", "the table was off: its time is only known between bounds"
        ),
        "nothing_to_reopen": t.pgettext("problem", "the run to be reopened is not closed"),
        "penalty_moves_nothing": t.pgettext("problem", "a penalty in time where pieces rank moves nothing"),
        "pieces_not_due": t.pgettext("problem", "pieces were corrected where none are counted"),
        "records_missing": t.pgettext("problem", "presses of this table are lost"),
        "sends_junk": t.pgettext(
            "problem",
            "sends much that nobody can read, and no more of it is kept: look who uses its name and password",
        ),
        "rules_differ": t.pgettext("problem", "the table timed by other rules than the hub's"),
        "run_id_used_twice": t.pgettext("problem", "two starts share one run"),
        "no_seat": t.pgettext("problem", "this table timer has no table"),
        "seat_shared": t.pgettext(
            "problem", "two table timers stand on this table: nobody is planned there until one is gone"
        ),
        "seat_taken": t.pgettext("problem", "this table belongs to another table timer"),
        "seqs_missing": t.pgettext("problem", "presses are still missing in the log"),
        "superseded": t.pgettext(
            "problem", "a press does not count: its table timer had been replaced, or its card lost it"
        ),
        "too_many_pieces": t.pgettext("problem", "more pieces were counted than the puzzle has"),
        "two_events_with_one_seq": t.pgettext("problem", "two presses in the log share one number"),
        "unknown_category": t.pgettext("problem", "the table timed a category that the rules do not name"),
        "unknown_type": t.pgettext("problem", "the table sent something this hub does not know"),
        "unreadable_event": t.pgettext("problem", "the table sent something unreadable"),
    }
