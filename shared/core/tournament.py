"""All logs of a tournament, folded as they come: runs, rulings on them, standings.

Incremental: an act folds one step, a ruling or a late anchor folds one run again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from shared.core.events import ACTS, KNOWN_TYPES, RULINGS, Event, EventType
from shared.core.model import Level, Mark, Problem, Status
from shared.core.ranking import Standing, rank
from shared.core.rules import CategoryRules
from shared.core.rulings import concerns, frame_with, in_force
from shared.core.run import END_OF_TIME_MS, Run, stamp_of
from shared.core.scoring import Result, judge, status_ruled
from shared.core.timeline import Timeline

Until = Callable[[Run], int]
"""To which instant since its start a run is folded."""


def end_of_time(run: Run) -> int:  # noqa: ARG001
    """Every run to its end: what ends by itself has ended."""
    return END_OF_TIME_MS


@dataclass(frozen=True, slots=True)
class CategoryStandings:
    """The ranking of one category."""

    id: str
    standings: tuple[Standing, ...]


class Tournament:
    """Everything that is known, from any number of logs; each log's events in the order of its `seq`."""

    def __init__(
        self,
        categories: Mapping[str, CategoryRules],
        rules_of: Callable[[Event], CategoryRules | None] | None = None,
    ) -> None:
        """`rules_of` finds the rules of a start elsewhere than in `categories` (a table keeps its own)."""
        self.categories = categories
        self._rules_of = rules_of or (lambda start: categories.get(start.data["category"]))
        self.runs: dict[str, Run] = {}
        self.problems: list[Problem] = []
        self.timeline = Timeline()
        self._rulings: defaultdict[str, list[Event]] = defaultdict(list)
        self._taken_over: dict[str, str] = {}

    def apply(self, event: Event) -> None:
        """Fold one event. Total: what does not fit is kept and reported, never raised, never dropped."""
        if event.boot is not None:
            self.timeline.saw(stamp_of(event))
        if event.type in RULINGS:
            self._rule(event)
        elif event.type == EventType.RUN_STARTED:
            self._start(event)
        elif event.type in ACTS:
            self._act(event)
        elif event.type == EventType.BOOT_STARTED:
            if event.boot is not None and event.data["previous_boot"] is not None:
                self.timeline.booted(event.boot, event.data["previous_boot"], event.data["alive_ms"])
        elif event.type == EventType.CLOCK_ANCHORED:
            self._anchor(event)
        elif event.type == EventType.RUN_TAKEN_OVER:
            self._take_over(event)
        elif event.type == EventType.RECORDS_MISSING:
            self._report("records_missing", event, to=event.data["to"])
        elif event.type not in KNOWN_TYPES:
            self._report("unknown_type", event, type=event.type)

    def _report(self, code: str, event: Event, **detail: object) -> None:
        self.problems.append(Problem(code, Level.WARNING, event.log, event.seq, event.run, detail))

    def _start(self, event: Event) -> None:
        assert event.run is not None, "validated: run_started carries a run id"
        rules = self._rules_of(event)
        if event.boot is None:
            self._report("act_from_the_hub", event, type=str(event.type))
        elif event.run in self.runs:
            self._report("run_id_used_twice", event)
        elif rules is None:
            self._report("unknown_category", event, category=event.data["category"])
        else:
            if event.data.get("rules") not in (None, rules.digest()):
                self._report("rules_differ", event, category=rules.id)
            run = Run(event, rules, self.timeline)
            self.runs[run.id] = run
            self._reframe(run)

    def _act(self, event: Event) -> None:
        run = self.runs.get(event.run or "")
        if event.boot is None:
            self._report("act_from_the_hub", event, type=str(event.type))
        elif run is None:
            self._report("act_without_start", event, type=str(event.type))
        elif self._taken_over.get(run.id, event.log) != event.log:
            self._report("superseded", event, type=str(event.type))
        else:
            run.apply(event)

    def _take_over(self, event: Event) -> None:
        run = self.runs.get(event.run or "")
        if run is None:
            self._report("act_without_start", event, type=str(event.type))
            return
        self._taken_over[run.id] = event.log
        kept = [a for a in run.acts if a.log != event.data["from_log"] or a.seq <= event.data["from_seq"]]
        if len(kept) != len(run.acts):
            run.acts = kept
            run.refold()

    def _anchor(self, event: Event) -> None:
        stamp = stamp_of(event)
        data = event.data
        if self.timeline.anchored(stamp, data["hub_ms"], data["base"], data["error_ms"]):
            for run in self.runs.values():
                if run.inexact:
                    run.refold()

    def _rule(self, ruling: Event) -> None:
        self._rulings[ruling.log].append(ruling)
        if ruling.run is not None and ruling.run not in self.runs:
            return
        for run in self._touched(ruling):
            self._reframe(run)

    def _touched(self, ruling: Event) -> Iterable[Run]:
        if ruling.type == EventType.RULING_REVOKED or ruling.run is None:
            return self.runs.values()
        return (self.runs[ruling.run],)

    def _reframe(self, run: Run) -> None:
        frame = frame_with(run.frame, self.rulings_on(run))
        if frame != run.frame:
            run.refold(frame)

    def rulings(self) -> list[Event]:
        """All rulings in force, hub log by hub log, in their order."""
        return [r for log in sorted(self._rulings) for r in in_force(self._rulings[log])]

    def rulings_on(self, run: Run) -> list[Event]:
        """The rulings in force on one run."""
        return [r for r in self.rulings() if concerns(r, run.id, run.heat)]

    def result(self, run: Run, t_ms: int = END_OF_TIME_MS) -> Result | None:
        """A run judged, its rulings laid over it."""
        rulings = self.rulings_on(run) if self._rulings else []
        result = judge(run, rulings, t_ms)
        return None if result is None else status_ruled(result, rulings)

    def results(self, until: Until = end_of_time) -> list[Result]:
        """Every run with a result."""
        rulings = self.rulings()
        by_run: defaultdict[str, list[Event]] = defaultdict(list)
        for ruling in rulings:
            if ruling.run is not None:
                by_run[ruling.run].append(ruling)
        judged = []
        for run in self.runs.values():
            result = judge(run, by_run[run.id], until(run))
            if result is not None:
                judged.append(status_ruled(result, by_run[run.id]))
        return judged

    def standings(self, until: Until = end_of_time) -> list[CategoryStandings]:
        """Every category's ranking, in the rulebook's order."""
        by_category: defaultdict[str, list[Result]] = defaultdict(list)
        for result in self.results(until):
            by_category[result.category].append(result)
        rulings = self.rulings()
        ties = [(r.data["category"], r.data["order"]) for r in rulings if r.type == EventType.TIE_BROKEN]
        absent = [r for r in rulings if r.type == EventType.DID_NOT_START]
        out = []
        for rules in self.categories.values():
            results = _one_line_each(by_category[rules.id], self.runs)
            results = _with_absent(results, [r for r in absent if r.data["category"] == rules.id])
            order = [entrants for category, entrants in ties if category == rules.id]
            out.append(CategoryStandings(rules.id, tuple(rank(results, rules, order))))
        return out


def _one_line_each(results: Iterable[Result], runs: Mapping[str, Run]) -> list[Result]:
    """Of two live runs of one entrant a finished one counts, then the earlier start; a void one is hidden."""
    by_entrant: defaultdict[str, list[Result]] = defaultdict(list)
    lines: list[Result] = []
    for result in results:
        if result.entrant is None or Mark.PRACTICE in result.marks:
            lines.append(result)
        else:
            by_entrant[result.entrant].append(result)
    for mine in by_entrant.values():
        live = [r for r in mine if r.status is not Status.VOID]
        if not live:
            lines.append(mine[-1])
            continue
        live.sort(key=lambda r: (r.status is not Status.FINISHED, *_start_order(runs[r.run])))
        if len(mine) > len(live):
            live[0] = replace(live[0], marks=(*live[0].marks, Mark.RERUN))
        lines.append(live[0])
        lines += [replace(r, marks=(*r.marks, Mark.TWO_RUNS)) for r in live[1:]]
    return lines


def _start_order(run: Run) -> tuple[int, str, int]:
    # Wall time is only a label, but it is all that orders the starts of two tables without anchors.
    return run.start.wall_ms or 0, run.start.log, run.start.seq


def _with_absent(results: list[Result], absent: Iterable[Event]) -> list[Result]:
    """Entrants ruled not to have started: a line of their own, or the status of the run they have."""
    out = list(results)
    for ruling in absent:
        entrant = ruling.data["entrant"]
        mine = [i for i, r in enumerate(out) if r.entrant == entrant]
        for i in mine:
            if out[i].status is not Status.DNS:
                problem = Problem("did_not_start_but_has_a_run", Level.WARNING, ruling.log, ruling.seq)
                out[i] = replace(out[i], status=Status.DNS, problems=(*out[i].problems, problem))
        if not mine:
            out.append(Result("", ruling.data["category"], entrant, 0, Status.DNS))
    return out
