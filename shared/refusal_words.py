"""Why a press was refused, in about twenty letters: as the table says it and as the hub's pages repeat it (pure)."""

from __future__ import annotations

from gettext import NullTranslations


def refusal_words(reason: str, t: NullTranslations) -> str:
    """The words of a reason; one that nobody translated stands as it is."""
    texts = {
        "not_started": t.pgettext("oled", "not started yet"),
        "already_started": t.pgettext("oled", "it is running"),
        "preview": t.pgettext("oled", "wait for the preview"),
        "paused": t.pgettext("oled", "PAUSE first"),
        "not_paused": t.pgettext("oled", "not paused"),
        "not_assisting": t.pgettext("oled", "no help running"),
        "not_claimed": t.pgettext("oled", "not finished yet"),
        "not_time_up": t.pgettext("oled", "time is not up"),
        "no_pauses": t.pgettext("oled", "no pauses here"),
        "no_pause_left": t.pgettext("oled", "no pause left"),
        "escape_running": t.pgettext("oled", "escape first"),
        "no_escape": t.pgettext("oled", "no escape here"),
        "no_assists": t.pgettext("oled", "no help here"),
        "no_assist_left": t.pgettext("oled", "no help left"),
        "assist_budget_used": t.pgettext("oled", "help time used up"),
        "assisting": t.pgettext("oled", "end the help first"),
        "hint_first": t.pgettext("oled", "hint first"),
        "hint_already_given": t.pgettext("oled", "hint already given"),
        "solution_already_given": t.pgettext("oled", "solution already given"),
        "claimed": t.pgettext("oled", "FINISH yes · hold START no"),
        "sealed": t.pgettext("oled", "closed: START = next"),
        "too_many_pieces": t.pgettext("oled", "too many pieces"),
        "nothing_to_count": t.pgettext("oled", "nothing to count"),
        "nothing_to_undo": t.pgettext("oled", "nothing to undo"),
        "not_the_last_act": t.pgettext("oled", "nothing to undo"),
        "start_too_old": t.pgettext("oled", "start: undo at the hub"),
        "too_soon": t.pgettext("oled", "too soon: press again"),
        "count_first": t.pgettext("oled", "count first, or hold"),
        "just_handed_over": t.pgettext("oled", "puzzle just given"),
        "not_saved": t.pgettext("oled", "not saved: no start"),
        "nothing_planned": t.pgettext("oled", "nobody to start"),
        "plan_done": t.pgettext("oled", "nobody left in the plan"),
        "starts_by_itself": t.pgettext("oled", "starts by itself"),
        "after_limit": t.pgettext("oled", "after the limit"),
        "help_too_soon": t.pgettext("oled", "help: too soon"),
        "no_notice": t.pgettext("oled", "nothing to dismiss"),
    }
    return texts.get(reason, reason)
