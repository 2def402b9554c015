"""A run of `adulto` as a judge with a stopwatch and a sheet of paper would write it down.

Worked out from the printed rules alone, with nothing of the program: what was done and when goes in, state,
times and result come out. Instants are milliseconds of one clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

PREVIEW_MS: Final = 120_000
LIMIT_MS: Final = 7_200_000
PAUSES, PAUSE_MS = 2, 300_000
ASSISTS, ASSIST_MS = 3, 600_000
LOOSE_PIECE_S: Final = 10

READY, PREVIEW, RUNNING, PAUSED, ASSISTING, CLAIMED, TIME_UP, SEALED = (
    "ready", "preview", "running", "paused", "assisting", "claimed", "time_up", "sealed",
)  # fmt: skip


@dataclass(frozen=True)
class Deed:
    """Something the judge did and saw taken. `cut_ms`: a finish that was taken back ended this assist."""

    what: str
    t: int
    pieces: int = 0
    cut_ms: int | None = None


@dataclass
class Sheet:
    """The run as it stands at an instant."""

    state: str = READY
    start: int = 0
    paused_ms: int = 0
    pauses: int = 0
    assists: int = 0
    lengths: list[int] = field(default_factory=list)
    """Of each assist."""
    since: int = 0
    """Of the open pause or assist."""
    cut_ms: int | None = None
    notice: str = ""
    """A pause or assist that ended by itself and was not seen yet …"""
    noticed: int = 0
    """… since this instant."""
    finish: int = 0
    pieces: int | None = None

    def counted(self, t: int) -> int:
        return max(0, t - self.start - PREVIEW_MS - self.paused_ms)

    @property
    def assist_left(self) -> int:
        return ASSIST_MS - sum(self.lengths)

    def end_assist(self, t: int) -> None:
        self.lengths.append(t - self.since)
        self.cut_ms = None
        self.state = RUNNING

    def pass_time(self, t: int, *, finishing: bool = False) -> None:
        """What happens by itself until `t`; a finish at the very limit still counts."""
        if self.state == PREVIEW and t >= self.start + PREVIEW_MS:
            self.state = RUNNING
        if self.state == PAUSED and t >= self.since + PAUSE_MS:
            self.paused_ms += PAUSE_MS
            self.state, self.notice, self.noticed = RUNNING, PAUSED, self.since + PAUSE_MS
        if self.state == ASSISTING:
            ends = self.since + self.assist_left if self.cut_ms is None else self.cut_ms
            over = self.start + PREVIEW_MS + self.paused_ms + LIMIT_MS
            if t >= ends and ends <= over:
                if self.cut_ms is None:
                    self.notice, self.noticed = ASSISTING, ends
                self.end_assist(ends)
        limit = self.counted(t) > LIMIT_MS if finishing else self.counted(t) >= LIMIT_MS
        if self.state in (RUNNING, ASSISTING) and limit:
            if self.state == ASSISTING:
                self.end_assist(self.start + PREVIEW_MS + self.paused_ms + LIMIT_MS)
            self.state = TIME_UP

    def do(self, deed: Deed) -> None:
        self.pass_time(deed.t, finishing=deed.what == "finish")
        self.notice = ""
        match deed.what:
            case "start":
                self.state, self.start = PREVIEW, deed.t
            case "pause":
                if self.state == ASSISTING:
                    self.end_assist(deed.t)
                self.state, self.since, self.pauses = PAUSED, deed.t, self.pauses + 1
            case "resume":
                self.paused_ms += deed.t - self.since
                self.state = RUNNING
            case "assist":
                self.state, self.since, self.assists = ASSISTING, deed.t, self.assists + 1
                self.cut_ms = deed.cut_ms
            case "unassist":
                self.end_assist(deed.t)
            case "finish":
                if self.state == ASSISTING:
                    self.end_assist(deed.t)
                self.state, self.finish = CLAIMED, deed.t
            case "accept":
                self.state = SEALED
            case "count":
                self.state, self.pieces = SEALED, deed.pieces


class Story:
    """All that was done and not taken back, and what a press would do next."""

    def __init__(self) -> None:
        self.deeds: list[Deed] = []
        self.seen = -1
        """When a notice was dismissed by hand."""

    def at(self, t: int, *, finishing: bool = False) -> Sheet:
        sheet = Sheet()
        for deed in self.deeds:
            sheet.do(deed)
        sheet.pass_time(t, finishing=finishing)
        if sheet.noticed <= self.seen:
            sheet.notice = ""
        return sheet

    def meaning(self, button: str, t: int) -> str | None:
        """What a short press at `t` does: a deed, `seen` for a notice, or None when it is refused."""
        sheet = self.at(t, finishing=button == "finish")
        if sheet.state == RUNNING and sheet.notice and button != "finish":
            own = {PAUSED: ("pause", "start"), ASSISTING: ("assist",)}[sheet.notice]
            if button in own:
                return "seen"
        can_pause = sheet.pauses < PAUSES
        can_assist = sheet.assists < ASSISTS and sheet.assist_left > 0
        meanings = {
            (READY, "start"): "start",
            (RUNNING, "pause"): "pause" if can_pause else None,
            (ASSISTING, "pause"): "pause" if can_pause else None,
            (PAUSED, "pause"): "resume",
            (PAUSED, "start"): "resume",
            (RUNNING, "assist"): "assist" if can_assist else None,
            (ASSISTING, "assist"): "unassist",
            (RUNNING, "finish"): "finish",
            (ASSISTING, "finish"): "finish",
            (CLAIMED, "finish"): "accept",
        }
        return meanings.get((sheet.state, button))

    def may_undo(self, t: int) -> bool:
        """Whether START held at `t` takes something back."""
        return bool(self.deeds) and (self.deeds[-1].what != "start" or self.at(t).state == PREVIEW)

    def undo(self) -> None:
        """The last deed is as if it had never been; only an assist that a finish ended stays ended."""
        deed = self.deeds.pop()
        if deed.what == "finish" and self.at(deed.t, finishing=True).state == ASSISTING:
            assist = next(n for n in reversed(range(len(self.deeds))) if self.deeds[n].what == "assist")
            self.deeds[assist] = replace(self.deeds[assist], cut_ms=deed.t)

    def result(self) -> tuple[int, int | None]:
        """Official seconds and loose pieces once it is sealed: readings truncated, then added."""
        sheet = self.at(self.deeds[-1].t)
        helped = sum(length // 1000 for length in sheet.lengths)
        if sheet.pieces is not None:
            return LIMIT_MS // 1000 + LOOSE_PIECE_S * sheet.pieces + helped, sheet.pieces
        return sheet.counted(sheet.finish) // 1000 + helped, None
