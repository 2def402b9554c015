"""A hub kept by hand for the web tests: the same view as the real one, and a day that could have happened."""

from __future__ import annotations

import copy
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hub.office import Office, open_office
from hub.store import Store
from hub.view import View
from hub.web.app import create_app
from hub.web.connection import REQUEST_S
from hub.web.server import Server
from hub.web.settings import WebSettings
from shared.clock import monotonic, wall_ms
from shared.duration import clock_text
from shared.rulebook import shipped_rulebook

QUICK = WebSettings(heartbeat_s=0.2, settle_s=0.02)
"""Short intervals, so that tests wait for little."""


@dataclass
class FakeLive:
    """A live view whose content is set by the test."""

    categories: list[dict[str, Any]] = field(default_factory=list)
    table_list: list[dict[str, Any]] = field(default_factory=list)
    revision: int = 1
    speed: float = 1.0
    tournament: str = "Torneo III"
    timer_pages: str | None = None
    report: dict[str, Any] = field(default_factory=lambda: {"ok": True, "events": 12})

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._wakes: list[Callable[[], None]] = []
        self.asked_standings = 0

    def standings(self) -> dict[str, Any]:
        with self._lock:
            self.asked_standings += 1
            return {
                "revision": self.revision,
                "categories": copy.deepcopy(self.categories),
                "problems": [],
            }

    def tables(self) -> list[dict[str, Any]]:
        with self._lock:
            return copy.deepcopy(self.table_list)

    def health(self) -> dict[str, Any]:
        return self.report

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        with self._lock:
            self._wakes.append(wake)

        def end() -> None:
            with self._lock:
                self._wakes.remove(wake)

        return end

    @property
    def subscribers(self) -> int:
        return len(self._wakes)

    @contextmanager
    def change(self) -> Iterator[FakeLive]:
        """Change the content, then say so."""
        with self._lock:
            yield self
            self.revision += 1
            wakes = list(self._wakes)
        for wake in wakes:
            wake()


@cache
def nobodys_office() -> Office:
    """An office where nobody can log in, for tests of what everyone may see."""
    folder = tempfile.TemporaryDirectory()
    store = Store.open(Path(folder.name) / "hub.sqlite3", wall_ms)
    view = View(shipped_rulebook("torneo-puzzles-2026"), hand=monotonic, wall=wall_ms)
    office = open_office(store, view, wall=wall_ms, hand=monotonic)
    _kept.append(folder)
    return office


_kept: list[tempfile.TemporaryDirectory[str]] = []
"""A folder is removed when nobody keeps it any more."""


@contextmanager
def serving(
    live: FakeLive,
    settings: WebSettings = QUICK,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    request_s: float = REQUEST_S,
) -> Iterator[Server]:
    """A real server around a live view."""
    app = create_app(live, nobodys_office(), settings=settings)
    server = Server(app, host=host, port=port, request_s=request_s)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def line(
    rank: int | None,
    name: str,
    table: int | None = None,
    *,
    status: str = "FINISHED",
    raw_s: int | None = None,
    assist_s: int = 0,
    penalty_s: int = 0,
    official_s: int | None = None,
    stage_s: int | None = None,
    pieces: int | None = None,
    marks: tuple[str, ...] = (),
) -> dict[str, Any]:
    """One line of a ranking; the official time of a finisher adds up by itself."""
    if official_s is None and raw_s is not None:
        official_s = raw_s + assist_s + penalty_s
    return {
        "rank": rank,
        "entrant": f"e-{name}",
        "name": name,
        "table": table,
        "status": status,
        "official_s": official_s,
        "official": None if official_s is None else clock_text(official_s),
        "raw_s": raw_s,
        "assist_s": assist_s,
        "penalty_s": penalty_s,
        "stage_s": stage_s,
        "pieces": pieces,
        "marks": list(marks),
        "problems": [],
    }


def category(
    id_: str, es: str, en: str, pieces: int, count: str, standings: list[dict[str, Any]]
) -> dict[str, Any]:
    """One category with its ranking."""
    return {"id": id_, "name": {"es": es, "en": en}, "pieces": pieces, "count": count, "standings": standings}


def table(
    number: int,
    state: str | None = "running",
    name: str | None = None,
    *,
    shown_ms: int | None = None,
    running: bool = False,
    direction: str = "up",
    age_hand_s: float = 0.0,
    low: bool = False,
    online: bool = True,
    link_since_ms: int | None = None,
    unsent: int = 0,
    heat: str | int | None = 1,
    category_name: tuple[str, str] | None = ("Adulto individual", "Adult, single"),
    marks: tuple[str, ...] = (),
    problems: tuple[str, ...] = (),
) -> dict[str, Any]:
    """One table as the hub knows it."""
    return {
        "table": number,
        "device": f"t{number:02}-k3f9",
        "state": state,
        "run": None if name is None else f"r-{number}",
        "entrant": None if name is None else f"e-{name}",
        "name": name,
        "category": None if category_name is None else "adulto",
        "category_name": None
        if category_name is None
        else dict(zip(("es", "en"), category_name, strict=True)),
        "unsent": unsent,
        "online": online,
        "link_since_ms": link_since_ms,
        "heat": heat,
        "clock": {
            "shown_ms": shown_ms,
            "running": running,
            "direction": direction,
            "age_hand_s": age_hand_s,
            "low": low,
        },
        "marks": list(marks),
        "problems": [{"code": code, "level": "warning"} for code in problems],
    }


def a_day() -> FakeLive:
    """A tournament in full swing: ties, unfinished ones, a disqualification, people still at it."""
    adults = [
        line(1, "Nerea G.", 7, raw_s=2601, assist_s=0),
        line(2, "Íñigo L.", 12, raw_s=2601, assist_s=130, penalty_s=30),
        line(3, "María José F.", 3, raw_s=2905),
        line(3, "Xoán P.", 15, raw_s=2845, assist_s=60),
        line(5, "Begoña R.", 4, raw_s=3723, penalty_s=-60),
        line(6, "Aitor M.", 9, raw_s=3999, marks=("unaccepted",)),
        line(7, "Lucía Fernández de la Vega", 11, raw_s=4525, official_s=4500, marks=("manual",)),
        line(8, "Óscar T.", 2, raw_s=5400, assist_s=600, marks=("corrected",)),
        line(9, "Pilar S.", 14, status="UNFINISHED", official_s=7570, pieces=37),
        line(10, "Rubén C.", 6, status="UNFINISHED", official_s=8220, assist_s=120, pieces=90),
        line(None, "Teresa V.", 8, status="UNFINISHED", marks=("awaiting_count",)),
        line(None, "Hugo D.", 5, status="DSQ", raw_s=2800),
        line(None, "Sara N.", None, status="DNS"),
        line(None, "Emilio Q.", 10, status="DNF"),
        line(None, "Julia B.", 1, status="RUNNING"),
        line(None, "Manuel Z.", 13, status="RUNNING", marks=("interrupted",)),
        line(None, "Carmen A.", 16, status="RUNNING"),
    ]
    pairs = [
        line(1, "Los Encajados", 21, raw_s=8640, official_s=6840, stage_s=2787),
        line(1, "Ana y Leo", 22, raw_s=8640, official_s=6840, stage_s=2787),
        line(3, "Puzle y Compañía", 23, status="UNFINISHED", pieces=423),
        line(4, "Dos de Bastos", 24, status="UNFINISHED", pieces=143),
        line(None, "Las Esquinas", 25, status="RUNNING"),
    ]
    children = [
        line(1, "Vera y Bruno", 31, raw_s=1204),
        line(2, "Mateo y Alma", 32, raw_s=1377, assist_s=75),
        line(None, "Noa y Gael", 33, status="RUNNING"),
    ]
    return FakeLive(
        categories=[
            category("adulto", "Adulto individual", "Adult, single", 200, "loose", adults),
            category("parejas", "Parejas con escape", "Pairs with escape", 500, "joined", pairs),
            category("infantil-9-10", "Infantil 9-10", "Children 9-10", 50, "loose", children),
            category("grupal-familiar", "Grupal familiar", "Family groups", 300, "loose", []),
        ],
        table_list=[
            table(12, "sealed", "Íñigo L.", shown_ms=2_601_000),
            table(1, "running", "Julia B.", shown_ms=4_412_300, running=True, age_hand_s=2.0),
            table(2, "paused", "Óscar T.", shown_ms=231_000, running=True, direction="down"),
            table(3, "assisting", "María José F.", shown_ms=2_905_000, running=True),
            table(4, "claimed", "Begoña R.", shown_ms=3_723_000),
            table(5, "time_up", "Lucía Fernández de la Vega", shown_ms=7_200_000, marks=("awaiting_count",)),
            table(6, "preview", "Rubén C.", shown_ms=97_000, running=True, direction="down"),
            table(7, "ready", "Nerea G.", heat=2),
            table(8, "ready", None, category_name=None, heat=None),
            table(
                9,
                "running",
                "Aitor M.",
                shown_ms=2_050_000,
                running=True,
                low=True,
                online=False,
                link_since_ms=1_782_570_720_000,
                unsent=5,
                problems=("rules_differ", "records_missing"),
                marks=("interrupted",),
            ),
            table(10, None, None, online=False, category_name=None, heat=None),
            table(11, "running", "Manuel Z.", shown_ms=4_411_900, running=True),
        ],
        revision=42,
        tournament="III Torneo de Puzles",
    )
