"""What a scripted judge does at one look at a table: one small function for each state (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.debounce import Button
from device.simulator.script import Script

TAP_S: Final = 0.08
UNDO_S: Final = 2.3
READ_S: Final = 0.6
"""Nobody answers a question faster than it can be read; the table would not take it."""
AGAIN_MS: Final = 90_000
"""Run time from a rejected FINISH to the next."""

Look = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Move:
    """A press: which button, and for how long it is held, in seconds of hand time."""

    button: Button
    hold_s: float = TAP_S


TAP: Final = {button: Move(button) for button in Button}


@dataclass(slots=True)
class Memory:
    """What the judge remembers of the run at hand, beside what the display says."""

    script: Script
    since_ms: int = 0
    """Run clock when the table came into its state."""
    since_s: float = 0.0
    """Hand time when the display last came to ask or say something else."""
    chosen: int = 0
    """Presses made towards the category."""
    rejected_ms: int | None = None
    """Run clock when a FINISH was rejected."""
    pauses: int = 0
    assists: int = 0


@dataclass(frozen=True, slots=True)
class Sight:
    """One look at a table: what it shows, at which instant, and what is remembered."""

    look: Look
    memory: Memory
    now_s: float

    @property
    def for_ms(self) -> int:
        """Run time in this state."""
        return int(self.look["clock_ms"]) - self.memory.since_ms

    @property
    def for_s(self) -> float:
        """Hand time for which the display has asked or said this."""
        return self.now_s - self.memory.since_s

    def reached(self, share: float) -> bool:
        """Whether the run is so far, as a share of its limit."""
        gone_ms = self.look["t_ms"] - self.look["preview_ms"]
        return bool(gone_ms >= share * self.look["limit_ms"])


def ready(sight: Sight) -> Move | None:
    """Choose the category where there is no plan, give the entrant a moment, START."""
    look, memory, script = sight.look, sight.memory, sight.memory.script
    if look["category"] is None:
        return None
    if not look["planned"] and memory.chosen < script.choice % look["choices"]:
        memory.chosen += 1
        return TAP[Button.ASSIST]
    return TAP[Button.START] if sight.for_ms >= script.wait_ms else None


def running(sight: Sight) -> Move | None:
    """Dismiss what ended by itself, else play the escape stage, else whatever the script has next."""
    notice = sight.look["notice"]
    if notice is not None:
        return TAP[Button.PAUSE if notice == "pause_ran_out" else Button.ASSIST]
    if sight.look["escape"] is not None:
        return escape(sight)
    return absence(sight) or finish(sight)


def absence(sight: Sight) -> Move | None:
    """The next pause or assist of the script, if its time has come and the category has one left."""
    look, memory = sight.look, sight.memory
    pauses, assists = memory.script.pauses, memory.script.assists
    if memory.pauses < len(pauses) and sight.reached(pauses[memory.pauses].at):
        memory.pauses += 1
        if look["pauses_left"]:
            return TAP[Button.PAUSE]
    if memory.assists < len(assists) and sight.reached(assists[memory.assists].at):
        memory.assists += 1
        if look["assists_left"]:
            return TAP[Button.ASSIST]
    return None


def finish(sight: Sight) -> Move | None:
    """FINISH when the puzzle is done; after a rejection a while later."""
    memory = sight.memory
    if memory.rejected_ms is not None and sight.look["clock_ms"] < memory.rejected_ms + AGAIN_MS:
        return None
    return TAP[Button.FINISH] if sight.reached(memory.script.finish_at) else None


def escape(sight: Sight) -> Move | None:
    """A step at regular times, each asked and answered; what the limit cuts off stays unsolved."""
    stage, look = sight.look["escape"], sight.look
    if look["armed"] is not None:
        return TAP[Button.FINISH] if sight.for_s >= READ_S else None
    share = min(1.2, sight.memory.script.finish_at) * (stage["solved"] + 1) / stage["steps"]
    return TAP[Button.FINISH] if look["t_ms"] - look["preview_ms"] >= share * stage["limit_ms"] else None


def paused(sight: Sight) -> Move | None:
    """Back after the absence."""
    done = sight.memory.script.pauses[: sight.memory.pauses]
    return TAP[Button.PAUSE] if not done or sight.for_ms >= done[-1].length_ms else None


def assisting(sight: Sight) -> Move | None:
    """Help ends after its time."""
    done = sight.memory.script.assists[: sight.memory.assists]
    return TAP[Button.ASSIST] if not done or sight.for_ms >= done[-1].length_ms else None


def claimed(sight: Sight) -> Move | None:
    """Look whether it is complete: once in a while it is not."""
    if sight.for_s < READ_S:
        return None
    if sight.memory.script.rejected and sight.memory.rejected_ms is None:
        sight.memory.rejected_ms = sight.look["clock_ms"]
        return Move(Button.START, UNDO_S)
    return TAP[Button.FINISH]


def time_up(sight: Sight) -> Move | None:
    """Count: a long hold where many are to be added, single presses for the rest, FINISH, and FINISH again."""
    count = sight.look["count"]
    if count is None:
        return None
    pieces = min(sight.memory.script.pieces, sight.look["pieces"])
    missing = pieces - count["number"]
    if missing >= 20:  # a hold of 2 s makes 9, each 0.2 s more another 10
        return Move(Button.ASSIST, 2.0 + 0.2 * ((missing - 10) // 10))
    if missing:
        return TAP[Button.ASSIST if missing > 0 else Button.PAUSE]
    return TAP[Button.FINISH] if not count["asked"] or sight.for_s >= READ_S else None


def sealed(sight: Sight) -> Move | None:
    """Let the result be read, then START asks for the next entrant."""
    seen = sight.for_ms >= sight.memory.script.rest_ms and sight.for_s >= READ_S
    return TAP[Button.START] if seen else None


def nothing(_sight: Sight) -> Move | None:
    """Wait."""
    return None


TACTICS: Final[Mapping[str, Callable[[Sight], Move | None]]] = {
    "ready": ready,
    "preview": nothing,
    "running": running,
    "paused": paused,
    "assisting": assisting,
    "claimed": claimed,
    "time_up": time_up,
    "sealed": sealed,
}
