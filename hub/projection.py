"""The live view: standings and tables as they follow from the events and from what tables tell (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hub.link_watch import Told
from hub.planning import Key, rivals_of
from hub.ruling_news import for_table
from hub.take_over import ClockFacts, resumes
from shared.core.events import HUB_DEVICE, Event, EventType
from shared.core.rules import CountKind
from shared.core.run import Run, stamp_of
from shared.core.timeline import Stamp
from shared.core.tournament import Tournament
from shared.plan import Resume
from shared.rulebook import Rulebook
from shared.standings import standings_json
from shared.wire import RunRulings


@dataclass(frozen=True, slots=True)
class Names:
    """Public names and flags of entrants by category and opaque id; what people in the hall may know."""

    by_entrant: Mapping[tuple[str, str], str]
    flags: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def of(self, category: str | None, entrant: str | None) -> str | None:
        """The public name; the id itself where the plan has none."""
        if entrant is None:
            return None
        return self.by_entrant.get((category or "", entrant), entrant)

    def ids_named(self, name: str) -> set[str]:
        """The ids of the entrants with this public name, and the name itself, which may be an id."""
        return {entrant for (_, entrant), public in self.by_entrant.items() if public == name} | {name}


class Projection:
    """Everything the pages show, kept up event by event."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.tournament = Tournament(rulebook.categories)
        self.names = Names({})
        self.seats: Mapping[int, str] = {}
        self.told: dict[str, Told] = {}
        self.junk: frozenset[str] = frozenset()
        """Devices of which no more is kept aside."""
        self._clocks = ClockFacts()
        self._ordered: str | None = None
        """The start order that a table obeyed last."""
        self.events = 0
        """Events folded: the revision of the standings."""

    def apply(self, event: Event) -> None:
        """Fold one committed event."""
        self.events += 1
        self.tournament.apply(event)
        self._clocks.apply(event)
        if event.type == EventType.RUN_STARTED and event.data.get("start"):
            self._ordered = event.data["start"]
        if event.device != HUB_DEVICE and event.boot is not None:
            previous = event.data["previous_boot"] if event.type == EventType.BOOT_STARTED else None
            self._told(event.device).saw_event(stamp_of(event), previous)

    def hear(
        self, device: str, kind: str, payload: Mapping[str, Any], hand_s: float | None, now_ms: int
    ) -> None:
        """A table tells of itself: `state` or `status`."""
        if kind == "state":
            self._told(device).hear_state(payload, hand_s, now_ms)
        elif kind == "status":
            self._told(device).hear_status(payload, now_ms)
        elif kind == "reply":
            self._told(device).hear_reply(payload, now_ms)

    def _told(self, device: str) -> Told:
        return self.told.setdefault(device, Told())

    def until(self, run: Run) -> int:
        """To which instant a run is folded: the latest that its table vouched for."""
        told = self.told.get(run.device)
        vouched = told.vouched if told is not None and told.vouched is not None else Stamp("", 0)
        return run.elapsed_ms(vouched) if vouched.boot else 0

    def standings(self) -> dict[str, Any]:
        """The answer of `/api/v1/standings`, with names, pieces and what is counted for the pages."""
        categories = self.tournament.standings(self.until)
        data = standings_json(self.events, categories, self.tournament.problems)
        for category in data["categories"]:
            rules = self.rulebook.categories[category["id"]]
            category["name"] = self.category_names(rules.id)
            category["pieces"] = sum(rules.puzzles)
            category["count"] = "loose" if rules.count.kind is CountKind.LOOSE else "joined"
            for line in category["standings"]:
                line["name"] = self.names.of(rules.id, line["entrant"])
            names = {r.id: dict(r.names) for r in rules.rankings}
            for ranking in category.get("rankings", ()):
                ranking["name"] = names[ranking["id"]]
                for line in ranking["standings"]:
                    line["name"] = self.names.of(rules.id, line["entrant"])
        return data

    def category_names(self, category: str) -> dict[str, str]:
        """A category's name by language."""
        rules = self.rulebook.categories[category]
        return {language: rules.name_in(language) for language in ("es", "en")}

    def tables(self, hand_s: float) -> list[dict[str, Any]]:
        """Every table with a seat, and every device that is heard without one."""
        seated = set(self.seats.values())
        strays = sorted(device for device in self.told if device not in seated)
        lines = [self._table(table, device, hand_s) for table, device in sorted(self.seats.items())]
        return lines + [self._table(self._claimed(device), device, hand_s) for device in strays]

    def _claimed(self, device: str) -> int:
        """The table number a device without a seat says it stands on."""
        told = self.told[device]
        claimed = told.state.get("table", told.status.get("table"))
        return claimed if type(claimed) is int else 0

    def _table(self, table: int, device: str, hand_s: float) -> dict[str, Any]:
        told = self.told.get(device) or Told()
        state = told.state
        entrant, category = _text(state.get("entrant")), _text(state.get("category"))
        known = category is not None and category in self.rulebook.categories
        return {
            "table": table,
            "device": device,
            "state": _text(state.get("state")),
            "run": _text(state.get("run")),
            "entrant": entrant,
            "name": self.names.of(category, entrant),
            "category": category,
            "category_name": self.category_names(category) if known and category else None,
            "heat": _text(state.get("heat")),
            "unsent": _count(state.get("unsent")),
            "online": told.online,
            "link_since_ms": told.heard_ms,
            "clock": None if told.state_hand_s is None else _clock(state, hand_s - told.state_hand_s),
            "marks": [],
            "problems": self._seat_problems(table, device) + told.troubles(device, hand_s),
            "condition": told.condition() if told.status else None,
            "answer": dict(told.answer) or None,
        }

    def resumes(self, seats: Mapping[int, str]) -> dict[int, Resume]:
        """By table the run in play whose device is gone, where another device has the seat now."""
        runs = (r for r in self.tournament.runs.values() if r.category in self.rulebook.categories)
        return resumes(runs, seats, self.claims(), self._clocks, self.names.of, self._settled)

    def _settled(self, run: Run) -> bool:
        return self.tournament.settled(run, self.until(run))

    def voided(self) -> dict[int, tuple[str, ...]]:
        """By table, where they were started, the runs that count for nothing: their entrants may start again."""
        found: dict[int, tuple[str, ...]] = {}
        for run in self.tournament.runs.values():
            if self.tournament.voided(run):
                found[run.table] = (*found.get(run.table, ()), run.id)
        return found

    def begun(self) -> dict[Key, dict[str, str]]:
        """By heat, category and entrant the runs that count for something, each with the log it began in."""
        found: dict[Key, dict[str, str]] = {}
        for run in self.tournament.runs.values():
            if run.started and run.entrant is not None and not self.tournament.voided(run):
                found.setdefault((run.heat, run.category, run.entrant), {})[run.id] = run.start.log
        return found

    def logs(self) -> dict[str, str]:
        """The log that each device said last it is writing."""
        told = {device: _text(told.status.get("log")) for device, told in self.told.items()}
        return {device: log for device, log in told.items() if log is not None}

    def told_rulings(self) -> dict[str, RunRulings]:
        """By device the rulings in force on the run that it shows, or showed last: one may be revoked."""
        found: dict[str, RunRulings] = {}
        for device, told in self.told.items():
            run = self.tournament.runs.get(told.shown_run or "")
            if run is not None:
                found[device] = for_table(run.id, self.tournament.rulings_on(run))
        return found

    def claims(self) -> dict[str, int]:
        """The table that each device that is online says it stands on."""
        return {device: self._claimed(device) for device, told in self.told.items() if told.online}

    def _seat_problems(self, table: int, device: str) -> list[dict[str, Any]]:
        junk = [{"code": "sends_junk", "level": "warning", "device": device}] if device in self.junk else []
        rivals = rivals_of(self.seats, self.claims()).get(table, set())
        if device in rivals:
            others = sorted(rivals - {device})
            return [{"code": "seat_shared", "level": "error", "device": device, "others": others}, *junk]
        if device not in self.told or self.seats.get(table) == device:
            return junk
        holder = self.seats.get(table)
        code = "seat_taken" if holder is not None else "no_seat"
        return [{"code": code, "level": "warning", "device": device, "holder": holder}, *junk]

    def start_spread_ms(self) -> tuple[int, int]:
        """How many tables obeyed the newest start order, and how far apart they started, in run milliseconds.

        Only tables whose clocks can be compared with the first one's count.
        """
        runs = [r for r in self.tournament.runs.values() if r.start.data.get("start") == self._ordered]
        if self._ordered is None or not runs:
            return 0, 0
        spans = [self.tournament.timeline.between(runs[0].start_stamp, run.start_stamp) for run in runs]
        apart_ms = [span.low_ms for span in spans if span.exact]
        return len(apart_ms), max(apart_ms) - min(apart_ms)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _clock(state: Mapping[str, Any], age_s: float) -> dict[str, Any] | None:
    if "direction" not in state:
        return None
    shown = state.get("shown_ms")
    return {
        "shown_ms": shown if type(shown) is int else None,
        "running": state.get("running") is True,
        "direction": "down" if state.get("direction") == "down" else "up",
        "age_hand_s": round(max(0.0, age_s), 3),
        "low": state.get("low") is True,
    }


def names_from(rows: Iterable[tuple[str, str | None, str, str]]) -> Names:
    """Public names and flags from `(category, entrant, public name, flags)` of the plan."""
    known = [row for row in rows if row[1] is not None]
    names = {(c, e or ""): name for c, e, name, _ in known if name}
    return Names(names, {(c, e or ""): frozenset(flags.split()) for c, e, _, flags in known if flags})
