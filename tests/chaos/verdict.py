"""What must hold after everything was mended: the journals, the hub's database and the standings compared."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hub.logs import read_logs
from shared.core.events import Event, EventType
from tests.chaos.arena import RULEBOOK, Arena, entrant
from tests.chaos.eyes import Seen

Identity = tuple[str, int]


class Verdict:
    """The three numbers that must be 0, with a sentence for each thing that was found."""

    def __init__(self) -> None:
        self.runs = 0
        self.events = 0
        self.seen = 0
        """Final results that somebody read off the displays."""
        self.lost: list[str] = []
        self.duplicated: list[str] = []
        self.wrong: list[str] = []

    @property
    def good(self) -> bool:
        """Whether nothing was found."""
        return not (self.lost or self.duplicated or self.wrong)


def drained(arena: Arena) -> bool:
    """Whether no run is in play and the hub has everything there is."""
    tables = (arena.get("/api/v1/tables") or {"tables": []})["tables"]
    quiet = [t for t in tables if t["state"] in ("ready", "sealed") and t["online"] and t["unsent"] == 0]
    if len(quiet) < len(arena.tables):
        return False
    journals, _ = read_logs(arena.journals)
    return {event.key for event in journals} <= set(stored(arena.database))


def stored(database: Path) -> dict[Identity, list[dict[str, Any]]]:
    """The devices' events in the hub's database."""
    found: dict[Identity, list[dict[str, Any]]] = {}
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        for log, seq, payload in connection.execute("select log, seq, payload from events"):
            found.setdefault((log, seq), []).append(json.loads(payload))
    finally:
        connection.close()
    return found


def judged(arena: Arena) -> Verdict:
    """Compare everything; the hub must still answer."""
    verdict = Verdict()
    journals, problems = read_logs(arena.journals)
    hub = stored(arena.database)
    verdict.events = len(journals)
    verdict.runs = len({event.run for event in journals if event.type == EventType.RUN_STARTED})
    verdict.wrong += [f"a journal has a problem: {p.as_json()}" for p in problems]
    _compare_events(verdict, {event.key: event for event in journals}, hub)
    _compare_what_was_sent(verdict, arena, {event.key: event for event in journals})
    _compare_acks(verdict, arena, journals)
    standings = arena.get("/api/v1/standings")
    if standings is None:
        verdict.wrong.append("the hub gives no standings")
        return verdict
    twice = standings["revision"] - len(hub)
    verdict.duplicated += [f"the hub has folded {twice} events more than it has"] if twice else []
    _compare_standings(verdict, arena, standings)
    _compare_what_was_seen(verdict, arena.eyes.seen, standings)
    verdict.wrong += list(_tracebacks(arena))
    return verdict


def _compare_events(verdict: Verdict, journals: dict[Identity, Event], hub: dict[Identity, Any]) -> None:
    for identity, event in journals.items():
        rows = hub.get(identity, [])
        if not rows:
            verdict.lost.append(f"{identity} {event.type} is not in the hub")
        elif rows[0] != event.as_json():
            verdict.wrong.append(f"{identity} is another event in the hub")
        verdict.duplicated += [f"{identity} is {len(rows)} times in the hub"] if len(rows) > 1 else []
    for identity in hub.keys() - journals.keys():
        if not identity[0].startswith("hub-"):
            verdict.lost.append(f"{identity} is in the hub and in no journal")
    presses = Counter((e.run, e.type, e.boot, e.mono_ms) for e in journals.values() if e.run is not None)
    verdict.duplicated += [f"one press, {n} events: {press}" for press, n in presses.items() if n > 1]


def _compare_what_was_sent(verdict: Verdict, arena: Arena, journals: dict[Identity, Event]) -> None:
    for identity, event in arena.witness.events.items():
        if identity not in journals:
            verdict.lost.append(f"{identity} was sent and is in no journal")
        elif journals[identity].as_json() != event:
            verdict.wrong.append(f"{identity} was sent as another event")
    verdict.wrong += [f"{found} was sent as two events" for found in arena.witness.contradictions]


def _compare_acks(verdict: Verdict, arena: Arena, journals: list[Event]) -> None:
    """What a table holds for acknowledged is in its journal."""
    newest = {event.log: event.seq for event in journals}
    for path in (arena.folder / "tables").glob("*/delivery.json"):
        for cursor in json.loads(path.read_bytes()):
            if cursor["seq"] > newest.get(cursor["log"], 0):
                verdict.lost.append(f"{path.parent.name} holds {cursor} for acknowledged and has it not")


def _compare_standings(verdict: Verdict, arena: Arena, hub: dict[str, Any]) -> None:
    files = [str(path) for path in arena.journals]
    scored = json.loads(arena.command("score", RULEBOOK, *files))
    names = (
        "rank",
        "entrant",
        "table",
        "status",
        "official_s",
        "raw_s",
        "assist_s",
        "pieces",
        "marks",
        "problems",
    )
    for ours, theirs in zip(hub["categories"], scored["categories"], strict=True):
        pairs = zip(_lines(ours, names), _lines(theirs, names), strict=False)
        verdict.wrong += [f"the hub says {a}, the journals {b}" for a, b in pairs if a != b]
        if len(ours["standings"]) != len(theirs["standings"]):
            verdict.wrong.append(f"{ours['id']} has another number of lines in the hub")


def _compare_what_was_seen(
    verdict: Verdict, seen: Mapping[tuple[int, str], Seen], hub: dict[str, Any]
) -> None:
    """What stood on a display as final is what the hub ranks."""
    lines = {line["entrant"]: line for category in hub["categories"] for line in category["standings"]}
    verdict.seen = len(seen)
    for (table, heat), shown in seen.items():
        line = lines.get(entrant(int(heat), table))
        if line is None:
            verdict.lost.append(f"table {table} showed {shown}, and the hub has no such run")
        elif not shown.bound and shown.clock not in (line["official"], str(line["pieces"])):
            verdict.wrong.append(f"table {table} showed {shown}, the hub says {line}")


def _lines(category: dict[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{name: line[name] for name in names} for line in category["standings"]]


def _tracebacks(arena: Arena) -> Iterator[str]:
    for service in (arena.hub, arena.timers, arena.broker):
        said = service.said.read_text(errors="replace") if service.said.exists() else ""
        for sign in ("Traceback", "an error of its own"):
            if sign in said:
                yield f"{service.said} has a bug of ours: {said[max(0, said.index(sign) - 200) :][:2000]}"
