"""What an act changes in a run: the named effects of the run machine's table (each pure, one clause each)."""

from __future__ import annotations

from collections.abc import Callable

from shared.core.guards import Attempt
from shared.core.model import Notice, State
from shared.core.rules import EscapeRules
from shared.core.state import Escape, Frame, HandOver, Raised, RunState, counted_ms

Effect = Callable[[Attempt], RunState]
"""The run after the act; for an act in effect the machine adds state, instant, last act and the way back."""


def start(a: Attempt) -> RunState:
    """The clock starts, with the preview where there is one; a pair gets its tickets."""
    rules = a.frame.rules
    run = a.run._replace(state=State.PREVIEW if rules.preview_ms else State.RUNNING)
    return run if rules.escape is None else run._replace(escape=Escape(tickets=rules.escape.tickets))


def open_pause(a: Attempt) -> RunState:
    """The clock stops; a running assistance ends at that instant."""
    run = close_assist(a.run, a.t_ms)
    return run._replace(pauses=run.pauses + 1, pause_ms=a.t_ms)


def close_pause(a: Attempt) -> RunState:
    """The clock goes on."""
    return _without_pause(a.run, a.t_ms)


def _without_pause(run: RunState, t_ms: int) -> RunState:
    began = run.pause_ms if run.pause_ms is not None else t_ms
    return run._replace(paused_ms=run.paused_ms + t_ms - began, pause_ms=None)


def open_assist(a: Attempt) -> RunState:
    """The judge helps; the clock keeps running."""
    return a.run._replace(assists=a.run.assists + 1, assist_ms=a.t_ms)


def end_assist(a: Attempt) -> RunState:
    """The judge stops helping."""
    return close_assist(a.run, a.t_ms)


def close_assist(run: RunState, t_ms: int) -> RunState:
    """The run with its open assistance, if any, ended at `t_ms`."""
    if run.assist_ms is None:
        return run
    length_ms = max(0, t_ms - run.assist_ms)
    return run._replace(assist_lengths_ms=(*run.assist_lengths_ms, length_ms), assist_ms=None)


def claim(a: Attempt) -> RunState:
    """The participant says it is done: the clock of the result stops at this instant."""
    return close_assist(a.run, a.t_ms)._replace(finish_ms=a.t_ms)


def accept(a: Attempt) -> RunState:
    """The judge agrees: the run is sealed, or the next puzzle is handed over while the clock runs on.

    Pieces missing are charged where the rules say so, each puzzle's up to the most.
    """
    rules, missing = a.frame.rules.missing, a.run.missing
    if rules is not None:
        told = min(a.data.get("missing") or 0, a.frame.rules.puzzles[a.run.puzzle])
        missing += told if rules.most is None else min(told, rules.most)
    if a.frame.is_last(a.run.puzzle):
        return a.run._replace(state=State.SEALED, missing=missing)
    return a.run._replace(state=State.RUNNING, missing=missing, puzzle=a.run.puzzle + 1, finish_ms=None)


def count(a: Attempt) -> RunState:
    """The pieces of an unfinished puzzle were counted."""
    return a.run._replace(pieces=a.data["pieces"])


def dismiss(a: Attempt) -> RunState:
    """The judge has seen the notice."""
    return a.held._replace(dismissed_ms=a.t_ms)


def back(a: Attempt) -> RunState:
    """The run before its last act, whose clock never stopped; what was dismissed since stays dismissed."""
    before = a.held.before
    assert before is not None, "guarded: a run with a last act has a state before it"
    return before._replace(dismissed_ms=max(before.dismissed_ms, a.held.notice_seen_ms))


def give_hint(a: Attempt) -> RunState:
    """A hint, paid with tickets or bought with time."""
    return _give(a, lambda rules: rules.hint_tickets, lambda e: e._replace(hint_step=e.solved_steps + 1))


def give_solution(a: Attempt) -> RunState:
    """A solution, paid with tickets or bought with time."""
    return _give(
        a, lambda rules: rules.solution_tickets, lambda e: e._replace(solution_step=e.solved_steps + 1)
    )


def _give(a: Attempt, price: Callable[[EscapeRules], int], note: Callable[[Escape], Escape]) -> RunState:
    escape, rules = a.run.escape, a.frame.rules.escape
    assert escape is not None, "guarded by in_escape"
    assert rules is not None, "a category with an escape stage has its rules"
    cost = price(rules)
    paid = min(cost, escape.tickets)
    given = escape._replace(
        tickets=escape.tickets - paid, bought=escape.bought + cost - paid, last_help_ms=a.t_ms
    )
    return a.run._replace(escape=note(given))


def solve_step(a: Attempt) -> RunState:
    """One step further; after the last one the puzzle is handed over."""
    escape, rules = a.run.escape, a.frame.rules.escape
    assert escape is not None, "guarded by in_escape"
    assert rules is not None, "a category with an escape stage has its rules"
    escape = escape._replace(solved_steps=escape.solved_steps + 1)
    run = a.run._replace(escape=escape)
    return hand_over(run, a.frame, a.t_ms, solved=True) if escape.solved_steps == rules.steps else run


# What happens by itself -------------------------------------------------------------------------


def hand_over(run: RunState, frame: Frame, t_ms: int, *, solved: bool) -> RunState:
    """The escape stage is over: its state is kept, the puzzle's clock begins."""
    assert run.escape is not None, "only a run in its escape stage is handed over"
    over = HandOver(counted_ms(run, frame, t_ms), t_ms, solved, run.escape)
    return run._replace(escape=None, handed_over=over)


def force_hand_over(run: RunState, frame: Frame, t_ms: int) -> RunState:
    """The escape stage's own limit passed: the puzzle is handed over, the step reached is kept."""
    return hand_over(run, frame, t_ms, solved=False)


def preview_over(run: RunState, frame: Frame, t_ms: int) -> RunState:  # noqa: ARG001
    """The two minutes of looking at the picture are over."""
    return run


def pause_ran_out(run: RunState, frame: Frame, t_ms: int) -> RunState:  # noqa: ARG001
    """A pause of the longest length ends by itself and leaves a notice."""
    run = _without_pause(run, t_ms)
    return run._replace(raised=Raised(Notice.PAUSE_RAN_OUT, t_ms))


def assist_ran_out(run: RunState, frame: Frame, t_ms: int) -> RunState:  # noqa: ARG001
    """The assistance budget is used up: the assist ends by itself and leaves a notice."""
    run = close_assist(run, t_ms)
    return run._replace(raised=Raised(Notice.ASSIST_RAN_OUT, t_ms))


def limit_passed(run: RunState, frame: Frame, t_ms: int) -> RunState:  # noqa: ARG001
    """The limit: hands off the table; a running assistance ends here."""
    return close_assist(run, t_ms)
