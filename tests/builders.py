"""Logs as a judge would tell them: `log("adulto").start(5_000).pause(605_000).finish(2_705_000)`.

Times are milliseconds of the table's clock in its boot, as in the events themselves.
"""

from __future__ import annotations

from typing import Any, Self

from shared.core.events import Event, EventType
from shared.core.result import Result
from shared.core.rules import CategoryRules
from shared.core.tournament import Tournament
from shared.rulebook import shipped_rulebook

TORNEO = shipped_rulebook("torneo-puzzles-2026").categories
CASTRILLO = shipped_rulebook("castrillo-2023").categories
MINUTE = 60_000
HOUR = 60 * MINUTE


class TableLog:
    """The log of one table."""

    def __init__(
        self, category: str, run: str, *, log: str, device: str, boot: str, entrant: str | None
    ) -> None:
        self.category = category
        self.run = run
        self.log = log
        self.device = device
        self.boot = boot
        self.entrant = entrant
        self.events: list[Event] = []

    @property
    def seq(self) -> int:
        """Of the last event."""
        return self.events[-1].seq if self.events else 0

    def write(
        self, kind: str, ms: int, *, run: str | None = None, wall_ms: int | None = None, **data: Any
    ) -> Self:
        self.events.append(
            Event(self.device, self.log, self.seq + 1, kind, self.boot, ms, wall_ms, run, data)
        )
        return self

    def _act(self, kind: EventType, ms: int, **data: Any) -> Self:
        return self.write(kind, ms, run=self.run, **data)

    def start(self, ms: int = 0, *, wall_ms: int | None = None, table: int = 1, **data: Any) -> Self:
        more = {"entrant": self.entrant, "category": self.category, "table": table} | data
        return self.write(EventType.RUN_STARTED, ms, run=self.run, wall_ms=wall_ms, **more)

    def next_run(self, run: str, *, entrant: str | None = None) -> Self:
        """What follows is another run."""
        self.run, self.entrant = run, entrant or self.entrant
        return self

    def pause(self, ms: int) -> Self:
        return self._act(EventType.PAUSE_STARTED, ms)

    def resume(self, ms: int) -> Self:
        return self._act(EventType.PAUSE_ENDED, ms)

    def assist(self, ms: int) -> Self:
        return self._act(EventType.ASSIST_STARTED, ms)

    def end_assist(self, ms: int) -> Self:
        return self._act(EventType.ASSIST_ENDED, ms)

    def step(self, *at_ms: int) -> Self:
        for ms in at_ms:
            self._act(EventType.STEP_SOLVED, ms)
        return self

    def hint(self, ms: int) -> Self:
        return self._act(EventType.HINT_GIVEN, ms)

    def solution(self, ms: int) -> Self:
        return self._act(EventType.SOLUTION_GIVEN, ms)

    def finish(self, ms: int) -> Self:
        return self._act(EventType.RUN_FINISHED, ms)

    def accept(self, ms: int, **data: Any) -> Self:
        return self._act(EventType.FINISH_ACCEPTED, ms, **data)

    def reject(self, ms: int) -> Self:
        return self._act(EventType.FINISH_REJECTED, ms)

    def count(self, ms: int, pieces: int) -> Self:
        return self._act(EventType.PIECES_COUNTED, ms, pieces=pieces)

    def dismiss(self, ms: int) -> Self:
        return self._act(EventType.NOTICE_DISMISSED, ms)

    def undo(self, ms: int, seq: int | None = None) -> Self:
        """Take back an act by its seq, the last event if none is named."""
        return self._act(EventType.ACT_UNDONE, ms, undone=self.seq if seq is None else seq)

    def reboot(self, boot: str, *, alive_ms: int) -> Self:
        """The table starts again; the boot before was seen alive at `alive_ms`."""
        previous, self.boot = self.boot, boot
        return self.write(EventType.BOOT_STARTED, 0, previous_boot=previous, alive_ms=alive_ms)

    def anchor(self, ms: int, hub_ms: int, *, base: str = "hub-boot-1", error_ms: int = 5) -> Self:
        return self.write(EventType.CLOCK_ANCHORED, ms, hub_ms=hub_ms, base=base, error_ms=error_ms)

    def take_over(self, ms: int, from_log: str, from_seq: int) -> Self:
        return self._act(EventType.RUN_TAKEN_OVER, ms, from_log=from_log, from_seq=from_seq)


def log(
    category: str = "adulto",
    run: str = "r1",
    *,
    name: str = "log-1",
    device: str = "t01",
    boot: str = "b1",
    entrant: str | None = "e1",
) -> TableLog:
    """An empty log of a table where this run is played."""
    return TableLog(category, run, log=name, device=device, boot=boot, entrant=entrant)


class HubLog:
    """The log of the hub: rulings."""

    def __init__(self, name: str, first_ms: int) -> None:
        self.log = name
        self.first_ms = first_ms
        self.events: list[Event] = []

    def rule(self, kind: EventType, run: str | None = None, **data: Any) -> Self:
        seq = len(self.events) + 1
        why = {"reason": "because", "by": "judge"}
        self.events.append(
            Event("hub", self.log, seq, kind, None, None, self.first_ms + seq, run, why | data)
        )
        return self

    def penalty(self, seconds: int, run: str = "r1") -> Self:
        return self.rule(EventType.PENALTY_GIVEN, run, seconds=seconds)

    def pieces(self, pieces: int, run: str = "r1") -> Self:
        return self.rule(EventType.PIECES_CORRECTED, run, pieces=pieces)

    def puzzle(self, pieces: int, run: str = "r1") -> Self:
        return self.rule(EventType.PUZZLE_PIECES_SET, run, pieces=pieces)

    def time(self, seconds: int, run: str = "r1") -> Self:
        return self.rule(EventType.TIME_SET, run, seconds=seconds)

    def grant(self, seconds: int, run: str | None = None, *, heat: str | None = None) -> Self:
        return self.rule(EventType.TIME_GRANTED, run, seconds=seconds, heat=heat)

    def disqualify(self, run: str = "r1") -> Self:
        return self.rule(EventType.DISQUALIFIED, run)

    def unfinished(self, run: str = "r1") -> Self:
        return self.rule(EventType.DID_NOT_FINISH, run)

    def void(self, run: str = "r1") -> Self:
        return self.rule(EventType.RUN_VOIDED, run)

    def absent(self, entrant: str = "e1", category: str = "adulto") -> Self:
        return self.rule(EventType.DID_NOT_START, category=category, entrant=entrant)

    def reopen(self, run: str = "r1") -> Self:
        return self.rule(EventType.RUN_REOPENED, run)

    def reassign(self, run: str = "r1", **data: Any) -> Self:
        return self.rule(EventType.RUN_REASSIGNED, run, **data)

    def tie(self, *order: str, category: str = "adulto") -> Self:
        return self.rule(EventType.TIE_BROKEN, category=category, order=list(order))

    def heard(self, boot: str, ms: int, hub_ms: int, *, base: str = "hub-boot-1") -> Self:
        """By then the hub had heard of this instant of a table's boot."""
        read: dict[str, Any] = {"hub_ms": hub_ms, "base": base, "error_ms": 0, "heard": boot, "heard_ms": ms}
        return self.rule(EventType.CLOCK_ANCHORED, **read)

    def revoke(self, seq: int | None = None, of_log: str | None = None) -> Self:
        """Take back a ruling by its seq, the last one if none is named; of another log if that is named."""
        where = {} if of_log is None else {"of_log": of_log}
        return self.rule(EventType.RULING_REVOKED, ruling=len(self.events) if seq is None else seq, **where)


def hub(name: str = "hub-1", *, first_ms: int = 1_000_000) -> HubLog:
    """An empty log of the hub, its rulings dated from `first_ms` on."""
    return HubLog(name, first_ms)


def tournament(*logs: TableLog | HubLog, rules: dict[str, CategoryRules] | None = None) -> Tournament:
    """These logs folded, one after another."""
    folded = Tournament((TORNEO | {"parejas": CASTRILLO["parejas"]}) if rules is None else rules)
    for one in logs:
        for event in one.events:
            folded.apply(event)
    return folded


def result(*logs: TableLog | HubLog, rules: dict[str, CategoryRules] | None = None) -> Result:
    """The result of the one run in these logs."""
    (only,) = tournament(*logs, rules=rules).results()
    return only


def codes(judged: Result | Tournament) -> list[str]:
    """The codes of a line's, or of the whole tournament's, problems."""
    return [problem.code for problem in judged.problems]
