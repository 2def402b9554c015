"""Everything a picture of the display is made from, at one instant (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from device.call import Called
from device.count import Count
from device.presses import Arm
from device.situation import Situation
from device.start_orders import Ordered
from shared.core.scoring import Result


@dataclass(frozen=True, slots=True)
class Refusal:
    """A press that was refused, shown for a moment."""

    reason: str
    detail_ms: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """What the table knows about itself when a picture is composed."""

    table: int
    situation: Situation
    language: str = "es"
    heat: str | None = None
    entrant: str | None = None
    """Public name, or the entrant's id where the plan has none."""
    category: str | None = None
    offered: tuple[str | None, str] | None = None
    """Whom START would begin: entrant's id and category; None in a run, or with nobody to start."""
    planned: bool = True
    """The choice in READY comes from the hub's plan, not from the settings."""
    day: str | None = None
    """The day the plan is for, where the table cannot know which day it is."""
    resumes: bool = False
    """START goes on with a run that another device of this table began."""
    ordered: Ordered | None = None
    """The start that the hub has ordered for the shown heat."""
    conflict: str | None = None
    """Another device that stands on this seat: neither is given a plan."""
    safe: bool = False
    """The table crashed again and again: it does without hub and plan."""
    copied: bool = False
    """This card was made for another board: it stays offline."""
    supply_weak: bool = False
    """The supply is too weak now: the board may freeze any moment."""
    clock_error_ms: int | None = None
    """How far off the hub's clock may be known; None while nothing is known of it."""
    result: Result | None = None
    """The run judged, once it is sealed."""
    practice: bool = False
    low: bool = False
    """The clock is a lower bound: the table was off in between."""
    online: bool = True
    unsent: int = 0
    not_saved: bool = False
    saved_ago_s: int = 0
    """Since the disk last took something."""
    stuck: tuple[str, ...] = ()
    held_s: float = 0.0
    armed: Arm | None = None
    count: Count | None = None
    refusal: Refusal | None = None
    handing_over: bool = False
    """The escape stage ended only just: the puzzle is to be put on the table."""
    called: Called | None = None
    """The hub asks for this table."""
    seen: bool = False
    tick: int = 0
