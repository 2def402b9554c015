"""What a table is in at one instant, as far as presses and screens need to know (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from shared.core.model import Notice, State
from shared.core.state import Frame, RunState


@dataclass(frozen=True, slots=True)
class Situation:
    """The run the table shows, folded to an instant, with the rules it is folded with."""

    run: RunState
    """At the instant, with what happened by itself."""
    held: RunState
    """After the last act in effect."""
    frame: Frame | None
    """None when there is nothing to start: neither a plan nor a category."""
    t_ms: int = 0
    """Since the start."""
    choices: int = 0
    """Entrants or categories that PAUSE and ASSIST can choose from in READY."""
    practice: bool = False
    """READY offers a run for practice."""
    settled: bool = False
    """A ruling has settled the run: the table behaves as sealed."""

    @property
    def state(self) -> State:
        """The state people see."""
        return State.SEALED if self.settled else self.run.state

    @property
    def notice(self) -> Notice | None:
        """What ended by itself and was not dismissed."""
        return self.run.notice

    @property
    def last_act(self) -> str | None:
        """What an undo would take back."""
        return None if self.held.last_act is None else self.held.last_act.type

    @property
    def in_escape(self) -> bool:
        """Whether the escape stage runs."""
        return self.run.escape is not None
