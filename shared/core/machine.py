"""The run machine as two tables: what people do (`ROWS`) and what happens by itself (`AUTOMATIC`).

Nothing else changes a run's state. Undo and rejection are rows like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from shared.core import effects, guards
from shared.core.events import EventType
from shared.core.guards import Attempt, Guard
from shared.core.model import Refusal, State
from shared.core.state import ActRef, Frame, RunState

S, E = State, EventType


class Row(NamedTuple):
    """In these states this act, if no guard refuses it, has this effect and leads to that state."""

    states: tuple[State, ...]
    act: EventType
    guards: tuple[Guard, ...]
    effect: effects.Effect
    becomes: State | None
    """None: the state the effect leaves, one of `may_become` or the one before."""
    may_become: tuple[State, ...] = ()
    in_effect: bool = True
    """False: no act that could itself be undone (undo, rejection, a notice dismissed)."""
    keeps_ended_assist: bool = False
    """Going back behind this act finds the assistance that it ended, ended."""


class Automatic(NamedTuple):
    """In these states this happens by itself at the instant `due` names (None: never)."""

    states: tuple[State, ...]
    name: str
    due: Callable[[RunState, Frame], int | None]
    effect: Callable[[RunState, Frame, int], RunState]
    becomes: State | None
    """None: the state stays as it is."""
    spares: EventType | None = None
    """The act that still counts at exactly that instant."""


def _preview_due(run: RunState, frame: Frame) -> int:  # noqa: ARG001
    return frame.rules.preview_ms


def _pause_due(run: RunState, frame: Frame) -> int | None:
    pauses = frame.rules.pauses
    return None if pauses is None or run.pause_ms is None else run.pause_ms + pauses.each_ms


def _assist_due(run: RunState, frame: Frame) -> int | None:
    assists = frame.rules.assists
    used_ms = sum(run.assist_lengths_ms)
    return None if assists is None or run.assist_ms is None else run.assist_ms + assists.total_ms - used_ms


def _escape_due(run: RunState, frame: Frame) -> int | None:
    escape = frame.rules.escape
    return None if run.escape is None or escape is None else _when_counted(run, frame, escape.limit_ms)


def limit_due(run: RunState, frame: Frame) -> int:
    """The instant at which a run whose clock runs reaches its limit."""
    return _when_counted(run, frame, frame.rules.limit_ms)


def _when_counted(run: RunState, frame: Frame, counted_ms: int) -> int:
    return counted_ms + frame.rules.preview_ms + frame.granted_ms + run.paused_ms


#: What is due at the same instant happens in this order.
AUTOMATIC: Final[tuple[Automatic, ...]] = (
    Automatic((S.PREVIEW,), "preview over", _preview_due, effects.preview_over, S.RUNNING),
    Automatic((S.PAUSED,), "pause ran out", _pause_due, effects.pause_ran_out, S.RUNNING),
    Automatic((S.ASSISTING,), "assist ran out", _assist_due, effects.assist_ran_out, S.RUNNING),
    Automatic(
        (S.RUNNING, S.ASSISTING),
        "escape limit",
        _escape_due,
        effects.force_hand_over,
        None,
        spares=E.STEP_SOLVED,
    ),
    Automatic(
        (S.RUNNING, S.ASSISTING), "limit", limit_due, effects.limit_passed, S.TIME_UP, spares=E.RUN_FINISHED
    ),
)

_LIVE: Final = (S.PREVIEW, S.RUNNING, S.PAUSED, S.ASSISTING, S.CLAIMED, S.TIME_UP)
_CLOCK_RUNS: Final = (S.RUNNING, S.ASSISTING)

ROWS: Final[tuple[Row, ...]] = (
    Row((S.READY,), E.RUN_STARTED, (), effects.start, None, (S.PREVIEW, S.RUNNING)),
    Row(
        _CLOCK_RUNS,
        E.PAUSE_STARTED,
        (guards.has_pauses, guards.not_in_escape, guards.pause_left),
        effects.open_pause,
        S.PAUSED,
    ),
    Row((S.PAUSED,), E.PAUSE_ENDED, (), effects.close_pause, S.RUNNING),
    Row(
        (S.RUNNING,),
        E.ASSIST_STARTED,
        (guards.has_assists, guards.assist_left, guards.assist_budget_left),
        effects.open_assist,
        S.ASSISTING,
    ),
    Row((S.ASSISTING,), E.ASSIST_ENDED, (), effects.end_assist, S.RUNNING),
    Row((S.RUNNING,), E.STEP_SOLVED, (guards.in_escape,), effects.solve_step, None),
    Row(
        (S.RUNNING,),
        E.HINT_GIVEN,
        (guards.in_escape, guards.hint_not_given, guards.help_waited),
        effects.give_hint,
        None,
    ),
    Row(
        (S.RUNNING,),
        E.SOLUTION_GIVEN,
        (guards.in_escape, guards.hint_given, guards.solution_not_given, guards.help_waited),
        effects.give_solution,
        None,
    ),
    Row(
        _CLOCK_RUNS,
        E.RUN_FINISHED,
        (guards.not_in_escape,),
        effects.claim,
        S.CLAIMED,
        keeps_ended_assist=True,
    ),
    Row((S.CLAIMED,), E.FINISH_ACCEPTED, (), effects.accept, None, (S.SEALED, S.RUNNING)),
    Row((S.CLAIMED,), E.FINISH_REJECTED, (), effects.back, None, in_effect=False),
    Row(
        (S.TIME_UP,),
        E.PIECES_COUNTED,
        (guards.something_to_count, guards.pieces_fit),
        effects.count,
        S.SEALED,
    ),
    Row(_LIVE, E.NOTICE_DISMISSED, (guards.has_notice,), effects.dismiss, None, in_effect=False),
    Row(_LIVE, E.ACT_UNDONE, (guards.names_last_act,), effects.back, None, in_effect=False),
)

#: Refusals where the table has no row: by the state, or by the act where that tells more.
_BY_STATE: Final = {
    S.READY: Refusal.NOT_STARTED,
    S.PREVIEW: Refusal.PREVIEW,
    S.PAUSED: Refusal.PAUSED,
    S.CLAIMED: Refusal.CLAIMED,
    S.TIME_UP: Refusal.AFTER_LIMIT,
}
_BY_ACT: Final[Mapping[str, Refusal]] = {
    E.RUN_STARTED: Refusal.ALREADY_STARTED,
    E.PAUSE_ENDED: Refusal.NOT_PAUSED,
    E.ASSIST_STARTED: Refusal.ASSISTING,
    E.ASSIST_ENDED: Refusal.NOT_ASSISTING,
    E.STEP_SOLVED: Refusal.ASSISTING,
    E.HINT_GIVEN: Refusal.ASSISTING,
    E.SOLUTION_GIVEN: Refusal.ASSISTING,
    E.FINISH_ACCEPTED: Refusal.NOT_CLAIMED,
    E.FINISH_REJECTED: Refusal.NOT_CLAIMED,
    E.PIECES_COUNTED: Refusal.NOT_TIME_UP,
}
_BY_ACT_ALWAYS: Final = {E.RUN_STARTED, E.FINISH_ACCEPTED, E.FINISH_REJECTED, E.PIECES_COUNTED}

_TABLE: Final[Mapping[tuple[State, str], Row]] = {
    (state, row.act): row for row in ROWS for state in row.states
}
_DUE: Final = {state: tuple(a for a in AUTOMATIC if state in a.states) for state in State}


class Taken(NamedTuple):
    """An act was taken (`refusal` None) or refused; `run` is the state after it."""

    run: RunState
    refusal: Refusal | None = None


def at(run: RunState, frame: Frame, t_ms: int, *, act: str | None = None) -> RunState:
    """The run at an instant: everything that ends by itself up to `t_ms` has ended.

    `act` is the act about to be tried at that instant: a finish at exactly the limit and a step
    solved at exactly the escape's limit still count.
    """
    while True:
        first: Automatic | None = None
        when = 0
        for automatic in _DUE[run.state]:
            due = automatic.due(run, frame)
            if due is not None and (first is None or due < when):
                first, when = automatic, due
        if (
            first is None
            or when > t_ms
            or (when == t_ms and first.spares is not None and first.spares == act)
        ):
            return run
        run = first.effect(run, frame, when)
        if first.becomes is not None:
            run = run._replace(state=first.becomes)


def next_due_ms(run: RunState, frame: Frame) -> int | None:
    """The next instant at which something happens by itself; None if nothing will."""
    dues = [due for a in _DUE[run.state] if (due := a.due(run, frame)) is not None]
    return min(dues, default=None)


def instant(run: RunState, t_ms: int) -> int:
    """The instant at which an act stamped `t_ms` is taken: never before the last act in effect."""
    return max(t_ms, run.act_ms)


def take(held: RunState, frame: Frame, act: ActRef, t_ms: int, data: Mapping[str, Any]) -> Taken:
    """Try an act stamped `t_ms` on a run. Total: whatever is tried, a state comes back.

    The way back from an act is the state before it, so an undo costs nothing and its clock never stopped.
    """
    t_ms = instant(held, t_ms)
    now = at(held, frame, t_ms, act=act.type)
    row = _TABLE.get((now.state, act.type))
    if row is None:
        return Taken(held, refusal_of(now.state, act.type))
    attempt = Attempt(held, now, frame, t_ms, act, data)
    for guard in row.guards:
        if refused := guard(attempt):
            return Taken(held, refused)
    after = row.effect(attempt)
    if not row.in_effect:
        return Taken(after)
    before = held
    if row.keeps_ended_assist and now.assist_ms is not None:
        before = effects.close_assist(now, t_ms)._replace(state=S.RUNNING)
    return Taken(
        after._replace(
            state=row.becomes or after.state, act_ms=t_ms, last_act=act, before=before, dismissed_ms=t_ms
        )
    )


def refusal_of(state: State, act: str) -> Refusal:
    """Why the table has no row for this act in this state, most telling first."""
    if state is S.SEALED:
        return Refusal.SEALED
    if state in _CLOCK_RUNS or act in _BY_ACT_ALWAYS:
        return _BY_ACT[act]
    return _BY_STATE[state]
