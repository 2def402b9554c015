"""How fast the sport itself is folded, ranked and scored."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

from shared.core.events import Event, EventType
from shared.core.model import Status
from shared.core.ranking import rank
from shared.core.scoring import Result
from shared.core.tournament import Tournament
from shared.rulebook import shipped_rulebook
from tests.bench.figures import Figure, figure

E = EventType
RULEBOOK = shipped_rulebook("torneo-puzzles-2026")
_ACTS = (
    (E.RUN_STARTED, 0),
    (E.PAUSE_STARTED, 400_000),
    (E.PAUSE_ENDED, 500_000),
    (E.ASSIST_STARTED, 600_000),
    (E.ASSIST_ENDED, 700_000),
    (E.RUN_FINISHED, 2_000_000),
    (E.FINISH_REJECTED, 2_010_000),
    (E.PAUSE_STARTED, 2_100_000),
    (E.PAUSE_ENDED, 2_200_000),
    (E.RUN_FINISHED, 3_000_000),
    (E.FINISH_ACCEPTED, 3_010_000),
)


def a_run(number: int, chance: random.Random) -> list[Event]:
    """The events of one run in a log of its own."""
    shift = chance.randrange(0, 60_000)
    run, log = f"run-{number}", f"log-{number}"
    start = {"entrant": f"e{number}", "category": "adulto", "table": number + 1}
    events = []
    for seq, (kind, at_ms) in enumerate(_ACTS, start=1):
        mono_ms = at_ms + shift if seq > 1 else 0
        data = start if seq == 1 else {}
        events.append(Event(f"t{number}", log, seq, kind, f"boot-{number}", mono_ms, None, run, data))
    return events


def folding(runs: int = 1000) -> Figure:
    """One event folded, the hub holding `runs` runs."""
    chance = random.Random(7)
    logs = [a_run(n, chance) for n in range(runs)]
    events = [log[i] for i in range(len(_ACTS)) for log in logs]
    tournament = Tournament(RULEBOOK.categories)
    samples = []
    for event in events:
        began = time.perf_counter_ns()
        tournament.apply(event)
        samples.append((time.perf_counter_ns() - began) / 1000)
    return figure("fold one event", "us", samples, target=10)


def ranking(entrants: int = 1000, rounds: int = 50) -> Figure:
    """The standings of one category from its results."""
    chance = random.Random(7)
    rules = RULEBOOK.categories["adulto"]
    results = []
    for n in range(entrants):
        done = chance.random() < 0.6
        seconds = chance.randrange(1500, 9000)
        status = Status.FINISHED if done else Status.UNFINISHED
        results.append(
            Result(
                f"r{n}", rules.id, f"e{n}", n, status, official_s=seconds, pieces=None if done else n % 200
            )
        )
    samples = []
    for _ in range(rounds):
        began = time.perf_counter_ns()
        rank(results, rules)
        samples.append((time.perf_counter_ns() - began) / 1e6)
    return figure(f"rank {entrants} entrants", "ms", samples, target=5)


def scoring(folder: Path, runs: int = 1000, rounds: int = 5) -> Figure:
    """The whole command `timer-hub score` on one file of runs."""
    chance = random.Random(7)
    path = folder / "score.jsonl"
    events = [event for n in range(runs) for event in a_run(n, chance)]
    path.write_text("".join(json.dumps(e.as_json()) + "\n" for e in events))
    samples = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-P", "-m", "hub.cli", "score", "torneo-puzzles-2026", str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        samples.append(time.perf_counter() - began)
    return figure(f"timer-hub score, {runs} runs", "s", samples, target=1.5)
