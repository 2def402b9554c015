"""The table's journal as runs: everything it has timed, folded; new facts are written before they are shown.

Long because the fold, what waits for the disk and what of it was ruled must never disagree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from device.alive import Alive
from device.choices import Done
from device.journal import Journal, NotSaved
from device.plan_store import PlanStore
from shared.clock import HandClock, RunClock, WallClock, monotonic
from shared.core.events import BadEvent, Event, EventType, event_from_json
from shared.core.model import State
from shared.core.rules import CategoryRules
from shared.core.run import Run, stamp_of
from shared.core.scoring import Result
from shared.core.timeline import Stamp
from shared.core.tournament import Tournament
from shared.plan import Plan, Resume
from shared.wire import RunRulings

LONG_LOG: Final = 2_000
"""Events after which a log is closed as soon as no run is live."""


def _last_of(events: Sequence[Event], run: str) -> Event:
    """The last act of a run, in the order in which they are folded. Raises BadEvent without a start."""
    acts = [event for event in events if event.run == run]
    if not any(event.type == EventType.RUN_STARTED for event in acts):
        raise BadEvent("a run without its start")
    return acts[-1]


class History:
    """What this table has timed. The shown run is the last one begun, until the judge asks for the next."""

    def __init__(
        self,
        journal: Journal,
        plans: PlanStore,
        alive: Alive,
        *,
        boot: str,
        run_clock: RunClock,
        wall: WallClock,
        clock: HandClock = monotonic,
        written: Callable[[], None] = lambda: None,
    ) -> None:
        self.boot = boot
        self._journal = journal
        self._plans = plans
        self._alive = alive
        self._run_clock = run_clock
        self._wall = wall
        self._clock = clock
        self._written = written
        self._tournament = Tournament({}, self._rules_of)
        self._unsaved: list[Event] = []
        self._storage: str | None = None
        self._doubted = ""
        self.saved_hand_s = clock()
        """When the disk last took something."""
        self.run: Run | None = None
        self._left_live: Run | None = None
        """A run that only a ruling had ended when the judge asked for the next."""
        self.anchored_ms: dict[str, int] = {}
        """How well this boot is anchored to each clock of the hub: the smallest error."""
        self._bases: defaultdict[str, set[str]] = defaultdict(set)
        """The clocks of the hub that each boot is anchored to."""
        self.started_in_boot = False
        """A run was begun since the machine was switched on."""
        self.orders: set[str] = set()
        """Start orders that a run here obeyed, or was started ahead of by the judge."""
        self._rulings: RunRulings | None = plans.rulings()
        self._ruled_s = float("-inf")
        """When the hub told of them: presses before that were made in the state before."""
        self._restore()

    def _rules_of(self, start: Event) -> CategoryRules | None:
        rules = self._plans.rules(start.data.get("rules") or "")
        if rules is None and (kept := self._plans.resumed(start.run or "")) is not None:
            rules = kept[1]
        return rules

    def _restore(self) -> None:
        logs = [*self._journal.earlier(), self._journal.events()]
        events = [event for log in logs for event in log]
        for event in events:
            self._fold(event)
        if self._rulings is not None:
            self._tournament.rule_anew(self._rulings.rulings)
        last = events[-1] if events else None
        if last is not None and last.boot is not None and last.boot != self.boot:
            seen_ms = max((e.mono_ms or 0 for e in events if e.boot == last.boot), default=0)
            alive_ms = max(self._alive.read(last.boot) or 0, seen_ms, 0)
            # with the power a card may lose whole lines that it had called safe, and that the hub already has
            self._journal.begin_new_log()
            self.record(
                EventType.BOOT_STARTED, self._hand_of_boot(), previous_boot=last.boot, alive_ms=alive_ms
            )
        self._take_over(self._hand_of_boot())
        self._rotate()

    def rule(self, told: RunRulings, hand_s: float) -> None:
        """What the hub has ruled on the shown run, in place of all it told before; not journaled, the hub has it."""
        if told == self._rulings:
            return
        if told.rulings or (self._rulings is not None and self._rulings.rulings):
            with suppress(OSError):  # it is retained: a restart hears it again
                self._plans.keep_rulings(told)
        self._rulings, self._ruled_s = told, hand_s
        self._tournament.rule_anew(told.rulings)
        left = self._left_live
        if self.run is None and left is not None and told.run == left.id and not self.settled(left, hand_s):
            self.run = left  # what ended it is revoked, and nobody else was started

    def settled(self, run: Run, hand_s: float) -> bool:
        """Whether rulings ended the run for everybody at the table, at an instant of hand time."""
        if hand_s < self._ruled_s:
            return False
        return self._tournament.settled(run, run.elapsed_ms(self.stamp(hand_s)))

    def _hand_of_boot(self) -> float:
        return self._run_clock.hand_s(0)

    def _take_over(self, hand_s: float) -> None:
        """A live run whose log was closed goes on in the new log."""
        run = self.run
        if run is None or not self._is_live(run):
            return
        last = run.acts[-1] if run.acts else run.start
        if last.log != self._journal.log:
            if last.boot == self.boot:  # no act of a run is stamped before the one it follows
                hand_s = max(hand_s, self._run_clock.hand_s(stamp_of(last).mono_ms))
            self.record(EventType.RUN_TAKEN_OVER, hand_s, run=run.id, from_log=last.log, from_seq=last.seq)

    @staticmethod
    def _is_live(run: Run) -> bool:
        return run.state.state not in (State.READY, State.SEALED)

    def _rotate(self) -> None:
        """A long log is closed between two runs, so that the hub can archive it and the table delete it."""
        live = self.run is not None and self._is_live(self.run)
        if live or self._unsaved or self._journal.last_seq < LONG_LOG:
            return
        self._journal.begin_new_log()
        self._written()

    def doubt(self, log: str) -> None:
        """The hub has more of this log than it holds here: it is closed, lest a seq is given twice."""
        self._doubted = log
        self.look_after()

    def look_after(self) -> None:
        """Ask the disk how it is, and try again what it did not take; every second or so."""
        self._storage = self._journal.trouble()
        if self._unsaved:
            self.save()
        live = self.run is not None and self._is_live(self.run)
        if self._storage is None and not live and not self._journal.has_room():
            self._storage = "full"  # what is held back is for a run that goes on, not for one that begins
        if self._doubted == self._journal.log and not self._unsaved:
            self._journal.close_as_short()
            self._take_over(self._clock())
            self._written()

    def delete_log(self, log: str) -> bool:
        """Delete a log closed before that the hub has for good; not one that holds what is still live."""
        run = self.run
        needed = run is not None and log in {run.start.log, *(act.log for act in run.acts)}
        if needed or log not in self._journal.earlier_logs():
            return False
        try:
            self._journal.delete(log)
        except OSError:
            return False
        return True

    # Reading -----------------------------------------------------------------------------------

    @property
    def log(self) -> str:
        """The log that is being written."""
        return self._journal.log

    @property
    def next_seq(self) -> int:
        """The seq the next event gets."""
        return self._journal.last_seq + len(self._unsaved) + 1

    @property
    def not_saved(self) -> bool:
        """Events wait in memory because the disk does not take them, or it would not take the next."""
        return bool(self._unsaved) or self._storage is not None

    @property
    def storage(self) -> str | None:
        """What is wrong with the disk, as a code; None when all is well."""
        return self._storage or ("failing" if self._unsaved else None)

    def done(self, plan: Plan | None) -> Done:
        """Planned runs that have begun, here or as the plan says elsewhere, and were neither undone nor voided."""
        own = self._tournament.runs
        voided = () if plan is None else plan.voided
        begun = [r for r in own.values() if r.started and r.id not in voided and r.entrant is not None]
        here = {(r.heat, r.category, r.entrant or "") for r in begun}
        elsewhere = () if plan is None else plan.begun
        return frozenset(here | {r.key for r in elsewhere if r.run not in own})

    def result(self, run: Run, hand_s: float) -> Result | None:
        """A run judged as it stands at an instant of hand time."""
        return self._tournament.result(run, run.elapsed_ms(self.stamp(hand_s)))

    def bridged_by(self, base: str) -> bool:
        """Whether an anchor to this clock of the hub would relate another boot of the shown run to this one."""
        run = self.run
        if run is None:
            return False
        boots = {stamp_of(event).boot for event in (run.start, *run.acts)} - {self.boot}
        return any(base in self._bases[boot] for boot in boots)

    def stamp(self, hand_s: float) -> Stamp:
        """An instant of hand time as a stamp of this boot."""
        return Stamp(self.boot, self._run_clock.run_ms(hand_s))

    # Writing -----------------------------------------------------------------------------------

    def record(self, kind: EventType, hand_s: float, *, run: str | None = None, **data: Any) -> Event:
        """Write one fact, stamped with an instant of hand time, and fold it.

        When the disk does not take it, it is kept in memory and written as soon as it does.
        """
        event = self._event(kind, hand_s, run, data)
        self._unsaved.append(event)
        self.save()
        self._fold(event)
        return event

    def _event(self, kind: EventType, hand_s: float, run: str | None, data: Mapping[str, Any]) -> Event:
        stamp = self.stamp(hand_s)
        return Event(
            device=self._journal.device,
            log=self._journal.log,
            seq=self.next_seq,
            type=kind,
            boot=stamp.boot,
            mono_ms=stamp.mono_ms,
            wall_ms=self._wall(),
            run=run,
            data=data,
        )

    def save(self) -> None:
        """Try to write what waits in memory, in order."""
        while self._unsaved:
            event = self._unsaved[0]
            stamp = stamp_of(event)
            try:
                saved = self._journal.append(
                    event.type,
                    boot=stamp.boot,
                    mono_ms=stamp.mono_ms,
                    wall_ms=event.wall_ms,
                    run=event.run,
                    **event.data,
                )
            except NotSaved:
                self._storage = self._journal.trouble()
                return
            assert saved.seq == event.seq, "seqs are given in the order of writing"
            self._unsaved.pop(0)
            self.saved_hand_s = self._clock()
            self._written()

    def start(self, hand_s: float, run: str, rules: CategoryRules, data: Mapping[str, Any]) -> None:
        """Begin a run. Raises OSError or NotSaved when the disk does not take it: then nothing has begun."""
        digest = self._plans.keep_rules(rules)
        begun = {"category": rules.id, "rules": digest, **data}
        event = self._event(EventType.RUN_STARTED, hand_s, run, begun)
        self._unsaved.append(event)
        self.save()
        if self._unsaved:
            self._unsaved.remove(event)
            raise NotSaved("the disk does not take the start")
        self._fold(event)

    def leave(self) -> None:
        """The shown run is done with: the table is ready for the next one."""
        self._left_live = self.run if self.run is not None and self._is_live(self.run) else None
        self.run = None
        self._rotate()

    def note_alive(self, hand_s: float) -> None:
        """Note how long this boot was alive; the bound if the plug is pulled. A full disk is told elsewhere."""
        try:
            self._alive.note(self.boot, self.stamp(hand_s).mono_ms)
        except OSError:
            self._storage = self._journal.trouble() or "failing"
        else:
            self.saved_hand_s = self._clock()

    def resume(self, hand_s: float, resume: Resume, rules: CategoryRules) -> None:
        """Go on with a run of another device. Raises OSError when it cannot be kept, BadEvent for nonsense."""
        events = [event_from_json(dict(value)) for value in resume.events]
        last = _last_of(events, resume.run)
        self._plans.keep_resumed(resume, rules)
        self.record(EventType.RUN_TAKEN_OVER, hand_s, run=resume.run, from_log=last.log, from_seq=last.seq)

    def _fold_resumed(self, run: str) -> None:
        """What the other device had timed of a run before it was taken over here."""
        kept = self._plans.resumed(run)
        with suppress(BadEvent):  # judged when it was taken over; damage since then is damage
            for value in kept[0].events if kept is not None else ():
                self._tournament.apply(event_from_json(dict(value)))

    def _fold(self, event: Event) -> None:
        if event.type == EventType.RUN_TAKEN_OVER and event.run not in self._tournament.runs:
            self._fold_resumed(event.run or "")
        self._tournament.apply(event)
        if event.type == EventType.RUN_TAKEN_OVER and event.run in self._tournament.runs:
            self.run = self._tournament.runs[event.run]
        if event.type == EventType.RUN_STARTED and event.run in self._tournament.runs:
            self.run = self._tournament.runs[event.run]
            counts = event.boot == self.boot and not event.data.get("practice")
            self.started_in_boot = self.started_in_boot or counts
            self.orders |= {event.data[name] for name in ("start", "overruled") if event.data.get(name)}
        elif event.type == EventType.CLOCK_ANCHORED:
            self._anchored(event)

    def _anchored(self, event: Event) -> None:
        base, error_ms = event.data["base"], event.data["error_ms"]
        self._bases[event.boot or ""].add(base)
        if event.boot == self.boot:
            self.anchored_ms[base] = min(error_ms, self.anchored_ms.get(base, error_ms))
