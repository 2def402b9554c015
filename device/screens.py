"""Which picture a table shows: one function for each state, the same three bands everywhere (pure).

The bottom line always says what can be pressed now.
Long because it is one table: a function for each state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from device.call import asks, called_on
from device.facts import Facts
from device.lettering import printable
from device.presses import HOLD_S, start_too_old
from device.screen import Screen
from device.start_orders import Ordered
from device.top_line import heat_words, table_words, with_top_line
from device.words import left_text, parts_text, refusal_text, undo_text
from shared.core.events import EventType
from shared.core.guards import help_wait_ms
from shared.core.machine import limit_due
from shared.core.model import Notice, State, Status
from shared.core.overlay import RULED
from shared.core.rules import CountKind
from shared.core.state import assisted_ms, counted_ms
from shared.duration import clock_text
from shared.refusal_words import refusal_words
from shared.texts import translator

SHOW_HOLD_S: Final = 0.3
"""A START held longer is on its way to an undo, and says so."""
TIME_UP_TITLE_MS: Final = 3_000
CALLS_MS: Final = (600_000, 60_000)
"""Ten minutes and one minute before the limit are called."""
CALL_MS: Final = 5_000


def compose(facts: Facts) -> Screen:
    """The picture of a table as it is."""
    screen = _STATES[facts.situation.state](facts)
    if facts.situation.frame is None:
        screen = _nothing_planned(facts)
    if facts.held_s >= SHOW_HOLD_S and facts.situation.state not in (State.READY, State.SEALED):
        screen = _holding(screen, facts)
    else:
        screen = _call_of_time(screen, facts)
        screen = _who_to_tell(screen, facts)
        screen = with_top_line(screen, facts)
    if facts.refusal is not None:
        reason = refusal_text(facts.language, facts.refusal, facts.situation, _bound_above(facts))
        screen = replace(
            screen,
            bottom=reason,
            bottom_inverse=True,
            keeps=(screen.bottom, *screen.keeps) if screen.bottom else (),
        )
    return called_on(replace(screen, seen=facts.seen, tick=facts.tick), facts)


def _t(facts: Facts) -> Callable[[str, str], str]:
    return translator(facts.language).pgettext


def _call_of_time(screen: Screen, facts: Facts) -> Screen:
    """Ten minutes and one minute before the limit, whatever else runs with the clock."""
    situation = facts.situation
    if situation.state not in (State.RUNNING, State.ASSISTING) or situation.frame is None:
        return screen
    left_ms = limit_due(situation.run, situation.frame) - situation.t_ms
    called = [call for call in CALLS_MS if call - CALL_MS < left_ms <= call]
    if not called:
        return screen
    pgettext, minutes = _t(facts), called[0] // 60_000
    return replace(
        screen,
        top=pgettext("oled", "{minutes} MIN LEFT").format(minutes=minutes),
        shorter=(pgettext("oled", "{minutes} MIN").format(minutes=minutes),),
        top_inverse=True,
        top_right="",
    )


def _who_to_tell(screen: Screen, facts: Facts) -> Screen:
    """Nothing is kept: the bottom line says whom to tell, in turns with what can be pressed; it hides no question."""
    tell = _t(facts)("oled", "tell the organisers")
    if not facts.not_saved or screen.bottom == tell or asks(facts):
        return screen
    keeps = (screen.bottom, tell, *screen.keeps)
    if facts.tick % 6 in (2, 3):
        screen = replace(screen, bottom=tell, bottom_inverse=False)
    return replace(screen, keeps=keeps)


def _title(facts: Facts) -> str:
    """The top line of a state that needs no title of its own."""
    pgettext = _t(facts)
    frame, puzzle = facts.situation.frame, facts.situation.run.puzzle
    several = (
        frame is not None and bool(frame.rules.more_puzzles) and facts.situation.state is not State.READY
    )
    if several and frame is not None:
        place = pgettext("oled", "PUZZLE {puzzle}/{puzzles}")
        return place.format(puzzle=puzzle + 1, puzzles=len(frame.rules.puzzles))
    return table_words(facts)


def _ready(facts: Facts) -> Screen:
    pgettext = _t(facts)
    lines = _who(facts)
    if not facts.planned:
        lines = [pgettext("oled", "no plan"), facts.category or ""]
    if facts.ordered is not None:
        return _ordered(facts, facts.ordered)
    if facts.practice:
        yes = pgettext("oled", "START yes · ASSIST no")
        return Screen(
            pgettext("oled", "PRACTICE"),
            top_inverse=True,
            top_right=table_words(facts),
            lines=(pgettext("oled", "does not count"), facts.category or ""),
            bottom=pgettext("oled", "tell the organisers") if facts.not_saved else yes,
        )
    choose = facts.situation.choices > 1
    bottom = pgettext("oled", "START begins")
    if choose and _turn(facts):
        bottom = pgettext("oled", "PAUSE/ASSIST choose")
    if facts.resumes:
        bottom = pgettext("oled", "START goes on with the run")
    if facts.day is not None:
        bottom = pgettext("oled", "plan of {day} · START: yes").format(day=facts.day)
    if facts.not_saved:
        bottom = pgettext("oled", "tell the organisers")
    return Screen(table_words(facts), top_right=heat_words(facts), lines=tuple(lines), bottom=bottom)


def _who(facts: Facts) -> list[str]:
    """Name and category; the id for a name in which there is nothing to see."""
    name = facts.entrant
    if name is not None and not printable(name):
        name = (facts.offered[0] if facts.offered is not None else None) or "?"
    return [text for text in (name, facts.category) if text]


def _ordered(facts: Facts, ordered: Ordered) -> Screen:
    pgettext = _t(facts)
    bottom = pgettext("oled", "starts by itself")
    if ordered.judge:
        bottom = pgettext("oled", "clock unsure: press START")
    lines = tuple(_who(facts))
    clock = "" if ordered.left_s is None else clock_text(max(0, math.ceil(ordered.left_s)))
    if facts.not_saved:  # nothing is begun that cannot be kept
        bottom, clock = pgettext("oled", "tell the organisers"), ""
    return Screen(
        table_words(facts),
        top_right=heat_words(facts),
        clock=clock,
        lines=() if clock else lines,
        bottom=bottom,
        bottom_inverse=ordered.judge and not facts.not_saved,
    )


def _nothing_planned(facts: Facts) -> Screen:
    pgettext = _t(facts)
    if facts.conflict is not None:
        return Screen(
            table_words(facts),
            top_inverse=True,
            lines=(pgettext("oled", "table in use by"), facts.conflict),
            bottom=pgettext("oled", "tell the organisers"),
        )
    wait = pgettext("oled", "waiting for the plan")
    return Screen(table_words(facts), lines=(pgettext("oled", "no plan"),), bottom=wait)


def _preview(facts: Facts) -> Screen:
    pgettext = _t(facts)
    assert facts.situation.frame is not None, "a run has rules"
    left_ms = facts.situation.frame.rules.preview_ms - facts.situation.t_ms
    return Screen(
        pgettext("oled", "LOOK, DON'T OPEN"),
        shorter=(pgettext("oled", "LOOK"),),
        top_inverse=True,
        clock=_bound_above(facts) + _ceiling(left_ms),
        bottom=pgettext("oled", "hold START cancels"),
    )


def _running(facts: Facts) -> Screen:
    pgettext = _t(facts)
    situation = facts.situation
    frame = situation.frame
    assert frame is not None, "a run has rules"
    left_ms = limit_due(situation.run, frame) - situation.t_ms
    right = pgettext("oled", "left {time}").format(time=left_text(left_ms, pgettext))
    bottom = pgettext("oled", "tell the organisers") if facts.not_saved else _budgets(facts)
    screen = Screen(_title(facts), top_right=right, clock=_clock(facts, situation.t_ms), bottom=bottom)
    if situation.notice is Notice.PAUSE_RAN_OUT:
        top, shorter = pgettext("oled", "PAUSE OVER, RUNNING"), pgettext("oled", "PAUSE OVER")
        return _noticed(screen, top, shorter, pgettext("oled", "PAUSE: seen"))
    if situation.notice is Notice.ASSIST_RAN_OUT:
        top, shorter = pgettext("oled", "HELP TIME USED UP"), pgettext("oled", "HELP USED UP")
        return _noticed(screen, top, shorter, pgettext("oled", "ASSIST: seen"))
    if facts.handing_over:
        bottom = pgettext("oled", "put it on the table")
        return replace(screen, top=pgettext("oled", "PUZZLE"), top_inverse=True, top_right="", bottom=bottom)
    return _in_escape(screen, facts) if situation.in_escape else screen


def _noticed(screen: Screen, top: str, shorter: str, bottom: str) -> Screen:
    return replace(
        screen, top=top, shorter=(shorter,), top_inverse=True, blinks=True, top_right="", bottom=bottom
    )


def _in_escape(screen: Screen, facts: Facts) -> Screen:
    pgettext = _t(facts)
    situation = facts.situation
    frame, escape = situation.frame, situation.run.escape
    assert frame is not None, "a run has rules"
    assert escape is not None, "only an escape stage has its words"
    assert frame.rules.escape is not None, "only an escape stage has its words"
    left_ms = frame.rules.escape.limit_ms - counted_ms(situation.run, frame, situation.t_ms)
    step = escape.solved_steps + 1
    top = pgettext("oled", "ESCAPE {step}/{steps}").format(step=step, steps=frame.rules.escape.steps)
    right = pgettext("oled", "left {time}").format(time=left_text(left_ms, pgettext))
    hinted = escape.hint_step > escape.solved_steps
    help_name = pgettext("oled", "solution") if hinted else pgettext("oled", "hint")
    wait_ms = help_wait_ms(escape, frame, situation.t_ms)
    if wait_ms > 0:
        bottom = pgettext("oled", "tickets {tickets} · {help} in {time}")
        time = _bound_above(facts) + _ceiling(wait_ms)
        first = bottom.format(tickets=escape.tickets, help=help_name, time=time)
    else:
        bottom = pgettext("oled", "tickets {tickets} · ASSIST {help}")
        first = bottom.format(tickets=escape.tickets, help=help_name)
    second = pgettext("oled", "FINISH: step {step} solved").format(step=step)
    text = second if _turn(facts) else first
    if facts.armed is not None:
        text = _armed_words(facts, step)
    return replace(screen, top=top, top_right=right, bottom=text, keeps=(first, second))


def _turn(facts: Facts) -> bool:
    """Two texts take turns at the bottom where one line is too short for both; the first one is shown longer."""
    return facts.tick % 6 >= 4


def _armed_words(facts: Facts, step: int) -> str:
    pgettext = _t(facts)
    assert facts.armed is not None, "called for an armed question"
    assert facts.situation.frame is not None, "a run has rules"
    rules = facts.situation.frame.rules.escape
    assert rules is not None, "only an escape stage arms"
    if facts.armed.act == EventType.STEP_SOLVED:
        return pgettext("oled", "step {step} solved: FINISH = yes").format(step=step)
    if facts.armed.act == EventType.HINT_GIVEN:
        return pgettext("oled", "hint: {n} ticket · ASSIST = yes").format(n=rules.hint_tickets)
    return pgettext("oled", "solution: {n} tickets · ASSIST = yes").format(n=rules.solution_tickets)


def _budgets(facts: Facts) -> str:
    """What is left of pauses and help: `P2 · A3 10:00`."""
    pgettext = _t(facts)
    run, frame = facts.situation.run, facts.situation.frame
    assert frame is not None, "a run has rules"
    parts = []
    if frame.rules.pauses is not None:
        parts.append(pgettext("oled", "P{left}").format(left=frame.rules.pauses.count - run.pauses))
    if frame.rules.assists is not None:
        left_ms = frame.rules.assists.total_ms - assisted_ms(run, frame, facts.situation.t_ms)
        left = frame.rules.assists.count - run.assists if left_ms > 0 else 0
        time = clock_text(-(-left_ms // 1000))
        parts.append(pgettext("oled", "A{left} {time}").format(left=left, time=time))
    return " · ".join(parts or [pgettext("oled", "FINISH done")])


def _paused(facts: Facts) -> Screen:
    pgettext = _t(facts)
    run, frame = facts.situation.run, facts.situation.frame
    assert frame is not None, "a run has rules"
    assert frame.rules.pauses is not None, "only a category with pauses pauses"
    assert run.pause_ms is not None, "a paused run has an open pause"
    left_ms = run.pause_ms + frame.rules.pauses.each_ms - facts.situation.t_ms
    title = pgettext("oled", "PAUSE {n}/{count}").format(n=run.pauses, count=frame.rules.pauses.count)
    clock = _bound_above(facts) + _ceiling(left_ms)
    return Screen(title, top_inverse=True, clock=clock, bottom=pgettext("oled", "PAUSE goes on"))


def _assisting(facts: Facts) -> Screen:
    pgettext = _t(facts)
    run, frame = facts.situation.run, facts.situation.frame
    assert frame is not None, "a run has rules"
    assert frame.rules.assists is not None, "only a category with help helps"
    left_ms = frame.rules.assists.total_ms - assisted_ms(run, frame, facts.situation.t_ms)
    title = pgettext("oled", "HELP {n}/{count}").format(n=run.assists, count=frame.rules.assists.count)
    return Screen(
        title,
        top_inverse=True,
        top_right=pgettext("oled", "left {time}").format(time=_ceiling(left_ms)),
        clock=_clock(facts, facts.situation.t_ms),
        bottom=pgettext("oled", "ASSIST ends"),
    )


def _claimed(facts: Facts) -> Screen:
    pgettext = _t(facts)
    assert facts.situation.run.finish_ms is not None, "a claimed run has its finish"
    bottom = pgettext("oled", "FINISH yes · hold START no")
    keeps: tuple[str, ...] = ()
    if facts.count is not None:
        missing = pgettext("oled", "missing {n} · PAUSE − · ASSIST +").format(n=facts.count.number)
        bottom, keeps = bottom if _turn(facts) else missing, (bottom, missing)
    return Screen(
        pgettext("oled", "COMPLETE?"),
        top_inverse=True,
        clock=_clock(facts, facts.situation.run.finish_ms),
        bottom=bottom,
        keeps=keeps,
    )


def _time_up(facts: Facts) -> Screen:
    pgettext = _t(facts)
    situation, count = facts.situation, facts.count
    assert situation.frame is not None, "a run has rules"
    late_ms = situation.t_ms - limit_due(situation.run, situation.frame)
    title, *shorter = _count_title(facts, situation.frame.rules.count.kind)
    number = count.number if count is not None else 0
    if count is None and situation.frame.rules.count.kind is CountKind.NOTHING:
        limit, words = clock_text(situation.frame.rules.limit_ms // 1000), pgettext("oled", "START = next")
        return Screen(pgettext("oled", "TIME!"), top_inverse=True, clock=limit, bottom=words)
    if late_ms < TIME_UP_TITLE_MS and not (count is not None and count.touched):
        limit = clock_text(situation.frame.rules.limit_ms // 1000)
        return Screen(
            pgettext("oled", "TIME!"), top_inverse=True, clock=limit, bottom=pgettext("oled", "hands off")
        )
    if count is not None and count.asked:
        bottom = pgettext("oled", "{n}? FINISH = yes").format(n=number)
    else:
        bottom = pgettext("oled", "PAUSE − · ASSIST + · FINISH ok")
    asked = count is not None and count.asked
    return Screen(
        title,
        shorter=tuple(shorter),
        top_inverse=True,
        clock=str(number),
        bottom=bottom,
        bottom_inverse=asked,
    )


def _count_title(facts: Facts, kind: CountKind) -> tuple[str, ...]:
    pgettext = _t(facts)
    titles = {
        CountKind.LOOSE: (pgettext("oled", "LOOSE PIECES"), pgettext("oled", "LOOSE")),
        CountKind.LARGEST: (pgettext("oled", "LARGEST AREA"),),
    }
    return titles.get(kind, (pgettext("oled", "JOINED PIECES"), pgettext("oled", "JOINED")))


def _sealed(facts: Facts) -> Screen:
    pgettext = _t(facts)
    result = facts.result
    top, next_one = pgettext("oled", "FINAL"), pgettext("oled", "START = next")
    if result is not None and result.status in RULED:
        return _ruled(facts, result.status)
    if result is None:
        return Screen(top, bottom=next_one)
    frame = facts.situation.frame
    parts = parts_text(facts.language, result, None if frame is None else frame.rules.count.kind)
    bottom = next_one if not parts or _turn(facts) else parts
    keeps = (parts, next_one) if parts else ()
    if result.official_s is None:
        clock = "" if result.pieces is None else str(result.pieces)
        lines = () if clock else (str(result.status),)
        return Screen(top, top_right=heat_words(facts), clock=clock, lines=lines, bottom=bottom, keeps=keeps)
    return Screen(
        top,
        top_right=heat_words(facts),
        clock=_bound_below(facts) + clock_text(result.official_s if result.low_s is None else result.low_s),
        bottom=bottom,
        keeps=keeps,
    )


def _ruled(facts: Facts, status: Status) -> Screen:
    """A judge at the hub has ended the run: the word, not a time that no longer counts."""
    pgettext = _t(facts)
    words = {
        Status.DSQ: pgettext("oled", "disqualified"),
        Status.DNF: pgettext("oled", "did not finish"),
        Status.VOID: pgettext("oled", "run is void"),
    }
    return Screen(
        pgettext("oled", "DECISION"),
        top_inverse=True,
        top_right=table_words(facts),
        lines=(words.get(status, str(status)),),
        bottom=pgettext("oled", "START = next"),
    )


def _holding(screen: Screen, facts: Facts) -> Screen:
    """START is on its way to an undo: what that will be, and what letting go earlier means."""
    pgettext, situation = _t(facts), facts.situation
    let_go = pgettext("oled", "let go = nothing")
    if situation.state is State.PAUSED:
        let_go = pgettext("oled", "let go = go on")
    elif situation.notice is Notice.PAUSE_RAN_OUT and situation.state is State.RUNNING:
        let_go = pgettext("oled", "let go = seen")
    elif situation.state is State.TIME_UP and facts.count is None:
        let_go = pgettext("oled", "let go = next")
    if start_too_old(situation):  # holding on will be refused, and the table knows that now
        refused = refusal_words("start_too_old", translator(facts.language))
        acts = situation.state is State.TIME_UP and facts.count is None
        keeps = (screen.bottom, *screen.keeps)
        shown = with_top_line(screen, facts)
        return replace(shown, bottom=let_go if acts else refused, bottom_inverse=not acts, keeps=keeps)
    return Screen(
        undo_text(facts.language, situation.last_act),
        top_inverse=True,
        lines=(pgettext("oled", "PRACTICE"),) if facts.practice else (),
        bar=min(1.0, facts.held_s / HOLD_S),
        bottom=let_go,
    )


def _clock(facts: Facts, t_ms: int) -> str:
    """Counted time, truncated: what a running display shows is what a finish would be."""
    assert facts.situation.frame is not None, "a run has rules"
    seconds = counted_ms(facts.situation.run, facts.situation.frame, t_ms) // 1000
    return _bound_below(facts) + clock_text(seconds)


def _bound_below(facts: Facts) -> str:
    """Before a time that may be more."""
    return "≥ " if facts.low else ""


def _bound_above(facts: Facts) -> str:
    """Before what is left, which then may be less."""
    return "≤ " if facts.low else ""


def _ceiling(left_ms: int) -> str:
    """A countdown shows the ceiling, so that 0:00 is exactly zero."""
    return clock_text(-(-max(0, left_ms) // 1000))


_STATES: Final[Mapping[State, Callable[[Facts], Screen]]] = {
    State.READY: _ready,
    State.PREVIEW: _preview,
    State.RUNNING: _running,
    State.PAUSED: _paused,
    State.ASSISTING: _assisting,
    State.CLAIMED: _claimed,
    State.TIME_UP: _time_up,
    State.SEALED: _sealed,
}
