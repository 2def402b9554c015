"""How a run may have gone: tried out against every length of the unknown gap."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

import pytest

from shared.core.events import EventType
from shared.core.model import Mark
from shared.core.result import Result
from tests.builders import MINUTE, TableLog, log, result, tournament

E = EventType
S: Final = 1000
DAY: Final = 10**9
GAPS: Final = 50
_SOLO: Final = (
    E.PAUSE_STARTED,
    E.PAUSE_ENDED,
    E.ASSIST_STARTED,
    E.ASSIST_ENDED,
    E.RUN_FINISHED,
    E.FINISH_REJECTED,
)
_PAIR: Final = (
    E.HINT_GIVEN,
    E.SOLUTION_GIVEN,
    E.STEP_SOLVED,
    E.STEP_SOLVED,
    E.RUN_FINISHED,
    E.FINISH_REJECTED,
)


class Played(NamedTuple):
    """A run over three boots of which the hub never saw the second."""

    category: str
    first_until_ms: int
    second_for_ms: int
    third_at_ms: int
    acts: Sequence[tuple[int, int, EventType]]
    """Boot, milliseconds in it, what was pressed."""

    def log(self, second_at_ms: int | None = None, *, met_third: bool = True) -> TableLog:
        """What the table wrote; had it met the hub in its second boot too, which began then, all is exact."""
        table = log(self.category).start(0).anchor(0, DAY)
        for boot in (1, 2, 3):
            if boot == 2:
                table.reboot("b2", alive_ms=self.first_until_ms)
                if second_at_ms is not None:
                    table.anchor(0, DAY + second_at_ms)
            elif boot == 3:
                table.reboot("b3", alive_ms=self.second_for_ms)
                if met_third:
                    table.anchor(0, DAY + self.third_at_ms)
            for of, ms, kind in self.acts:
                if of == boot:
                    more = {"pieces": 5} if kind == E.PIECES_COUNTED else {}
                    table.write(kind, ms, run="r1", **more)
        return table

    def gaps(self, chance: Random) -> list[int]:
        """When the second boot may have begun."""
        ends = self.first_until_ms, self.third_at_ms - self.second_for_ms
        return [*ends, *(chance.randint(*ends) for _ in range(GAPS - 2))]


def played(chance: Random) -> Played:
    """A run as a table lets it be played: what it refuses is not in its log."""
    category = chance.choice(["adulto", "parejas"])
    total_ms = chance.randint(20 * MINUTE, (125 if category == "adulto" else 178) * MINUTE)
    first_until_ms = chance.randint(5 * MINUTE, total_ms // 2)
    third_at_ms = total_ms - chance.randint(MINUTE, 8 * MINUTE)
    off_ms = third_at_ms - first_until_ms
    second_for_ms = chance.randint(1, min(15 * MINUTE, off_ms))
    kinds = _SOLO if category == "adulto" else _PAIR

    def some(boot: int, first_ms: int, last_ms: int, most: int) -> list[tuple[int, int, EventType]]:
        times = sorted(chance.randint(first_ms, last_ms) for _ in range(chance.randint(0, most)))
        return [(boot, ms, chance.choice(kinds)) for ms in times]

    end_ms = total_ms - third_at_ms
    acts = [
        *some(1, 130 * S, first_until_ms, 4),
        *some(2, 0, second_for_ms, 5),
        *some(3, 0, end_ms, 3),
        (3, end_ms, E.RUN_FINISHED),
        (3, end_ms + 1, E.FINISH_ACCEPTED),
        (3, end_ms + MINUTE, E.PIECES_COUNTED),
    ]
    while True:
        one = Played(category, first_until_ms, second_for_ms, third_at_ms, acts)
        judged = tournament(one.log())
        refused = [p.seq for r in judged.results() for p in r.problems if p.code == "act_refused"]
        if not refused:
            return one
        written = [e for e in one.log().events if e.type in {kind for _, _, kind in acts}]
        index = next(i for i, e in enumerate(written) if e.seq == refused[0])
        acts = acts[:index] + acts[index + 1 :]


def shown(judged: Result) -> tuple[object, ...]:
    return (
        judged.status,
        judged.official_s,
        judged.raw_s,
        judged.assist_s,
        judged.stage_s,
        judged.pieces,
    )


def check(judged: Result, truth: Result) -> None:
    """What was judged without knowing the gap says nothing that is not true."""
    assert Mark.INTERRUPTED not in truth.marks
    if Mark.INTERRUPTED not in judged.marks:
        assert shown(judged) == shown(truth)
    elif truth.official_s is None:
        assert judged.high_s is None
    else:
        assert judged.low_s is not None
        assert judged.low_s <= truth.official_s
        assert judged.high_s is None or truth.official_s <= judged.high_s


#: Where bounds that looked only at the shortest and the longest gap were too narrow, or too sure.
TREACHEROUS: Final = (114, 181, 420, 438, 468, 484, 599, 730, 731)


@pytest.mark.parametrize("seed", [*range(60), *TREACHEROUS])
def test_whatever_the_gap_was_the_result_lies_within_the_bounds(seed: int) -> None:
    chance = Random(seed)
    run = played(chance)
    judged = result(run.log())
    truths = [result(run.log(at_ms)) for at_ms in run.gaps(chance)]
    for truth in truths:
        check(judged, truth)


@pytest.mark.parametrize("seed", range(30))
def test_whatever_two_gaps_were_the_result_lies_within_the_bounds(seed: int) -> None:
    chance = Random(seed)
    run = played(chance)
    judged = result(run.log(met_third=False))
    for _ in range(GAPS):
        second_at_ms = run.first_until_ms + chance.choice([0, chance.randint(0, 90 * MINUTE)])
        third_at_ms = second_at_ms + run.second_for_ms + chance.choice([0, chance.randint(0, 90 * MINUTE)])
        check(judged, result(run._replace(third_at_ms=third_at_ms).log(second_at_ms)))
