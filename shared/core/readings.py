"""The readings of a run's clocks that make up its time: each cut to whole seconds before anything is added."""

from __future__ import annotations

from shared.core.rules import EscapeRules
from shared.core.state import Frame, HandOver, RunState, counted_ms


def clock_readings_ms(run: RunState, frame: Frame) -> tuple[int, ...]:
    """Every reading that is cut to whole seconds: at the finish, at the hand-over, each assist's length."""
    finish = () if run.finish_ms is None else (counted_ms(run, frame, run.finish_ms),)
    over = () if run.handed_over is None else (run.handed_over.counted_ms,)
    return (*finish, *over, *run.assist_lengths_ms)


def escape_official_s(over: HandOver | None, rules: EscapeRules | None) -> int | None:
    """The escape stage's official time: bought tickets added, redeemed ones taken off, floor 0."""
    if over is None or rules is None:
        return None
    escape = over.escape
    most = rules.redeem_solved if over.solved else rules.redeem_stuck[escape.solved_steps]
    redeemed = min(escape.tickets, most)
    bought_s = escape.bought * rules.bought_ticket_s
    return max(0, over.counted_ms // 1000 + bought_s - redeemed * rules.redeemed_ticket_s)
