"""The controller of one table: edges and messages in, facts and pictures out, in one loop.

At a press never another order: stamp, journal, show, publish. The loop sleeps until the next edge,
message or boundary; `step` is one pass of it and says when the next is due. Long because it is the one
place where the parts of a table meet; what each decides is in a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from device.call import Called
from device.choices import Choice, Choices
from device.debounce import Button, ButtonBank, Edge, RawEdge
from device.facts import Facts, Refusal
from device.from_hub import (
    DeliveryProblem,
    LinkChanged,
    PlanReceived,
    RulingsReceived,
    StartOrdered,
    TimeAnswered,
)
from device.hearing import Hearing
from device.history import History
from device.journal import NotSaved
from device.on_display import Offer, OnDisplay
from device.plan_store import PlanStore
from device.presses import ANSWER_S, Act, Arm, Choose, Intent, Next, Practise, Presses, Refused, Undo
from device.refusals import RefusalBudget
from device.rest import Rest, RestAfter, next_blink
from device.screen import Glow, Screen
from device.screens import compose
from device.situation import Situation
from device.snapshot import snapshot
from device.start_orders import StartOrders
from device.timekeeping import Timekeeping
from shared.clock import HandClock, RunClock
from shared.core import machine
from shared.core.events import BadEvent, EventType
from shared.core.model import Mark, State
from shared.core.result import Result
from shared.core.rules import CategoryRules, CountKind
from shared.core.run import Run
from shared.core.state import ActRef, Frame, RunState
from shared.plan import BadPlan, Resume, plan_from_json

REFUSAL_S: Final = 3.0
STATE_EVERY_S: Final = 10.0
ALIVE_EVERY_S: Final = 10.0
RETRY_SAVE_S: Final = 1.0
FASTEST_REDRAW_S: Final = 0.1
RESULT_STAYS_S: Final = 10.0
"""So long a result stays on the display before the next heat is put there for an ordered start."""
LONGEST_SLEEP_S: Final = 1.0

_CLOCK_MOVES: Final = (State.PREVIEW, State.RUNNING, State.PAUSED, State.ASSISTING, State.TIME_UP)

#: What of a snapshot changes by itself: no news worth a message of its own.
_EVER_NEW: Final = ("mono_ms", "shown_ms", "assist_left_ms", "not_saved_s", "clock_error_ms")


@dataclass(frozen=True, slots=True)
class Ports:
    """What the controller acts on: everything outside it, as plain calls."""

    levels: Callable[[], Mapping[Button, bool]]
    show: Callable[[Screen], None]
    publish_state: Callable[[Mapping[str, Any]], None]
    link: Callable[[], tuple[bool, int]]
    """Whether the hub is reached, and how many events it has not acknowledged."""
    new_run: Callable[[], str]
    safe: bool = False
    """The table crashed again and again: what the hub planned is left alone, the settings say what is timed."""
    copied: bool = False
    """This card was made for another board: the table stays offline."""
    supply_weak: Callable[[], bool] = lambda: False
    """The supply is too weak now."""
    ask_time: Callable[[int], bool] = lambda _t1_us: False
    """Asks the hub for its time at this instant of hand time in microseconds; `TimeAnswered` follows, or nothing."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Where the table stands until a plan says otherwise."""

    table: int
    categories: tuple[CategoryRules, ...] = ()
    language: str = "es"


class Table:
    """One table timer."""

    def __init__(
        self,
        seat: Seat,
        history: History,
        plans: PlanStore,
        ports: Ports,
        *,
        clock: HandClock,
        run_clock: RunClock,
        rest: RestAfter | None = None,
    ) -> None:
        self._seat = seat
        self._history = history
        self._plans = plans
        self._ports = ports
        self._clock = clock
        self._run_clock = run_clock
        levels = ports.levels()
        self._bank, self._hearing = ButtonBank(levels), Hearing()
        self.presses = Presses()
        self.presses.boot(levels)
        self._refusals = RefusalBudget()
        plan = None if ports.safe else plans.plan()
        self._choices = Choices(seat.categories, plan, history.done(plan))
        self._time = Timekeeping(history, ports.ask_time, clock, run_clock)
        self._busy_s = float("-inf")
        """When a run was last in play here."""
        self._day_known = history.started_in_boot
        """The hub was there, or a judge has started what the display offered."""
        self._orders = StartOrders(history.orders, self._time, run_clock)
        self._on_display = OnDisplay()
        self._ordered_s: float | None = None
        """When a run that started by itself was on the display first; infinite until it is, None for others."""
        self._refusal: tuple[Refusal, float] | None = None
        self._called: Called | None = None
        self._shown: Screen | None = None
        self._question: object = None
        self._shown_s = 0.0
        self._rest = Rest(RestAfter() if rest is None else rest, clock())
        self._published: Mapping[str, Any] = {}
        self._publish_s = self._alive_s = self._save_s = float("-inf")

    # One pass ----------------------------------------------------------------------------------

    def step(self, now: float, items: Iterable[object]) -> float:
        """Take what has come in, act on it, show and tell what it led to; hand time of the next pass."""
        for item in items:
            if isinstance(item, RawEdge):
                self._bank.feed([item])
                self._hearing.heard()
            elif isinstance(item, PlanReceived):
                self._plan(item)
            elif isinstance(item, RulingsReceived):
                self._history.rule(item.told, now)
            elif isinstance(item, StartOrdered):
                self._orders.heard(item.order, now)
            elif isinstance(item, TimeAnswered):
                self._time.answered(item.answer, item.at_s)
            elif isinstance(item, DeliveryProblem) and item.problem.code == "ack_beyond_log":
                self._history.doubt(item.problem.log or "")
            elif isinstance(item, LinkChanged):
                pass  # the picture below asks the link anew
        healed = self._bank.healed
        for edge in self._bank.poll(now, self._ports.levels()):
            self._edge(edge)
        if self._bank.healed > healed:
            self._hearing.missed(now)
        self._perform(self.presses.tick(now, self.situation(now), self._bank.unsettled()))
        if now - self._save_s >= RETRY_SAVE_S:
            self._save_s = now
            self._history.look_after()
        online, _ = self._ports.link()
        self._day_known = self._day_known or online
        self._time.tick(now, online=online, in_run=self.in_run(now))
        self._obey(now)
        self._show(now)
        self._tell(now)
        return self._next_due(now)

    def _edge(self, edge: Edge) -> None:
        if edge.pressed and edge.button is Button.START:
            self._begin_ordered(edge.t)  # it was due before the press, only the loop was not
            if self._leans(edge.t):
                self.presses.lean(edge)
                self._rest.stir(edge.t)
                self._refuse(EventType.RUN_STARTED, "already_started", edge.t)
                return
        if edge.pressed and self._called is not None and not self.in_run(edge.t):
            self.presses.lean(edge)  # "any button: seen" is all that it means
            self._called = None
            self._rest.stir(edge.t)
            return
        pressed_s = edge.t if edge.pressed else self.presses.pressed_s(edge.button)
        made_in = None if pressed_s is None else self._made_in(edge.button, pressed_s)
        intents = self.presses.edge(edge, self.situation(edge.t), made_in)
        if edge.pressed:
            self._called = None
            self._rest.stir(edge.t)
            self._mark_seen()
        self._perform(intents)

    def _leans(self, t: float) -> bool:
        """Whether START was pressed with a run that has just started by itself not yet on the display, or hardly."""
        return self._ordered_s is not None and t < self._ordered_s + ANSWER_S

    def _mark_seen(self) -> None:
        if self._shown is not None:
            self._ports.show(replace(self._shown, seen=True, glow=Glow.FULL))
            self._shown = None  # whatever comes next is another picture

    # Facts -------------------------------------------------------------------------------------

    @property
    def noise(self) -> Mapping[Button, int]:
        """Bursts of each button that came to nothing, since the start."""
        return self._bank.noise

    def deaf(self, now: float) -> bool:
        """Whether presses are seen by their levels only: whoever should tell of edges hangs."""
        return self._hearing.deaf(now)

    @property
    def restamped(self) -> int:
        """Edges whose stamp was of another clock."""
        return self._bank.restamped

    def situation(self, hand_s: float) -> Situation:
        """What the table is in at an instant of hand time."""
        run = self._history.run
        if run is None or not run.started:
            choice = self._choices.selected()
            frame = None if choice is None else Frame(choice.rules)
            practice = choice is not None and choice.practice
            choices = len(self._choices.offers())
            return Situation(RunState(), RunState(), frame, choices=choices, practice=practice)
        t_ms = run.elapsed_ms(self._history.stamp(hand_s))
        settled = self._history.settled(run, hand_s)
        return Situation(run.at(t_ms), run.state, run.frame, max(t_ms, run.state.act_ms), settled=settled)

    def _made_in(self, button: Button, pressed_s: float) -> Situation:
        """The situation a press was made in: a finish at the very limit still counts, and a step then solved."""
        situation, run = self.situation(pressed_s), self._history.run
        if button is not Button.FINISH or run is None or not run.started:
            return situation
        act = EventType.RUN_FINISHED if run.state.escape is None else EventType.STEP_SOLVED
        return replace(situation, run=machine.at(run.state, run.frame, situation.t_ms, act=act))

    def _shown_situation(self, now: float) -> Situation:
        """The situation to show: while a step waits for its second press, a forced hand-over is not shown yet."""
        situation = self.situation(now)
        armed = self.presses.armed
        if armed is None or situation.in_escape:
            return situation
        before = self.situation(armed.t)
        return replace(before, t_ms=situation.t_ms) if before.in_escape else situation

    def facts(self, now: float) -> Facts:
        """Everything the picture is made from."""
        situation = self._shown_situation(now)
        run = self._history.run
        online, unsent = self._ports.link()
        error_ms = self._time.error_ms(now)
        facts = Facts(
            table=self._table,
            situation=situation,
            language=self._seat.language,
            planned=self._choices.plan is not None,
            online=online,
            unsent=unsent,
            not_saved=self._history.not_saved,
            copied=self._ports.copied,
            supply_weak=self._ports.supply_weak(),
            safe=self._ports.safe,
            saved_ago_s=max(0, int(now - self._history.saved_hand_s)),
            stuck=tuple(sorted(self.presses.stuck)),
            held_s=self.presses.held_s(now),
            handing_over=self.presses.handing_over(now),
            armed=self.presses.armed,
            count=self.presses.count,
            refusal=None if self._refusal is None else self._refusal[0],
            called=self._called,
            tick=int(now),
            clock_error_ms=None if error_ms is None else round(error_ms),
        )
        if run is None or not run.started:
            return self._offered(facts, self._choices.selected(), now)
        result = self._history.result(run, now) if situation.state is State.SEALED else None
        return replace(
            facts,
            heat=run.heat,
            practice=run.practice,
            low=self._is_low(run, situation, result, now),
            result=result,
        )

    def _is_low(self, run: Run, situation: Situation, result: Result | None, now: float) -> bool:
        """Whether the shown time is a lower bound: at the instant of that time, not of the picture."""
        if result is not None:
            return Mark.INTERRUPTED in result.marks
        stopped = situation.run.finish_ms is not None
        return run.inexact or not (stopped or run.exactly_known(self._history.stamp(now)))

    def _offered(self, facts: Facts, choice: Choice | None, now: float) -> Facts:
        if choice is None:
            others = () if self._choices.plan is None else self._choices.plan.conflict
            return replace(facts, conflict=", ".join(others) or None)
        category = choice.rules.name_in(self._seat.language)
        plan = self._choices.plan
        return replace(
            facts,
            heat=choice.heat,
            entrant=choice.public_name,
            category=category,
            resumes=choice.resume is not None,
            practice=choice.practice,
            day=None if plan is None or self._day_known else plan.day,
            ordered=self._orders.shown(choice.heat, choice.rules, now),
            offered=(choice.entrant, choice.rules.id),
        )

    def call(self, called: Called) -> None:
        """Show what the hub asks for, until it is over or a button is pressed."""
        self._called = called

    def is_over(self, base: str, at_ms: int, now: float) -> bool | None:
        """Whether the hub's clock `base` reads more than this; None where that clock is not known."""
        return self._time.hand_s(at_ms) < now if self._time.base == base else None

    def in_run(self, now: float) -> bool:
        """Whether a run is in play here that has not come to its end."""
        if self._history.run is None:
            return False
        situation = self.situation(now)
        frame = situation.frame
        if situation.state is State.TIME_UP and frame is not None:
            return frame.rules.count.kind is not CountKind.NOTHING
        return situation.state not in (State.READY, State.SEALED)

    @property
    def _table(self) -> int:
        plan = self._choices.plan
        return self._seat.table if plan is None else plan.table

    # What presses ask for ----------------------------------------------------------------------

    def _perform(self, intents: Iterable[Intent]) -> None:
        for intent in intents:
            match intent:
                case Act(EventType.RUN_STARTED, t):
                    self._start(t)
                case Act(kind, t, data):
                    self._act(kind, t, data)
                case Arm(_, act, t):
                    if self._admitted(act, t, {}):
                        self.presses.arm(intent)
                case Undo(t):
                    self._undo(t)
                case Choose(step):
                    self._choices.choose(step)
                case Practise(t):
                    self._practise(t)
                case Next(t):
                    self._next(t)
                case Refused(act, reason, t, detail):
                    self._refuse(act, reason, t, detail)

    def _start(self, t: float) -> None:
        since_s, offer = self._on_display.at(t)
        if offer is None and self._choices.selected() is None:
            self._refuse(EventType.RUN_STARTED, "nothing_planned", t)
            return
        if offer is None or t < since_s + ANSWER_S:
            self._refuse(EventType.RUN_STARTED, "too_soon", t)
            return
        choice = offer.choice
        if self._history.not_saved:
            self._refuse(EventType.RUN_STARTED, "not_saved", t)
            return
        if choice.resume is not None:
            self._go_on(t, choice.resume, choice.rules)
            return
        order = self._orders.standing(choice.heat)
        if not self._begin(t, offer, {} if order is None else {"overruled": order}):
            self._refuse(EventType.RUN_STARTED, "not_saved", t)

    def _go_on(self, t: float, resume: Resume, rules: CategoryRules) -> None:
        """Take over a run that another device of this table began."""
        try:
            self._history.resume(t, resume, rules)
        except OSError:
            self._refuse(EventType.RUN_TAKEN_OVER, "not_saved", t)
        except BadEvent:
            self._refuse(EventType.RUN_TAKEN_OVER, "nothing_planned", t)
        self._begun_or_undone()

    def _begin(self, t: float, offer: Offer, why: Mapping[str, Any]) -> bool:
        """Start a run, by hand or by order; False when the disk does not take it."""
        choice = offer.choice
        data: dict[str, Any] = {"entrant": choice.entrant, "table": offer.table, **why}
        if choice.heat is not None:
            data["heat"] = choice.heat
        if choice.practice:
            data["practice"] = True
        try:
            self._history.start(t, self._ports.new_run(), choice.rules, data)
        except (OSError, NotSaved):
            return False
        self._day_known = self._day_known or not choice.practice
        self._refusal = None  # of an earlier press: this one was taken
        self._ordered_s = float("inf") if "start" in why else None
        for order in why.values():
            self._orders.spend(order)
        self._begun_or_undone()
        return True

    def _obey(self, now: float) -> None:
        """Start by the hub's order, stamped with its instant however late it comes."""
        if self.in_run(now):
            self._busy_s = now
            return
        state, heat = self.situation(now).state, self._orders.to_load()
        if state is State.SEALED and now < self._busy_s + RESULT_STAYS_S:
            return
        if heat is not None and self._choices.choose_heat(heat):
            self._orders.loaded()
            self._history.leave()
        self._begin_ordered(now)

    def _begin_ordered(self, now: float) -> None:
        """Begin the run of the shown heat whose start was due by now; unless a finger may have been ahead of it."""
        choice, run = self._choices.selected(), self._history.run
        if choice is None or (run is not None and run.started) or self._history.not_saved:
            return
        starts_s = self._orders.starts_s(choice.heat, choice.rules, now)
        if starts_s is None or now < starts_s:
            return
        if self._bank.unsettled().get(Button.START, now) < starts_s:
            return
        self._begin(starts_s, Offer(choice, self._table), {"start": self._orders.standing(choice.heat)})

    def _act(self, kind: EventType, t: float, data: Mapping[str, Any]) -> None:
        run = self._history.run
        assert run is not None, "presses ask for acts of a run only while there is one"
        if self._admitted(kind, t, data):
            self._refusal = None
            self._history.record(kind, t, run=run.id, **data)

    def _admitted(self, kind: EventType, t: float, data: Mapping[str, Any]) -> bool:
        """Whether the machine would take this act; what it refuses is journaled as refused only."""
        run = self._history.run
        assert run is not None, "presses ask for acts of a run only while there is one"
        act = ActRef(self._history.log, self._history.next_seq, kind)
        t_ms = run.elapsed_ms(self._history.stamp(t))
        _, refusal = machine.take(run.state, run.frame, act, t_ms, data)
        if refusal is not None:
            self._refuse(kind, str(refusal), t)
        return refusal is None

    def _undo(self, t: float) -> None:
        run = self._history.run
        if run is None or run.state.last_act is None:
            self._refuse(EventType.ACT_UNDONE, "nothing_to_undo", t)
        elif self._history.settled(run, self._clock()):  # since the hold began
            self._refuse(EventType.ACT_UNDONE, "sealed", t)
        elif self.situation(t).state is State.CLAIMED:
            self._act(EventType.FINISH_REJECTED, t, {})
        else:
            last = run.state.last_act
            elsewhere = {} if last.log == self._history.log else {"undone_log": last.log}
            self._act(EventType.ACT_UNDONE, t, {"undone": last.seq, **elsewhere})
            self._begun_or_undone()
            if not run.started:
                self._choices.offer_again((run.heat, run.category, run.entrant), practice=run.practice)

    def _practise(self, t: float) -> None:
        choice = self._choices.selected()
        if choice is not None and self._orders.standing(choice.heat) is not None:
            self._refuse(EventType.RUN_STARTED, "starts_by_itself", t)
        elif not self._choices.practise():
            self._refuse(EventType.RUN_STARTED, "nothing_planned", t)

    def _next(self, t: float) -> None:
        if self._choices.selected() is None:
            self._refuse(EventType.RUN_STARTED, "plan_done", t)
        else:
            self._history.leave()

    def _begun_or_undone(self) -> None:
        self._choices.update(self._choices.plan, self._history.done(self._choices.plan))

    def _refuse(self, act: str, reason: str, t: float, detail_ms: int = 0) -> None:
        self._refusal = (Refusal(reason, detail_ms), self._clock() + REFUSAL_S)
        count = self._refusals.admit(t)
        if count is None:
            return
        extra = {} if count == 1 else {"count": count}
        run: Run | None = self._history.run
        self._history.record(
            EventType.PRESS_REFUSED,
            t,
            run=None if run is None else run.id,
            act=str(act),
            reason=reason,
            **extra,
        )

    # Messages ----------------------------------------------------------------------------------

    def _plan(self, received: PlanReceived) -> None:
        try:
            plan = plan_from_json(received.plan)
        except BadPlan:
            return  # the hub hears of it by the plan's revision that the table does not report
        wanted = None if plan.withdrawn else plan
        if wanted == self._choices.plan:
            return
        with suppress(OSError):  # used all the same; NOT SAVED shows with the next event
            if wanted is None:
                self._plans.forget_plan()
            else:
                self._plans.keep_plan(wanted)
        self._choices.update(wanted, self._history.done(wanted))
        self._rest.stir(self._clock())

    # Showing and telling -----------------------------------------------------------------------

    def _show(self, now: float) -> None:
        if self._refusal is not None and now >= self._refusal[1]:
            self._refusal = None
        if self._called is not None and now >= self._called.until_s:
            self._called = None
        facts = self.facts(now)
        question = self.presses.question(facts.situation)
        if question not in (None, self._question):
            self._refusal = None  # a new question must be seen, not lie under the last refusal
            facts = replace(facts, refusal=None)
        self._question = question
        awake = self.in_run(now) or facts.ordered is not None or facts.not_saved or facts.called is not None
        screen = self._rest.dress(compose(facts), now, awake=awake)
        if screen != self._shown:
            self._ports.show(screen)
            self._shown, self._shown_s = screen, self._clock()
            self.presses.shown(question, self._shown_s)
        self._note_offer(facts.situation.state)

    def _note_offer(self, state: State) -> None:
        """What START would be of from now on, as far as anybody can see."""
        choice = self._choices.selected() if state is State.READY else None
        self._on_display.shown(None if choice is None else Offer(choice, self._table), self._clock())
        if state is not State.READY and self._ordered_s == float("inf"):
            self._ordered_s = self._clock()

    def _tell(self, now: float) -> None:
        run = self._history.run
        if now - self._alive_s >= ALIVE_EVERY_S and run is not None and run.state.state is not State.SEALED:
            self._alive_s = now
            self._history.note_alive(now)
        told = snapshot(self.facts(now), run, self._history.stamp(now), self._history.log)
        news = {k: v for k, v in told.items() if k not in _EVER_NEW}
        if news != self._published or now - self._publish_s >= STATE_EVERY_S:
            self._published, self._publish_s = news, now
            self._ports.publish_state({**told, "revision": getattr(self._choices.plan, "revision", None)})

    def _next_due(self, now: float) -> float:
        waiting = (self._bank.next_due(now), self.presses.next_due(now))
        dues = [now + LONGEST_SLEEP_S, self._boundary(now), *(due for due in waiting if due is not None)]
        if self.presses.held_s(now) > 0:
            dues.append(now + FASTEST_REDRAW_S)
        if self._refusal is not None:
            dues.append(self._refusal[1])
        if self._called is not None:
            dues.append(self._called.until_s)
        if self._shown is not None and self._shown.blinks:
            dues.append(next_blink(now))
        dues += [due for due in (self._time.next_due(), self._ordered_due(now)) if due is not None]
        return min(dues)

    def _ordered_due(self, now: float) -> float | None:
        """When the countdown to an ordered start changes next, or ends."""
        choice = self._choices.selected()
        if choice is None or self.in_run(now):
            return None
        ordered = self._orders.shown(choice.heat, choice.rules, now)
        if ordered is None or ordered.left_s is None or ordered.left_s <= 0:
            return None
        return now + (ordered.left_s % 1 or 1)

    def _boundary(self, now: float) -> float:
        """When the shown clock changes its second next, or something happens by itself."""
        situation = self.situation(now)
        frame, run = situation.frame, situation.run
        if frame is None or situation.state not in _CLOCK_MOVES:
            return float("inf")
        phase_ms = frame.rules.preview_ms
        if situation.state is State.PAUSED and frame.rules.pauses is not None:
            phase_ms = (run.pause_ms or 0) + frame.rules.pauses.each_ms
        elif situation.state is not State.PREVIEW:
            phase_ms += frame.granted_ms + run.paused_ms
        to_second_ms = 1000 - (situation.t_ms - phase_ms) % 1000
        automatic_ms = machine.next_due_ms(run, frame)
        if automatic_ms is not None:
            to_second_ms = min(to_second_ms, max(1, automatic_ms - situation.t_ms))
        due = self._run_clock.hand_s(self._run_clock.run_ms(now) + to_second_ms)
        return max(due, self._shown_s + FASTEST_REDRAW_S)
