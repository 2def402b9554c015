"""The rules of one category as data. Times in milliseconds of counted time, penalties in seconds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import lru_cache

from shared.core.eligibility import WhoRules


class CountKind(StrEnum):
    """What is counted on the table when the limit has passed."""

    LOOSE = "loose"
    """Pieces not in a correct group of at least `group`; each costs seconds (Torneo III, Penalizaciones)."""
    JOINED = "joined"
    """Pieces in islands of at least `group`; most wins (Castrillo, islas de 3 o más)."""
    LARGEST = "largest"
    """Pieces of the largest connected area only; most wins."""
    NOTHING = "nothing"
    """Only a complete puzzle counts: who has not finished is not ranked."""


class Order(StrEnum):
    """Where unfinished runs stand."""

    FINISHERS_FIRST = "finishers_first"
    ONE_SCALE = "one_scale"


@dataclass(frozen=True, slots=True)
class PauseRules:
    """Absences that stop the clock (Torneo III, Ausencias)."""

    count: int
    each_ms: int


@dataclass(frozen=True, slots=True)
class AssistRules:
    """Help of the judge while the clock runs (Torneo III, Asistencia)."""

    count: int
    total_ms: int
    added: bool = True
    """Whether each assist's length is added to the official time."""


@dataclass(frozen=True, slots=True)
class CountRules:
    """How an unfinished puzzle is measured."""

    kind: CountKind
    group: int
    seconds_per_piece: int = 0
    """Loose pieces only: the registered time is the limit plus this for each piece."""


@dataclass(frozen=True, slots=True)
class MissingRules:
    """Pieces missing at the claim: each costs seconds, up to a number of pieces."""

    seconds_per_piece: int
    most: int | None = None
    """No more pieces than this are charged."""


@dataclass(frozen=True, slots=True)
class RankingRules:
    """A further ranking from the same race: of the entrants with a flag, places numbered anew."""

    id: str
    flag: str
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EscapeRules:
    """The escape stage (Castrillo, parejas): steps in order, help paid with tickets."""

    steps: int
    limit_ms: int
    tickets: int
    hint_tickets: int
    solution_tickets: int
    help_wait_ms: int
    """Least time between two helps given."""
    bought_ticket_s: int
    redeemed_ticket_s: int
    redeem_solved: int
    """Most tickets redeemed when every step was solved in time."""
    redeem_stuck: tuple[int, ...]
    """The same when stuck at step 1, 2, …"""


@dataclass(frozen=True, slots=True)
class CategoryRules:
    """All that is needed to time and judge one category."""

    id: str
    name: str
    pieces: int
    limit_ms: int
    preview_ms: int
    pauses: PauseRules | None
    assists: AssistRules | None
    count: CountRules
    order: Order = Order.FINISHERS_FIRST
    escape: EscapeRules | None = None
    more_puzzles: tuple[int, ...] = ()
    """Pieces of the puzzles that follow the first, in order, each handed over when the one before is accepted."""
    missing: MissingRules | None = None
    guests: str | None = None
    """Entrants with this flag are timed and not ranked."""
    rankings: tuple[RankingRules, ...] = ()
    who: WhoRules | None = None
    names: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Names by language, for people; not part of the rules' identity."""

    def canonical(self) -> str:
        """Canonical JSON of everything that can change the result of a run."""
        data = asdict(self)
        for of_no_run in ("names", "name", "guests", "rankings", "who"):
            del data[of_no_run]
        return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def digest(self) -> str:
        """SHA-256 of the canonical JSON, as `run_started.rules` carries it."""
        return _digest(self)

    @property
    def puzzles(self) -> tuple[int, ...]:
        """The pieces of each puzzle of the run, in order."""
        return (self.pieces, *self.more_puzzles)

    @property
    def pieces_rank(self) -> bool:
        """Whether the unfinished are ranked by pieces put together, most first."""
        return self.count.kind in (CountKind.JOINED, CountKind.LARGEST)

    def name_in(self, language: str) -> str:
        """The category's name in a language, else its own."""
        return dict(self.names).get(language, self.name)


@lru_cache(maxsize=256)
def _digest(rules: CategoryRules) -> str:
    # every start is compared with the hub's rules, and they do not change
    return hashlib.sha256(rules.canonical().encode()).hexdigest()
