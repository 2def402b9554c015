"""Which picture a table shows: one function for each state, the same three bands everywhere (pure).

The bottom line always says what can be pressed now.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from device.call import called_on
from device.facts import Facts
from device.presses import HOLD_S
from device.screen import Screen
from device.start_orders import Ordered
from device.words import left_text, parts_text, refusal_text, undo_text
from shared.core.events import EventType
from shared.core.guards import help_wait_ms
from shared.core.machine import limit_due
from shared.core.model import Notice, State, Status
from shared.core.overlay import RULED
from shared.core.rules import CountKind
from shared.core.state import assisted_ms, counted_ms
from shared.duration import clock_text
from shared.texts import translator

SHOW_HOLD_S: Final = 0.3
"""A START held longer is on its way to an undo, and says so."""
TIME_UP_TITLE_MS: Final = 3_000
CALLS_MS: Final = (600_000, 60_000)
"""Ten minutes and one minute before the limit are called."""
CALL_MS: Final = 5_000


def compose(facts: Facts) -> Screen:
    """The picture of a table as it is."""
    if facts.held_s >= SHOW_HOLD_S and facts.situation.state not in (State.READY, State.SEALED):
        screen = _holding(facts)
    else:
        screen = _STATES[facts.situation.state](facts)
        if facts.situation.frame is None:
            screen = _nothing_planned(facts)
    if facts.refusal is not None:
        reason = refusal_text(facts.language, facts.refusal, facts.situation)
        screen = replace(screen, bottom=reason, bottom_inverse=True)
    if facts.not_saved:
        screen = replace(screen, top_inverse=True, blinks=True)
    screen = replace(screen, top_right=_top_right(facts, screen), seen=facts.seen, tick=facts.tick)
    return called_on(screen, facts)


def _t(facts: Facts) -> Callable[[str, str], str]:
    return translator(facts.language).pgettext


def _table(facts: Facts) -> str:
    pgettext = _t(facts)
    return pgettext("oled", "Table {table}").format(table=facts.table)


def _top_right(facts: Facts, screen: Screen) -> str:
    """Small marks only when something is off, else what the screen itself put there."""
    pgettext = _t(facts)
    marks = []
    if facts.not_saved:
        ago = pgettext("oled", "NOT SAVED {time}")
        marks.append(ago.format(time=clock_text(facts.saved_ago_s)))
    if facts.stuck:
        marks.append(pgettext("oled", "STUCK {button}").format(button=facts.stuck[0].upper()))
    if facts.low:
        marks.append(pgettext("oled", "CLOCK"))
    if facts.supply_weak:
        marks.append(pgettext("oled", "POWER"))
    if facts.safe:
        marks.append(pgettext("oled", "SAFE MODE"))
    if facts.copied:
        marks.append(pgettext("oled", "CARD COPIED"))
    if not facts.online:
        marks.append(pgettext("oled", "offline {unsent}").format(unsent=facts.unsent or "").strip())
    return marks[0] if marks else screen.top_right


def _heat(facts: Facts) -> str:
    pgettext = _t(facts)
    return pgettext("oled", "Heat {heat}").format(heat=facts.heat) if facts.heat else ""


def _title(facts: Facts) -> tuple[str, bool]:
    """The top line of a state that needs no title of its own."""
    pgettext = _t(facts)
    if facts.practice:
        return pgettext("oled", "PRACTICE"), True
    frame, puzzle = facts.situation.frame, facts.situation.run.puzzle
    several = (
        frame is not None and bool(frame.rules.more_puzzles) and facts.situation.state is not State.READY
    )
    if several and frame is not None:
        place = pgettext("oled", "PUZZLE {puzzle}/{puzzles}")
        return place.format(puzzle=puzzle + 1, puzzles=len(frame.rules.puzzles)), False
    return _table(facts), False


def _ready(facts: Facts) -> Screen:
    pgettext = _t(facts)
    lines = [text for text in (facts.entrant, facts.category) if text]
    if not facts.planned:
        lines = [pgettext("oled", "no plan"), facts.category or ""]
    if facts.ordered is not None:
        return _ordered(facts, facts.ordered)
    if facts.practice:
        return Screen(
            pgettext("oled", "PRACTICE"),
            top_inverse=True,
            top_right=_table(facts),
            lines=(pgettext("oled", "does not count"), facts.category or ""),
            bottom=pgettext("oled", "START yes · ASSIST no"),
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
    top, inverse = _title(facts)
    return Screen(top, top_inverse=inverse, top_right=_heat(facts), lines=tuple(lines), bottom=bottom)


def _ordered(facts: Facts, ordered: Ordered) -> Screen:
    pgettext = _t(facts)
    bottom = pgettext("oled", "starts by itself")
    if ordered.judge:
        bottom = pgettext("oled", "clock unsure: press START")
    lines = tuple(text for text in (facts.entrant, facts.category) if text)
    clock = "" if ordered.left_s is None else clock_text(max(0, math.ceil(ordered.left_s)))
    return Screen(
        _table(facts),
        top_right=_heat(facts),
        clock=clock,
        lines=() if clock else lines,
        bottom=bottom,
        bottom_inverse=ordered.judge,
    )


def _nothing_planned(facts: Facts) -> Screen:
    pgettext = _t(facts)
    if facts.conflict is not None:
        return Screen(
            _table(facts),
            top_inverse=True,
            lines=(pgettext("oled", "table in use by"), facts.conflict),
            bottom=pgettext("oled", "tell the organisers"),
        )
    wait = pgettext("oled", "waiting for the plan")
    return Screen(_table(facts), lines=(pgettext("oled", "no plan"),), bottom=wait)


def _preview(facts: Facts) -> Screen:
    pgettext = _t(facts)
    assert facts.situation.frame is not None, "a run has rules"
    left_ms = facts.situation.frame.rules.preview_ms - facts.situation.t_ms
    return Screen(
        pgettext("oled", "LOOK, DON'T OPEN"),
        top_inverse=True,
        clock=_ceiling(left_ms),
        bottom=pgettext("oled", "hold START cancels"),
    )


def _running(facts: Facts) -> Screen:
    pgettext = _t(facts)
    situation = facts.situation
    frame = situation.frame
    assert frame is not None, "a run has rules"
    left_ms = limit_due(situation.run, frame) - situation.t_ms
    top, inverse = _title(facts)
    right = pgettext("oled", "left {time}").format(time=left_text(left_ms, pgettext))
    bottom = pgettext("oled", "tell the organisers") if facts.not_saved else _budgets(facts)
    called = [call for call in CALLS_MS if call - CALL_MS < left_ms <= call]
    if called:
        minutes = called[0] // 60_000
        top, inverse, right = pgettext("oled", "{minutes} MIN LEFT").format(minutes=minutes), True, ""
    if situation.notice is not None:
        over = {
            Notice.PAUSE_RAN_OUT: (pgettext("oled", "PAUSE OVER, RUNNING"), pgettext("oled", "PAUSE: seen")),
            Notice.ASSIST_RAN_OUT: (pgettext("oled", "HELP TIME USED UP"), pgettext("oled", "ASSIST: seen")),
        }
        top, bottom = over[situation.notice]
        inverse, right = True, ""
    elif facts.handing_over:
        top, inverse, right = pgettext("oled", "PUZZLE"), True, ""
        bottom = pgettext("oled", "put it on the table")
    elif situation.in_escape:
        top, right, bottom = _escape_words(facts)
    return Screen(
        top,
        top_inverse=inverse,
        blinks=situation.notice is not None,
        top_right=right,
        clock=_clock(facts, situation.t_ms),
        bottom=bottom,
    )


def _escape_words(facts: Facts) -> tuple[str, str, str]:
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
    if facts.armed is not None:
        text = _armed_words(facts, step)
    elif _turn(facts):
        text = pgettext("oled", "FINISH: step {step} solved").format(step=step)
    elif wait_ms > 0:
        bottom = pgettext("oled", "tickets {tickets} · {help} in {time}")
        text = bottom.format(tickets=escape.tickets, help=help_name, time=_ceiling(wait_ms))
    else:
        bottom = pgettext("oled", "tickets {tickets} · ASSIST {help}")
        text = bottom.format(tickets=escape.tickets, help=help_name)
    return top, right, text


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
    return Screen(title, top_inverse=True, clock=_ceiling(left_ms), bottom=pgettext("oled", "PAUSE goes on"))


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
    if facts.count is not None and not _turn(facts):
        bottom = pgettext("oled", "missing {n} · PAUSE − · ASSIST +").format(n=facts.count.number)
    return Screen(
        pgettext("oled", "COMPLETE?"),
        top_inverse=True,
        clock=_clock(facts, facts.situation.run.finish_ms),
        bottom=bottom,
    )


def _time_up(facts: Facts) -> Screen:
    pgettext = _t(facts)
    situation, count = facts.situation, facts.count
    assert situation.frame is not None, "a run has rules"
    late_ms = situation.t_ms - limit_due(situation.run, situation.frame)
    title = _count_title(facts, situation.frame.rules.count.kind)
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
        return Screen(title, top_inverse=True, clock=str(number), bottom=bottom, bottom_inverse=True)
    keys = pgettext("oled", "PAUSE − · ASSIST + · FINISH ok")
    return Screen(title, top_inverse=True, clock=str(number), bottom=keys)


def _count_title(facts: Facts, kind: CountKind) -> str:
    pgettext = _t(facts)
    titles = {
        CountKind.LOOSE: pgettext("oled", "LOOSE PIECES"),
        CountKind.LARGEST: pgettext("oled", "LARGEST AREA"),
    }
    return titles.get(kind, pgettext("oled", "JOINED PIECES"))


def _sealed(facts: Facts) -> Screen:
    pgettext = _t(facts)
    result = facts.result
    top, inverse = pgettext("oled", "FINAL"), facts.practice
    if facts.practice:
        top = pgettext("oled", "PRACTICE")
    if result is not None and result.status in RULED:
        return _ruled(facts, result.status)
    if result is None:
        return Screen(top, top_inverse=inverse, bottom=pgettext("oled", "START = next"))
    bottom = parts_text(facts.language, result)
    if not bottom or _turn(facts):
        bottom = pgettext("oled", "START = next")
    if result.official_s is None:
        clock = "" if result.pieces is None else str(result.pieces)
        lines = () if clock else (str(result.status),)
        return Screen(
            top, top_inverse=inverse, top_right=_heat(facts), clock=clock, lines=lines, bottom=bottom
        )
    bound = "≥ " if facts.low else ""
    return Screen(
        top,
        top_inverse=inverse,
        top_right=_heat(facts),
        clock=bound + clock_text(result.official_s if result.low_s is None else result.low_s),
        bottom=bottom,
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
        top_right=_table(facts),
        lines=(words.get(status, str(status)),),
        bottom=pgettext("oled", "START = next"),
    )


def _holding(facts: Facts) -> Screen:
    pgettext = _t(facts)
    resumes = facts.situation.state is State.PAUSED  # START let go earlier is the short press
    return Screen(
        undo_text(facts.language, facts.situation.last_act),
        top_inverse=True,
        bar=min(1.0, facts.held_s / HOLD_S),
        bottom=pgettext("oled", "let go = go on") if resumes else pgettext("oled", "let go = nothing"),
    )


def _clock(facts: Facts, t_ms: int) -> str:
    """Counted time, truncated: what a running display shows is what a finish would be."""
    assert facts.situation.frame is not None, "a run has rules"
    seconds = counted_ms(facts.situation.run, facts.situation.frame, t_ms) // 1000
    return ("≥ " if facts.low else "") + clock_text(seconds)


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
