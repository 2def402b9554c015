"""Logs as nobody would write them, and as a clumsy judge would: for the laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from shared.core.events import ACTS, FIELDS, RULINGS, Event, EventType, Kind
from shared.core.rules import (
    AssistRules,
    CategoryRules,
    CountKind,
    CountRules,
    EscapeRules,
    Order,
    PauseRules,
)

E = EventType
S: Final = 1000

#: Every rule at once, with limits that are soon reached.
BUSY: Final = CategoryRules(
    id="busy",
    name="busy",
    pieces=20,
    limit_ms=600 * S,
    preview_ms=20 * S,
    pauses=PauseRules(2, 60 * S),
    assists=AssistRules(3, 90 * S),
    count=CountRules(CountKind.LOOSE, 3, 10),
    order=Order.ONE_SCALE,
    escape=EscapeRules(2, 200 * S, 3, 1, 2, 30 * S, 60, 20, 3, (0, 2)),
)
PLAIN: Final = CategoryRules(
    id="plain",
    name="plain",
    pieces=30,
    limit_ms=300 * S,
    preview_ms=0,
    pauses=PauseRules(1, 30 * S),
    assists=AssistRules(1, 40 * S, added=False),
    count=CountRules(CountKind.JOINED, 3),
)
CATEGORIES: Final = {rules.id: rules for rules in (BUSY, PLAIN)}

_FIRST_MS: Final = 5 * S
#: Steps of the clock that a judge makes, and the ones on which rules turn.
gaps: Final = st.one_of(
    st.sampled_from([0, 1, 999, S, 20 * S, 30 * S, 40 * S, 60 * S, 90 * S, 200 * S, 300 * S, 600 * S]),
    st.integers(0, 120 * S),
    st.integers(-9 * S, 0),
)
_USUAL: Final = (
    E.PAUSE_STARTED,
    E.PAUSE_ENDED,
    E.ASSIST_STARTED,
    E.ASSIST_ENDED,
    E.STEP_SOLVED,
    E.HINT_GIVEN,
    E.SOLUTION_GIVEN,
    E.RUN_FINISHED,
    E.FINISH_REJECTED,
    E.NOTICE_DISMISSED,
    E.ACT_UNDONE,
)
_RARE: Final = (E.FINISH_ACCEPTED, E.PIECES_COUNTED, E.RUN_STARTED)
kinds: Final = st.one_of(st.sampled_from(_USUAL), st.sampled_from(_USUAL), st.sampled_from(_RARE))


def act_data(draw: st.DrawFn, kind: EventType, seqs: Sequence[int]) -> dict[str, Any]:
    """The fields of an act; an undo names one of the acts before it, mostly the last ones."""
    if kind is E.RUN_STARTED:
        return {"entrant": "e1", "category": "busy", "table": 1}
    if kind is E.ACT_UNDONE:
        return {"undone": draw(st.one_of(st.sampled_from(seqs[-4:]), st.sampled_from(seqs)))}
    if kind is E.PIECES_COUNTED:
        return {"pieces": draw(st.integers(0, 21))}
    return {}


@st.composite
def one_run(draw: st.DrawFn, *, most: int = 14) -> list[Event]:
    """The log of one run in one boot: a start, then whatever a hand can press."""
    category = draw(st.sampled_from(sorted(CATEGORIES)))
    log = LogWriter("t01", "log-1", draw(st.sampled_from(["b1"])))
    log.ms = _FIRST_MS
    log.write(E.RUN_STARTED, "r1", entrant="e1", category=category, table=1)
    for kind in draw(st.lists(kinds, max_size=most)):
        log.ms += draw(gaps)
        log.write(kind, "r1", **act_data(draw, kind, log.seqs))
    return log.events


class LogWriter:
    """A log being written."""

    def __init__(self, device: str, log: str, boot: str) -> None:
        self.device, self.log, self.boot, self.ms = device, log, boot, 0
        self.events: list[Event] = []

    @property
    def seqs(self) -> list[int]:
        return [event.seq for event in self.events]

    def write(self, kind: EventType, run: str | None = None, **data: Any) -> None:
        seq = len(self.events) + 1
        self.events.append(
            Event(self.device, self.log, seq, kind, self.boot, self.ms, 9_000 - seq, run, data)
        )


RUNS: Final = ("r1", "r2", "r3")
ENTRANTS: Final = ("e1", "e2", None)
LOGS: Final = ("log-1", "log-2", "log-3")


@st.composite
def table_log(draw: st.DrawFn, n: int) -> list[Event]:
    """The log of a table that starts runs, goes on with others', reboots, hears the hub's clock, takes over."""
    log = LogWriter(f"t{n}", LOGS[n], f"b{n}")
    for _ in range(draw(st.integers(0, 14))):
        log.ms += draw(gaps)
        run = draw(st.sampled_from(RUNS))
        what = draw(st.integers(0, 19))
        if what < 4 or not log.events:
            data = {
                "entrant": draw(st.sampled_from(ENTRANTS)),
                "category": draw(st.sampled_from([*CATEGORIES, "nowhere"])),
                "table": n,
                "heat": draw(st.sampled_from([None, "h1"])),
                "practice": draw(st.sampled_from([False, False, True])),
            }
            log.write(E.RUN_STARTED, run, **data)
        elif what == 4:
            previous, log.boot = log.boot, f"{log.boot}x"
            alive_ms, log.ms = max(0, log.ms + draw(gaps)), draw(st.integers(0, 90 * S))
            log.write(E.BOOT_STARTED, previous_boot=previous, alive_ms=alive_ms)
        elif what == 5:
            base, hub_ms = draw(st.sampled_from(["hub-1", "hub-2"])), log.ms + draw(gaps)
            log.write(E.CLOCK_ANCHORED, hub_ms=hub_ms, base=base, error_ms=draw(st.integers(0, 50)))
        elif what == 6:
            log.write(
                E.RUN_TAKEN_OVER, run, from_log=draw(st.sampled_from(LOGS)), from_seq=draw(st.integers(1, 15))
            )
        else:
            kind = draw(kinds.filter(lambda kind: kind is not E.RUN_STARTED))
            log.write(kind, run, **act_data(draw, kind, log.seqs))
    return log.events


@st.composite
def hub_log(draw: st.DrawFn, n: int) -> list[Event]:
    """The log of a hub: any rulings on these runs, their heat, their entrants; and when it heard of a boot."""
    events: list[Event] = []
    for seq in range(1, 1 + draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(sorted(RULINGS | {E.CLOCK_ANCHORED})))
        data: dict[str, Any] = {"reason": "because", "by": "judge"}
        for field in FIELDS[kind]:
            if field.name == "of_log" and draw(st.booleans()):
                continue
            if field.name not in ("run", "reason", "by"):
                data[field.name] = draw(_ruling_values(kind, field.name, seq))
        concerns = any(field.name == "run" and field.required for field in FIELDS[kind])
        run = draw(st.sampled_from(RUNS)) if concerns or draw(st.booleans()) else None
        wall_ms = draw(st.sampled_from([None, 1_000 * n + seq]))
        events.append(Event("hub", f"hub-{n}", seq, kind, None, None, wall_ms, run, data))
    return events


def _ruling_values(kind: EventType, name: str, seq: int) -> st.SearchStrategy[Any]:
    values: dict[str, st.SearchStrategy[Any]] = {
        "seconds": st.sampled_from([0, 1, 30, 700, *([] if kind is E.TIME_SET else [-20, -700])]),
        "pieces": st.integers(0, 31),
        "ruling": st.integers(1, seq + 1),
        "heat": st.sampled_from([None, "h1"]),
        "category": st.sampled_from(sorted(CATEGORIES)),
        "entrant": st.sampled_from(["e1", "e2"]),
        "table": st.integers(1, 9),
        "order": st.permutations(["e1", "e2"]),
        "text": st.just("box opened"),
        "state": st.just("open"),
        "answers": st.integers(1, seq + 1),
        "of_log": st.sampled_from(["hub-0", "hub-1"]),
        "hub_ms": st.integers(0, 200_000),
        "base": st.sampled_from(["hub-1", "hub-2"]),
        "error_ms": st.integers(0, 50),
        "heard": st.sampled_from(["b0", "b0x", "b1x", "b2x", "b2xx"]),
        "heard_ms": st.integers(0, 60_000),
    }
    return values[name]


@st.composite
def logs(draw: st.DrawFn) -> list[list[Event]]:
    """Three tables and two hub logs, each in the order of its seq."""
    tables = [draw(table_log(n)) for n in range(3)]
    return [*tables, *(draw(hub_log(n)) for n in range(2))]


@st.composite
def woven(draw: st.DrawFn, threads: Sequence[Sequence[Event]]) -> list[Event]:
    """All events in one sequence that keeps the order of each log."""
    turns = [n for n, thread in enumerate(threads) for _ in thread]
    left = [iter(thread) for thread in threads]
    return [next(left[n]) for n in draw(st.permutations(turns))]


_HUGE: Final = st.integers(-(2**53) + 1, 2**53 - 1)
_TEXTS: Final = st.sampled_from(["r1", "r2", "e1", "busy", "plain", "log-1", "b1", "hub-1", "", "ñ"])
_VALUES: Final[dict[Kind, st.SearchStrategy[Any]]] = {
    Kind.TEXT: _TEXTS,
    Kind.INT: st.one_of(st.integers(-3, 20), _HUGE),
    Kind.COUNT: st.one_of(st.integers(0, 20), st.integers(0, 2**53 - 1)),
    Kind.BOOL: st.booleans(),
    Kind.TEXT_OR_NULL: st.one_of(st.none(), _TEXTS),
    Kind.TEXTS: st.lists(_TEXTS, max_size=3),
}


@st.composite
def wild_event(draw: st.DrawFn) -> dict[str, Any]:
    """A valid event of any type, from anybody, with any numbers, as JSON."""
    kind = draw(
        st.one_of(st.sampled_from(sorted(EventType)), st.sampled_from(sorted(ACTS)), st.just("lamp_lit"))
    )
    value: dict[str, Any] = {
        "v": 1,
        "device": draw(st.sampled_from(["t01", "t02", "hub"])),
        "log": draw(st.sampled_from(["log-1", "log-2", "hub-1"])),
        "seq": draw(st.one_of(st.integers(1, 40), st.integers(1, 2**53 - 1))),
        "type": kind,
        "boot": draw(st.sampled_from(["b1", "b2"])),
        "mono_ms": draw(st.one_of(st.integers(-5 * S, 900 * S), _HUGE)),
        "wall_ms": draw(st.one_of(st.none(), _HUGE)),
    }
    for field in FIELDS.get(kind, ()):  # type: ignore[call-overload]
        if field.required or draw(st.booleans()):
            value[field.name] = draw(_VALUES[field.kind])
    if "run" in value:
        value["run"] = draw(st.sampled_from(["r1", "r2"]))
    return value
