"""All logs of a tournament, folded as they come: runs, rulings on them, standings.

Incremental: an act folds one step; a ruling, a take-over or a late anchor folds the runs that it is about again.
What comes out follows from the events that are there, never from the order in which the logs came.
Long because what folds and what is read of it share one state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, Self

from shared.core.chronicle import Chronicle
from shared.core.events import ACTS, HUB_DEVICE, KNOWN_TYPES, RULINGS, Event, EventType
from shared.core.lines import lines_of, start_order
from shared.core.model import Level, Mark, Problem, State, Status
from shared.core.overlay import RULED, STATUS_RULINGS, status_ruled
from shared.core.ranking import Standing, further, rank
from shared.core.result import Result
from shared.core.rules import CategoryRules
from shared.core.rulings import (
    ENTRANT,
    FRAMING,
    HEAT,
    RUN,
    TIE,
    Rulings,
    Subject,
    frame_with,
    problem_of,
    subject_of,
)
from shared.core.run import END_OF_TIME_MS, Run, stamp_of
from shared.core.scoring import judge
from shared.core.timeline import Stamp, Timeline

Until = Callable[[Run], int]
"""To which instant since its start a run is folded."""

_OF_A_RUN: Final = ACTS | {EventType.RUN_TAKEN_OVER}
_OF_A_CLOCK: Final = frozenset({EventType.BOOT_STARTED, EventType.CLOCK_ANCHORED})


def end_of_time(run: Run) -> int:  # noqa: ARG001
    """Every run to its end: what ends by itself has ended."""
    return END_OF_TIME_MS


@dataclass(frozen=True, slots=True)
class CategoryStandings:
    """The ranking of one category."""

    id: str
    standings: tuple[Standing, ...]
    further: tuple[tuple[str, tuple[Standing, ...]], ...] = ()
    """Further rankings from the same race, by id."""


class Tournament:
    """Everything that is known, from any number of logs."""

    def __init__(
        self,
        categories: Mapping[str, CategoryRules],
        rules_of: Callable[[Event], CategoryRules | None] | None = None,
    ) -> None:
        """`rules_of` finds the rules of a start elsewhere than in `categories` (a table keeps its own)."""
        self.categories = categories
        self._rules_of = rules_of or (lambda start: categories.get(start.data["category"]))
        self.runs: dict[str, Run] = {}
        self.timeline = Timeline()
        self._seen: defaultdict[str, set[int]] = defaultdict(set)
        self._missing: defaultdict[str, dict[int, int]] = defaultdict(dict)
        """By log the last seq of each stretch that it could not give, by the first."""
        self._chronicles: dict[str, Chronicle] = {}
        self._over_boots: defaultdict[str, dict[str, Run]] = defaultdict(dict)
        """Runs that span boots, by each device that they were timed with."""
        self._heats: defaultdict[str, dict[str, Run]] = defaultdict(dict)
        self._rulings = Rulings()
        self.flags: Mapping[tuple[str, str], frozenset[str]] = {}
        """What is known of entrants by category and id: residents, guests, an age band, a team's size."""
        self._problems: list[Problem] = []

    # Folding ------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Fold one event, once. Total: what does not fit is kept and reported, never raised, never dropped."""
        kind, boot, mono_ms = event.type, event.boot, event.mono_ms
        if kind == EventType.RECORDS_MISSING:
            self._miss(event)
        else:
            seen = self._seen[event.log]
            if event.seq in seen:
                return
            seen.add(event.seq)
        news = boot is not None and mono_ms is not None and self.timeline.saw(boot, mono_ms)
        if kind in _OF_A_RUN and boot is not None:
            self._act(event)
        elif kind in RULINGS and event.device == HUB_DEVICE:
            self._rule(event)
        elif kind in _OF_A_CLOCK and boot is not None:
            news = self._relate(event) or news
        elif kind == EventType.CLOCK_ANCHORED:
            self._heard(event)
        elif kind != EventType.RECORDS_MISSING:
            self._remark(event)
        if news:
            for run in self._over_boots.get(event.device, {}).values():
                run.refold()

    def _act(self, event: Event) -> None:
        assert event.run is not None, "validated: acts carry a run id"
        run = self.runs.get(event.run)
        chronicle = self._chronicles.get(event.run)
        if chronicle is None:
            chronicle = self._chronicles[event.run] = Chronicle(event.run)
        if not chronicle.add(event):
            self._retell(chronicle, run)
        elif run is not None:
            run.apply(event)
            if event.boot != run.start.boot:
                self._note_boots(run, event)

    def _retell(self, chronicle: Chronicle, run: Run | None) -> None:
        if not chronicle.starts:
            return  # kept until a log tells of the start
        told, start = chronicle.told(), chronicle.starts[0]
        if run is not None and run.start is not start:
            self._forget(run)
            run = None
        if run is None:
            rules = self._rules_of(start)
            if rules is None:
                return
            run = self._begin(start, rules)
        run.retell(told)
        for act in told.acts:
            if act.boot != run.start.boot:
                self._note_boots(run, act)

    def _note_boots(self, run: Run, act: Event) -> None:
        self._over_boots[act.device][run.id] = run
        self._over_boots[run.start.device][run.id] = run

    def _begin(self, start: Event, rules: CategoryRules) -> Run:
        run = Run(start, rules, self.timeline)
        self.runs[run.id] = run
        if run.heat is not None:
            self._heats[run.heat][run.id] = run
        run.frame = frame_with(run.frame, self.rulings_on(run))
        return run

    def _forget(self, run: Run) -> None:
        """Another start with this id counts."""
        del self.runs[run.id]
        if run.heat is not None:
            del self._heats[run.heat][run.id]

    def _relate(self, event: Event) -> bool:
        """What an event says of the clocks; True if it is news."""
        stamp, data = stamp_of(event), event.data
        if event.type == EventType.CLOCK_ANCHORED:
            return self.timeline.anchored(stamp, data["hub_ms"], data["base"], data["error_ms"])
        previous = data["previous_boot"]
        return previous is not None and self.timeline.booted(stamp.boot, previous, data["alive_ms"])

    def _heard(self, event: Event) -> None:
        """The hub had heard of a table's new boot: it began no later. What it says of its own clock folds nothing."""
        boot, data = event.data.get("heard"), event.data
        if boot is None:
            return
        self.timeline.not_later(Stamp(boot, data.get("heard_ms", 0)), data["hub_ms"], data["base"])
        for runs in self._over_boots.values():
            for run in runs.values():
                run.refold()

    def _rule(self, ruling: Event) -> None:
        for changed in self._rulings.add(ruling):
            if changed.type in FRAMING:
                for run in self._runs_about(subject_of(changed)):
                    run.refold(frame_with(run.frame, self.rulings_on(run)))

    def rule_anew(self, rulings: Iterable[Event]) -> None:
        """Only these rulings are given, whatever was before: a table is told the whole list each time."""
        self._rulings = Rulings()
        for ruling in rulings:
            self._rulings.add(ruling)
        for run in self.runs.values():
            frame = frame_with(run.frame, self.rulings_on(run))
            if frame != run.frame:
                run.refold(frame)

    def _runs_about(self, subject: Subject) -> list[Run]:
        if subject[0] == RUN:
            return [self.runs[subject[1]]] if subject[1] in self.runs else []
        return list(self._heats[subject[1]].values()) if subject[0] == HEAT else []

    def _remark(self, event: Event) -> None:
        """What folds nothing: told if it should not be there."""
        if event.type in RULINGS:
            self._report("ruling_from_a_table", event, type=str(event.type))
        elif event.type not in KNOWN_TYPES:
            self._report("unknown_type", event, type=event.type)
        elif event.type != EventType.PRESS_REFUSED:
            self._report("act_from_the_hub", event, type=str(event.type))

    def _report(self, code: str, event: Event, **detail: object) -> None:
        self._problems.append(Problem(code, Level.WARNING, event.log, event.seq, event.run, detail))

    def _miss(self, event: Event) -> None:
        """Seqs of a log are missing; each may still come, the first of them too, and then it is missing no more."""
        missing = self._missing[event.log]
        missing[event.seq] = max(missing.get(event.seq, 0), event.data["to"])

    def _still_missing(self) -> Iterator[Problem]:
        for log, missing in self._missing.items():
            seen = self._seen.get(log, set())
            for seq, to in missing.items():
                if to - seq >= len(seen) or not all(each in seen for each in range(seq, to + 1)):
                    yield Problem("records_missing", Level.WARNING, log, seq, None, {"to": to})

    # Reading ------------------------------------------------------------------------------------------

    @property
    def problems(self) -> list[Problem]:
        """What stands on no line of the standings: about logs, about runs without a result, idle rulings."""
        idle = self._rulings.problems(self._has_result, self._has_heat, self.categories)
        found = [*self._problems, *self._still_missing(), *self._of_runs_without_result(), *idle]
        return sorted(found, key=lambda p: (p.log or "", p.seq or 0, p.code))

    def _of_runs_without_result(self) -> Iterator[Problem]:
        for run_id, chronicle in self._chronicles.items():
            run = self.runs.get(run_id)
            if run is None:
                yield from chronicle.told().problems
                for start in chronicle.starts[:1]:
                    detail = {"category": start.data["category"]}
                    yield Problem("unknown_category", Level.WARNING, start.log, start.seq, run_id, detail)
            elif not run.started:
                yield from run.problems

    def _has_result(self, run_id: str) -> bool:
        run = self.runs.get(run_id)
        return run is not None and run.started

    def _has_heat(self, heat: str) -> bool:
        return bool(self._heats.get(heat))

    def supposing(self, ruling: Event) -> Self:
        """What would be if this ruling were given too: to be asked, not to be told any more."""
        other = copy(self)
        other._rulings, other.runs = self._rulings.copied(), dict(self.runs)
        for changed in other._rulings.add(ruling):
            if changed.type in FRAMING:
                for run in self._runs_about(subject_of(changed)):
                    other.runs[run.id] = again = Run(run.start, run.frame.rules, self.timeline)
                    again.frame = frame_with(again.frame, other.rulings_on(run))
                    again.retell(self._chronicles[run.id].told())
        return other

    def rulings_in_force(self) -> list[Event]:
        """Every ruling in force, in order."""
        return self._rulings.in_force()

    def rulings_about(self, *subjects: Subject) -> list[Event]:
        """The rulings in force about any of these, in order."""
        return self._rulings.about(*subjects)

    def rulings_on(self, run: Run) -> list[Event]:
        """The rulings in force on one run, in order."""
        if run.heat is None:
            return self._rulings.about((RUN, run.id))
        return self._rulings.about((RUN, run.id), (HEAT, run.heat))

    def result(self, run: Run, t_ms: int = END_OF_TIME_MS) -> Result | None:
        """A run judged, its rulings laid over it; None for a run whose start was undone."""
        rulings = self.rulings_on(run)
        result = judge(run, rulings, t_ms)
        if result is None:
            return None
        absent = self._rulings.about((ENTRANT, result.category, result.entrant or ""))
        if absent and not run.practice:
            told = [problem_of("did_not_start_but_has_a_run", ruling, run.id) for ruling in absent]
            result = replace(result, problems=(*result.problems, *told))
            rulings = self._rulings.in_order([*rulings, *absent])
        return status_ruled(result, rulings)

    def settled(self, run: Run, t_ms: int) -> bool:
        """Whether a ruling has ended a run that its table has not: a status, a time, a count after the limit."""
        if not self.rulings_on(run):
            return False
        result = self.result(run, t_ms)
        if result is None:
            return False
        counted = result.pieces is not None and run.at(t_ms).state is State.TIME_UP
        return counted or result.status in RULED or Mark.MANUAL in result.marks

    def voided(self, run: Run) -> bool:
        """Whether the last ruling on a run's status voided it."""
        ruled = [r.type for r in self.rulings_on(run) if r.type in STATUS_RULINGS]
        return bool(ruled) and ruled[-1] == EventType.RUN_VOIDED

    def results(self, until: Until = end_of_time) -> list[Result]:
        """Every run with a result."""
        judged = (self.result(run, until(run)) for run in self.runs.values())
        return [result for result in judged if result is not None]

    def standings(self, until: Until = end_of_time) -> list[CategoryStandings]:
        """Every category's ranking, in the rulebook's order."""
        by_category: defaultdict[str, list[Result]] = defaultdict(list)
        for result in self.results(until):
            by_category[result.category].append(result)
        compare = start_order(self.runs, self.timeline)
        absent = self._rulings.subjects(ENTRANT)
        standings = []
        for rules in self.categories.values():
            lines = lines_of(by_category[rules.id], compare)
            here = {r.entrant for r in by_category[rules.id] if not self.runs[r.run].practice}
            lines += [
                Result("", rules.id, entrant, 0, Status.DNS)
                for _, category, entrant in absent
                if category == rules.id and entrant not in here
            ]
            ties = [ruling.data["order"] for ruling in self._rulings.about((TIE, rules.id))]
            ranked = rank([self._as_guest(line, rules) for line in lines], rules, ties)
            others = ((r.id, tuple(further(ranked, self._flagged(rules.id, r.flag)))) for r in rules.rankings)
            standings.append(CategoryStandings(rules.id, tuple(ranked), tuple(others)))
        return standings

    def _flagged(self, category: str, flag: str) -> Callable[[str], bool]:
        return lambda entrant: flag in self.flags.get((category, entrant), ())

    def _as_guest(self, line: Result, rules: CategoryRules) -> Result:
        """A guest is timed and not ranked."""
        if rules.guests is None or not self._flagged(rules.id, rules.guests)(line.entrant or ""):
            return line
        return replace(line, marks=(*line.marks, Mark.OUT_OF_COMPETITION))
