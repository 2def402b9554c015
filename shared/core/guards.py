"""Why an act may be refused: the named guards of the run machine's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shared.core.model import Refusal
from shared.core.rules import CountKind
from shared.core.state import ActRef, Escape, Frame, RunState, assisted_ms


class Attempt(NamedTuple):
    """An act tried on a run at an instant."""

    held: RunState
    """The run after its last act in effect, nothing derived."""
    run: RunState
    """The run as it is at that instant."""
    frame: Frame
    t_ms: int
    act: ActRef
    data: Mapping[str, Any]


Guard = Callable[[Attempt], Refusal | None]


def has_pauses(a: Attempt) -> Refusal | None:
    """Absences stop the clock only where the category says so."""
    return Refusal.NO_PAUSES if a.frame.rules.pauses is None else None


def pause_left(a: Attempt) -> Refusal | None:
    """A third absence is allowed, but the clock runs (Torneo III, Ausencias)."""
    pauses = a.frame.rules.pauses
    return Refusal.NO_PAUSE_LEFT if pauses and a.run.pauses >= pauses.count else None


def has_assists(a: Attempt) -> Refusal | None:
    """Castrillo knows no assistance."""
    return Refusal.NO_ASSISTS if a.frame.rules.assists is None else None


def assist_left(a: Attempt) -> Refusal | None:
    """At most so many assistances (Torneo III, Asistencia)."""
    assists = a.frame.rules.assists
    return Refusal.NO_ASSIST_LEFT if assists and a.run.assists >= assists.count else None


def assist_budget_left(a: Attempt) -> Refusal | None:
    """All assistances together have a budget (Torneo III, Asistencia)."""
    assists = a.frame.rules.assists
    used_up = assists and assisted_ms(a.run, a.frame, a.t_ms) >= assists.total_ms
    return Refusal.ASSIST_BUDGET_USED if used_up else None


def not_in_escape(a: Attempt) -> Refusal | None:
    """The puzzle is not on the table yet."""
    return Refusal.ESCAPE_RUNNING if a.run.escape is not None else None


def in_escape(a: Attempt) -> Refusal | None:
    """Steps and help belong to the escape stage."""
    return Refusal.NO_ESCAPE if a.run.escape is None else None


def hint_not_given(a: Attempt) -> Refusal | None:
    """One hint for each step."""
    escape = a.run.escape
    given = escape is not None and escape.hint_step > escape.solved_steps
    return Refusal.HINT_ALREADY_GIVEN if given else None


def hint_given(a: Attempt) -> Refusal | None:
    """The solution only after the hint of the same step (Castrillo: uso acumulativo)."""
    escape = a.run.escape
    missing = escape is not None and escape.hint_step <= escape.solved_steps
    return Refusal.HINT_FIRST if missing else None


def solution_not_given(a: Attempt) -> Refusal | None:
    """One solution for each step."""
    escape = a.run.escape
    given = escape is not None and escape.solution_step > escape.solved_steps
    return Refusal.SOLUTION_ALREADY_GIVEN if given else None


def help_waited(a: Attempt) -> Refusal | None:
    """Five minutes since the last help given to the pair (Castrillo: entrega progresiva)."""
    return Refusal.HELP_TOO_SOON if help_wait_ms(a.run.escape, a.frame, a.t_ms) > 0 else None


def help_wait_ms(escape: Escape | None, frame: Frame, t_ms: int) -> int:
    """How long a pair must still wait for its next help; 0 when it may ask."""
    rules = frame.rules.escape
    if escape is None or rules is None or escape.last_help_ms is None:
        return 0
    return max(0, escape.last_help_ms + rules.help_wait_ms - t_ms)


def pieces_fit(a: Attempt) -> Refusal | None:
    """Nobody can have more pieces than the puzzle; a ruling that it came short undoes no count."""
    most = max(a.frame.rules.puzzles[a.run.puzzle], a.frame.pieces_of(a.run.puzzle))
    return Refusal.TOO_MANY_PIECES if a.data["pieces"] > most else None


def something_to_count(a: Attempt) -> Refusal | None:
    """Where only a complete puzzle counts, there is nothing to count."""
    nothing = a.frame.rules.count.kind is CountKind.NOTHING
    return Refusal.NOTHING_TO_COUNT if nothing else None


def has_notice(a: Attempt) -> Refusal | None:
    """Only a notice that is shown can be dismissed."""
    return Refusal.NO_NOTICE if a.run.notice is None else None


def names_last_act(a: Attempt) -> Refusal | None:
    """An undo names the last act still in effect, else two judges' presses could cross."""
    last = a.held.last_act
    named = last is not None and (last.log, last.seq) == (
        a.data.get("undone_log") or a.act.log,
        a.data["undone"],
    )
    return None if named else Refusal.NOT_THE_LAST_ACT
