"""From presses to what they mean: holds, second presses, the count (pure). Only the device translates presses.

All times here are hand time, in seconds. What an intent asks for is then asked of the run machine; a refusal
there or here is journaled as a refused press.
Long because it is one table: a method for each state.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.count import Count
from device.debounce import Button, Edge
from device.situation import Situation
from shared.core.events import EventType
from shared.core.machine import limit_due
from shared.core.model import Notice, State
from shared.core.rules import CountKind

HOLD_S: Final = 2.0
"""START held so long undoes; FINISH held so long confirms an untouched 0; ASSIST held in READY is practice."""
ANSWER_S: Final = 0.4
"""A press answers a question only if the question was on the display for so long."""
SECOND_PRESS_S: Final = 5.0
"""An armed step or help waits so long for its second press."""
AFTER_HAND_OVER_S: Final = 5.0
"""FINISH is refused for so long after the hand-over of the puzzle."""
_FRESH_MS: Final = 60_000
"""A hand-over longer ago than this, on the run clock, was not just seen: the program has started again."""
STUCK_S: Final = 60.0
"""Nobody holds a button so long: it is stuck, and dead until released."""
UNDO_START_MS: Final = 60_000
"""Without a preview a start can be undone at the table for so long."""

E, B = EventType, Button


@dataclass(frozen=True, slots=True)
class Act:
    """Try this act, stamped at `t`."""

    type: EventType
    t: float
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """Ask for a second press before this act, if the machine would take it now."""

    button: Button
    act: EventType
    t: float


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back the last act in effect (in CLAIMED: reject the finish), stamped at `t`."""

    t: float


@dataclass(frozen=True, slots=True)
class Choose:
    """Another entrant or category in READY: `step` onwards or back."""

    step: int


@dataclass(frozen=True, slots=True)
class Practise:
    """In READY, a run for practice: ASSIST was held, which nobody does by mistake."""

    t: float


@dataclass(frozen=True, slots=True)
class Next:
    """The next entrant of the plan, after sealing."""

    t: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The press means nothing here: the act it would have been, and why."""

    act: str
    reason: str
    t: float
    detail: int = 0
    """Milliseconds that belong to the reason: by how much the limit was missed."""


Intent = Act | Arm | Undo | Choose | Practise | Next | Refused


@dataclass(slots=True)
class _Down:
    """A button that is down: since when, and whether its press is spent."""

    t: float
    spent: bool
    act: str = ""
    """What the short press would be, where it waits for the release."""


class Presses:
    """The four buttons of one table, and what was begun with them."""

    def __init__(self) -> None:
        self.armed: Arm | None = None
        self.count: Count | None = None
        """Pieces being counted after the limit, or missing ones at a claim."""
        self._counted: object = None
        self._down: dict[Button, _Down] = {}
        self._dead: set[Button] = set()
        self._question: object = None
        self._shown_s: float | None = None
        self._limit_told: object = None
        self._over: object = None
        self._over_s: float | None = None

    # What the display needs --------------------------------------------------------------------

    def held_s(self, now: float) -> float:
        """How long START is held towards an undo; 0 when it is not."""
        down = self._down.get(B.START)
        return 0.0 if down is None or down.spent else max(0.0, now - down.t)

    def handing_over(self, now: float) -> bool:
        """Whether the puzzle was handed over only just."""
        return self._over_s is not None and now < self._over_s + AFTER_HAND_OVER_S

    @property
    def stuck(self) -> frozenset[Button]:
        """Buttons that were down at boot, or are held for ever: dead until released."""
        return frozenset(self._dead)

    def question(self, situation: Situation) -> object:
        """What the picture asks, if it asks anything: the same object as long as it is the same question."""
        state = situation.state
        if self.armed is not None:
            return self.armed
        if state is State.TIME_UP and self.count is not None and self.count.asked:
            return "count", self.count.number
        if state in (State.CLAIMED, State.SEALED):
            return state, situation.held.last_act
        return None

    def shown(self, question: object, t: float) -> None:
        """A picture with this question was handed to the display at `t`."""
        if question != self._question:
            self._question, self._shown_s = question, t

    def next_due(self, now: float) -> float | None:
        """When something here changes without a press: a hold, a repeat, an armed question that lapses."""
        dues = [d.t + HOLD_S for b, d in self._down.items() if not d.spent and b is not B.PAUSE]
        dues += [d.t + STUCK_S for d in self._down.values()]
        if self.armed is not None:
            dues.append(self.armed.t + SECOND_PRESS_S)
        if self.count is not None and (due := self.count.next_due()) is not None:
            dues.append(due)
        return min((d for d in dues if d > now), default=now if dues else None)

    # Edges and time ----------------------------------------------------------------------------

    def boot(self, levels: Mapping[Button, bool]) -> None:
        """A button held down at boot is stuck: dead until released; the others work."""
        self._dead = {b for b, down in levels.items() if down}

    def pressed_s(self, button: Button) -> float | None:
        """Since when a button is down; None when it is not, or is dead."""
        down = self._down.get(button)
        return None if down is None else down.t

    def edge(self, edge: Edge, situation: Situation, made_in: Situation | None = None) -> list[Intent]:
        """What a press or release means in this situation; `made_in`: where its press was made, if that differs."""
        made_in = made_in or situation
        if edge.button in self._dead:
            if not edge.pressed:
                self._dead.discard(edge.button)
            return []
        lapsed = self.tick(edge.t, situation)
        return lapsed + (self._press(edge, made_in) if edge.pressed else self._release(edge, made_in))

    def lean(self, edge: Edge) -> None:
        """A press that means nothing, however long it is held."""
        self._down[edge.button] = _Down(edge.t, spent=True)

    def tick(self, now: float, situation: Situation, unsettled: Container[Button] = ()) -> list[Intent]:
        """What holding, and waiting in vain, mean at this instant.

        `unsettled`: buttons that may have been let go of just now; what they are held for has to wait.
        """
        for button in [b for b, down in self._down.items() if now - down.t >= STUCK_S]:
            del self._down[button]
            self._dead.add(button)
            if self.count is not None:
                self.count.let_go(button)
        over = situation.run.handed_over
        if over != self._over:
            self._over = over
            fresh = over is not None and situation.t_ms < over.t_ms + _FRESH_MS
            self._over_s = now if fresh else None
        counted = _what_is_counted(situation)
        if counted != self._counted:
            self._counted = counted
            frame, puzzle = situation.frame, situation.run.puzzle
            self.count = None if counted is None or frame is None else Count(frame.pieces_of(puzzle))
        if self.armed is not None and now >= self.armed.t + SECOND_PRESS_S:
            self.armed = None
        if self.count is not None:
            self.count.tick(now)
        return self._holds(now, situation, unsettled)

    def _holds(self, now: float, situation: Situation, unsettled: Container[Button]) -> list[Intent]:
        intents: list[Intent] = []
        held = [None if b in unsettled else self._down.get(b) for b in (B.START, B.FINISH, B.ASSIST)]
        start, finish, assist = held
        if start is not None and not start.spent and now - start.t >= HOLD_S:
            start.spent = True
            self.armed = None
            intents.append(self._undo(start.t, situation))
        if finish is not None and not finish.spent and now - finish.t >= HOLD_S:
            finish.spent = True
            if self.count is not None and not self.count.touched:
                self.count.ask()
        if assist is not None and not assist.spent and now - assist.t >= HOLD_S:
            assist.spent = True
            intents += [Practise(assist.t)] if situation.state is State.READY else []
        return intents

    def _undo(self, t: float, situation: Situation) -> Intent:
        return Refused(E.ACT_UNDONE, "start_too_old", t) if start_too_old(situation) else Undo(t)

    def _press(self, edge: Edge, situation: Situation) -> list[Intent]:
        waits = self._waits_for_release(edge.button, situation)
        self._down[edge.button] = _Down(edge.t, spent=not waits)
        if self.armed is not None and self.armed.button is not edge.button:
            self.armed = None
        return [] if waits else self._short(edge.button, edge.t, situation)

    def _release(self, edge: Edge, situation: Situation) -> list[Intent]:
        down = self._down.pop(edge.button, None)
        if self.count is not None:
            self.count.let_go(edge.button)
        return [] if down is None or down.spent else self._short(edge.button, down.t, situation)

    def _waits_for_release(self, button: Button, situation: Situation) -> bool:
        """Only where a hold means something; elsewhere the press fires at once."""
        if button is B.START:
            return situation.state not in (State.READY, State.SEALED)
        if button is B.ASSIST:
            return situation.state is State.READY
        if button is B.FINISH and situation.state is State.TIME_UP:
            told = self._limit_told == situation.held.last_act
            return told and self.count is not None and not self.count.touched and not self.count.asked
        return False

    def _too_soon(self, t: float, question: object) -> bool:
        return question != self._question or self._shown_s is None or t < self._shown_s + ANSWER_S

    # Short presses by state --------------------------------------------------------------------

    def _short(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        return _BY_STATE[situation.state](self, button, t, situation)

    def _ready(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        if button is B.START:
            return [Act(E.RUN_STARTED, t, {})]
        if button is B.FINISH:
            return [Refused(E.RUN_FINISHED, "not_started", t)]
        if situation.choices < 2 and not situation.practice:
            act = E.PAUSE_STARTED if button is B.PAUSE else E.ASSIST_STARTED
            return [Refused(act, "not_started", t)]
        return [Choose(-1 if button is B.PAUSE else 1)]

    def _preview(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        return [Refused(_PLAIN[button], "preview", t)]

    def _running(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        # Who comes back late and presses to resume must not start a second pause or assist.
        resumes = {Notice.PAUSE_RAN_OUT: (B.PAUSE, B.START), Notice.ASSIST_RAN_OUT: (B.ASSIST,)}
        if situation.notice is not None and button in resumes[situation.notice]:
            return [Act(E.NOTICE_DISMISSED, t, {})]
        if self.armed is not None and button is self.armed.button:
            return [self._answer(self.armed, t)]
        if situation.in_escape:
            return self._escape(button, t, situation)
        if button is B.FINISH and self.handing_over(t):
            return [Refused(E.RUN_FINISHED, "just_handed_over", t)]
        if button is B.START:
            return [Refused(E.RUN_STARTED, "already_started", t)]
        return [Act(_PLAIN[button], t, {})]

    def _escape(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        if button is B.PAUSE:
            return [Refused(E.PAUSE_STARTED, "escape_running", t)]
        if button is B.START:
            return [Refused(E.RUN_STARTED, "already_started", t)]
        act = E.STEP_SOLVED if button is B.FINISH else _next_help(situation)
        return [Arm(button, act, t)]

    def _answer(self, armed: Arm, t: float) -> Intent:
        """The second press: counts with the stamp of the first, also when the hand-over came in between."""
        if self._too_soon(t, armed):
            return Refused(armed.act, "too_soon", t)
        self.armed = None
        return Act(armed.act, armed.t, {})

    def arm(self, question: Arm) -> None:
        """The machine would take this act: it now waits for its second press."""
        self.armed = question

    def _paused(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        if button in (B.PAUSE, B.START):
            return [Act(E.PAUSE_ENDED, t, {})]
        return [Refused(_PLAIN[button], "paused", t)]

    def _assisting(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        if button is B.ASSIST:
            return [Act(E.ASSIST_ENDED, t, {})]
        if button is B.START:
            return [Refused(E.RUN_STARTED, "already_started", t)]
        return [Act(_PLAIN[button], t, {})]

    def _claimed(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        if self.count is not None and button in (B.PAUSE, B.ASSIST):
            self.count.press(button, t)
            return []
        if button is not B.FINISH:
            return [Refused(_PLAIN[button], "claimed", t)]
        if self._too_soon(t, self.question(situation)):
            return [Refused(E.FINISH_ACCEPTED, "too_soon", t)]
        return [Act(E.FINISH_ACCEPTED, t, {} if self.count is None else {"missing": self.count.number})]

    def _time_up(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        count = self.count
        assert situation.frame is not None, "a run has rules"
        late_ms = situation.t_ms - limit_due(situation.run, situation.frame)
        if count is None:  # only a complete puzzle counts: the run is over
            return [Next(t)] if button is B.START else [Refused(_PLAIN[button], "after_limit", t, late_ms)]
        if button is B.START:
            return [Refused(E.RUN_STARTED, "after_limit", t, late_ms)]
        if button is not B.FINISH:
            count.press(button, t)
            return []
        if self._limit_told != situation.held.last_act and not count.touched:
            self._limit_told = situation.held.last_act
            return [Refused(E.RUN_FINISHED, "after_limit", t, late_ms)]
        if not count.asked:
            if not count.touched:
                return [Refused(E.PIECES_COUNTED, "count_first", t)]
            count.ask()
            return []
        if self._too_soon(t, self.question(situation)):
            return [Refused(E.PIECES_COUNTED, "too_soon", t)]
        return [Act(E.PIECES_COUNTED, t, {"pieces": count.number})]

    def _sealed(self, button: Button, t: float, situation: Situation) -> list[Intent]:
        if button is not B.START:
            return [Refused(_PLAIN[button], "sealed", t)]
        if self._too_soon(t, self.question(situation)):
            return [Refused(E.RUN_STARTED, "too_soon", t)]
        return [Next(t)]


def start_too_old(situation: Situation) -> bool:
    """Whether all there is to undo is a start, and that only the hub can void any more."""
    if situation.last_act != E.RUN_STARTED:
        return False
    without_preview = situation.frame is not None and not situation.frame.rules.preview_ms
    return situation.t_ms > UNDO_START_MS if without_preview else situation.state is not State.PREVIEW


def _what_is_counted(situation: Situation) -> object:
    """Identity of the count that a situation asks for; None where nothing is counted."""
    if situation.frame is None:
        return None
    rules, last = situation.frame.rules, situation.held.last_act
    pieces_due = situation.state is State.TIME_UP and rules.count.kind is not CountKind.NOTHING
    missing_due = situation.state is State.CLAIMED and rules.missing is not None
    return (situation.state, last) if pieces_due or missing_due else None


def _next_help(situation: Situation) -> EventType:
    """The solution comes after the hint of the same step."""
    escape = situation.run.escape
    hinted = escape is not None and escape.hint_step > escape.solved_steps
    return E.SOLUTION_GIVEN if hinted else E.HINT_GIVEN


_PLAIN: Final[Mapping[Button, EventType]] = {
    B.START: E.RUN_STARTED,
    B.PAUSE: E.PAUSE_STARTED,
    B.ASSIST: E.ASSIST_STARTED,
    B.FINISH: E.RUN_FINISHED,
}

_Meaning = Callable[[Presses, Button, float, Situation], list[Intent]]
_BY_STATE: Final[Mapping[State, _Meaning]] = {
    State.READY: Presses._ready,
    State.PREVIEW: Presses._preview,
    State.RUNNING: Presses._running,
    State.PAUSED: Presses._paused,
    State.ASSISTING: Presses._assisting,
    State.CLAIMED: Presses._claimed,
    State.TIME_UP: Presses._time_up,
    State.SEALED: Presses._sealed,
}
