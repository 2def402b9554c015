"""The field's words as types: states, statuses, marks, refusals, problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """Where a run is in its life; only the run machine uses it."""

    READY = "ready"
    PREVIEW = "preview"
    RUNNING = "running"
    PAUSED = "paused"
    ASSISTING = "assisting"
    CLAIMED = "claimed"
    TIME_UP = "time_up"
    SEALED = "sealed"


class Status(StrEnum):
    """What a result is worth; never a number inside a time."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    UNFINISHED = "UNFINISHED"
    DNS = "DNS"
    DNF = "DNF"
    DSQ = "DSQ"
    VOID = "VOID"


class Mark(StrEnum):
    """A remark on a line of the standings that the organiser must see."""

    UNACCEPTED = "unaccepted"
    AWAITING_COUNT = "awaiting_count"
    INTERRUPTED = "interrupted"
    MANUAL = "manual"
    CORRECTED = "corrected"
    TWO_RUNS = "two_runs"
    SUPERSEDED = "superseded"
    PRACTICE = "practice"
    OUT_OF_COMPETITION = "out_of_competition"
    RERUN = "rerun"


class Notice(StrEnum):
    """Something ended by itself while nobody pressed; stays until dismissed."""

    PAUSE_RAN_OUT = "pause_ran_out"
    ASSIST_RAN_OUT = "assist_ran_out"


class Refusal(StrEnum):
    """Why the run machine does not take an act."""

    NOT_STARTED = "not_started"
    ALREADY_STARTED = "already_started"
    PREVIEW = "preview"
    PAUSED = "paused"
    NOT_PAUSED = "not_paused"
    NO_PAUSES = "no_pauses"
    NO_PAUSE_LEFT = "no_pause_left"
    ESCAPE_RUNNING = "escape_running"
    NO_ESCAPE = "no_escape"
    NO_ASSISTS = "no_assists"
    NO_ASSIST_LEFT = "no_assist_left"
    ASSIST_BUDGET_USED = "assist_budget_used"
    ASSISTING = "assisting"
    NOT_ASSISTING = "not_assisting"
    HINT_FIRST = "hint_first"
    HINT_ALREADY_GIVEN = "hint_already_given"
    SOLUTION_ALREADY_GIVEN = "solution_already_given"
    HELP_TOO_SOON = "help_too_soon"
    CLAIMED = "claimed"
    NOT_CLAIMED = "not_claimed"
    AFTER_LIMIT = "after_limit"
    NOT_TIME_UP = "not_time_up"
    SEALED = "sealed"
    TOO_MANY_PIECES = "too_many_pieces"
    NOTHING_TO_COUNT = "nothing_to_count"
    NOTHING_TO_UNDO = "nothing_to_undo"
    NOT_THE_LAST_ACT = "not_the_last_act"
    NO_NOTICE = "no_notice"


class Level(StrEnum):
    """How much a problem matters to the organiser."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a log that people must be told, with its code and where it stands."""

    code: str
    level: Level = Level.WARNING
    log: str | None = None
    seq: int | None = None
    run: str | None = None
    detail: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The problem as it stands in exported files and in the API."""
        where = {"log": self.log, "seq": self.seq, "run": self.run}
        return {
            "code": str(self.code),
            "level": str(self.level),
            **{k: v for k, v in where.items() if v is not None},
            **dict(self.detail),
        }
