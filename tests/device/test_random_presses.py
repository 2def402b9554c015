"""Random presses with something going wrong at any call: the result is that of a judge with a stopwatch.

The oracle (`story`) knows the printed rules and what the judge did and saw; it shares nothing with the program.
Time moves in eighths of a second, which are exact in binary and fall on every boundary of the rules.
Long because the evening, its judge and its faults know each other.
"""

from __future__ import annotations

import copy
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from device.debounce import Button
from device.from_hub import RulingsReceived
from shared.core.events import Event, EventType
from shared.core.model import Mark, Status
from shared.core.tournament import Tournament
from shared.wire import RunRulings
from tests.builders import hub
from tests.device.rig import TORNEO, Faults, Rig
from tests.device.story import (
    ASSISTING,
    LIMIT_MS,
    PAUSE_MS,
    PAUSED,
    PREVIEW,
    PREVIEW_MS,
    READY,
    RUNNING,
    SEALED,
    TIME_UP,
    Deed,
    Story,
)

EIGHTH: Final = 0.125
IN_TEST: Final = 500
IN_TEST_LONG: Final = 10_000
BATCH: Final = 50

TYPES: Final = {
    "start": EventType.RUN_STARTED,
    "pause": EventType.PAUSE_STARTED,
    "resume": EventType.PAUSE_ENDED,
    "assist": EventType.ASSIST_STARTED,
    "unassist": EventType.ASSIST_ENDED,
    "finish": EventType.RUN_FINISHED,
    "accept": EventType.FINISH_ACCEPTED,
    "count": EventType.PIECES_COUNTED,
    "seen": EventType.NOTICE_DISMISSED,
}
UNDONE: Final = frozenset({EventType.ACT_UNDONE, EventType.FINISH_REJECTED})


class Died(Exception):
    """The process ended: killed, or by a bug of its own; `pulled`: the whole table lost its power."""

    def __init__(self, place: str, *, pulled: bool) -> None:
        super().__init__(place)
        self.place = place
        self.pulled = pulled


class Chaos(Faults):
    """One thing that goes wrong at the n-th call from now on."""

    def __init__(self) -> None:
        self.what = ""
        self.calls = 0
        self.rig: Rig | None = None

    def arm(self, what: str, calls: int) -> None:
        self.what, self.calls = what, calls

    def at(self, place: str) -> None:
        self.calls -= 1
        if not self.what or self.calls > 0:
            return
        what, self.what = self.what, ""
        if what in ("kill", "pull"):
            raise Died(place, pulled=what == "pull")
        if what == "bug":  # a handler or the drawing raises: whatever it is, it ends the process
            raise RuntimeError(place)
        if self.rig is not None:  # the disk or the display takes its time
            self.rig.now += 3.0 if place == "write" else 1.0

    def sync(self, fd: int) -> None:
        self.at("write")
        if self.trouble is not None:
            raise OSError(28, self.trouble)
        self.at("written")


class Evening:
    """One table, one judge, one run, and whatever happens to them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.chaos = Chaos()
        self.lives = 0
        self.boot = "boot-1"
        self.zero_s = 0.0
        self.story: Story | None = Story()
        """None once the power was gone: nobody knows how long."""
        self.taken: list[tuple[str, str, int, int]] = []
        """What the judge saw taken: deed, boot, stamp, pieces."""
        self.saved: tuple[Story | None, int] | None = None
        """As it was when the disk began to fail, with the number of deeds seen taken."""
        self.rig = self.begin(1000.0)

    # The table -----------------------------------------------------------------------------------

    def begin(self, now: float) -> Rig:
        self.lives += 1
        rig = Rig(
            self.folder,
            "adulto",
            boot=self.boot,
            now=now,
            zero_s=self.zero_s,
            faults=self.chaos,
            life=f"-{self.lives}",
        )
        self.chaos.rig = rig
        rig.wait(0.5)
        return rig

    def die(self, death: Died | RuntimeError) -> None:
        """The process is gone; another one begins where the journal ends."""
        if isinstance(death, RuntimeError):
            death = Died(str(death), pulled=False)
        self.rig.unplug()
        self.chaos.what = ""
        doubtful = self.forget()
        now = self.rig.now + self.chance.choice((0.125, 1.0, 30.0))
        now = -(-now // EIGHTH) * EIGHTH
        if death.pulled and death.place == "write":
            self.tear()
        if death.pulled:
            self.boot, self.zero_s = f"boot-{self.lives + 1}", now - 5.0
            self.story = None
        self.rig = self.begin(now)
        written = self.events()
        for what, boot, ms, pieces in doubtful:  # the disk came back just before, for some of them
            if any((e.boot, e.mono_ms) == (boot, ms) and self.is_deed(e, what) for e in written):
                self.write(what, boot, ms, pieces)

    def forget(self) -> list[tuple[str, str, int, int]]:
        """What only memory knew is gone, as the display had said; gives what that was."""
        self.chaos.trouble = None
        if self.saved is None:
            return []
        self.story, count = self.saved
        doubtful = self.taken[count:]
        del self.taken[count:]
        self.saved = None
        return doubtful

    @staticmethod
    def is_deed(event: Event, what: str) -> bool:
        return event.type in UNDONE if what == "undo" else event.type == TYPES[what]

    def tear(self) -> None:
        """The power went before the last line was safe: any part of it may be missing."""
        file = self.rig.journal.directory / f"{self.rig.journal.log}.journal"
        content = file.read_bytes()
        begins = content[:-1].rfind(b"\n") + 1
        if content.endswith(b"\n"):
            file.write_bytes(content[: self.chance.randint(begins, len(content))])

    def events(self) -> list[Event]:
        """What is in the journal."""
        logs = [*self.rig.journal.earlier(), self.rig.journal.events()]
        return [event for log in logs for event in log]

    def stamp(self, t: float) -> int:
        return int((t - self.zero_s) * 1000)

    # The judge -----------------------------------------------------------------------------------

    def press(self, button: Button, hold: float = EIGHTH) -> None:
        """One press, and whatever it turns out to have been."""
        t, asked, before = self.rig.now, self.asked(), self.rig.state
        pictures = len(self.rig.screens)
        try:
            self.rig.press(button, hold)
            self.settle()
        except (Died, RuntimeError) as death:
            self.die(death)
            self.after_death(button, t, hold, asked)
            return
        refused = any(picture.bottom_inverse for picture in self.rig.screens[pictures:])
        self.note(button, t, hold, asked, before, refused=refused)

    def settle(self) -> None:
        """A slow disk or display may have left the clock between two eighths."""
        self.rig.now = -(-(self.rig.now + 0.5) // EIGHTH) * EIGHTH
        self.rig.step()

    def asked(self) -> int | None:
        """The number that the display shows to be confirmed."""
        clock = self.rig.screen.clock
        return int(clock) if self.rig.state == TIME_UP and clock.isdigit() else None

    def intended(self, button: Button, t: float, hold: float) -> str | None:
        """What the rules make of this press."""
        assert self.story is not None
        ms = self.stamp(t)
        holds = button is Button.START and hold > 2
        if holds and self.story.at(ms).state not in (READY, SEALED):
            return "undo" if self.story.may_undo(ms + 2000) else None
        meaning = self.story.meaning(str(button), ms)
        return None if meaning == "start" and self.chaos.trouble else meaning

    def do(self, what: str | None, t: float, pieces: int = 0) -> None:
        """It was taken: write it on the sheet."""
        if what in TYPES or what == "undo":
            self.write(what or "", self.boot, self.stamp(t), pieces)

    def write(self, what: str, boot: str, ms: int, pieces: int) -> None:
        if self.story is not None:
            if what == "undo":
                self.story.undo()
            elif what == "seen":
                self.story.seen = ms
            else:
                self.story.deeds.append(Deed(what, ms, pieces))
        self.taken.append((what, boot, ms, pieces))

    def note(
        self, button: Button, t: float, hold: float, asked: int | None, before: str, *, refused: bool
    ) -> None:
        if self.story is None:
            self.note_by_sight(before, t)
            return
        if self.story.at(self.stamp(t), finishing=button is Button.FINISH).state == TIME_UP and (
            button is not Button.START
        ):
            if self.rig.state == SEALED:
                assert asked is not None, "sealed without a question"
                self.do("count", t, asked)
            return
        what = self.intended(button, t, hold)
        self.do(what, t)
        state = self.story.at(self.stamp(self.rig.now)).state
        assert self.rig.state == state, (
            f"{button} at {self.stamp(t)} was {what}: {self.rig.state}, not {state}"
        )
        assert what is not None or refused, f"{button} at {self.stamp(t)} did nothing and nobody said why"

    def note_by_sight(self, before: str, t: float) -> None:
        """After a power cut only what is seen is known."""
        if self.rig.state != before and before != READY and self.saved is None:
            stamps = [e for e in self.events() if (e.boot, e.mono_ms) == (self.boot, self.stamp(t))]
            by_itself = {(PREVIEW, RUNNING), (PAUSED, RUNNING), (ASSISTING, RUNNING), (RUNNING, TIME_UP)}
            by_itself |= {(ASSISTING, TIME_UP), (SEALED, READY), (PAUSED, TIME_UP), (PREVIEW, TIME_UP)}
            kinds = [e for e in stamps if e.type != EventType.PRESS_REFUSED]
            assert len(kinds) == 1 or (before, self.rig.state) in by_itself

    def after_death(self, button: Button, t: float, hold: float, asked: int | None) -> None:
        """Whether the press was taken is seen when the table is back: what is written, and nothing else."""
        if self.story is None:
            return
        ms = self.stamp(t)
        written = [e for e in self.events() if e.boot == self.boot and e.mono_ms == ms]
        kinds = {e.type for e in written} - {EventType.PRESS_REFUSED}
        assert len(kinds) <= 1
        if kinds & UNDONE:
            self.do("undo", t)
        elif kinds == {EventType.PIECES_COUNTED}:
            self.do("count", t, asked or 0)
        elif kinds:
            what = next(what for what, kind in TYPES.items() if kind in kinds)
            assert what == self.intended(button, t, hold)
            self.do(what, t)
        state = self.story.at(self.stamp(self.rig.now)).state
        assert self.rig.state == state, f"after a restart {self.rig.state}, not {state}"

    # What happens --------------------------------------------------------------------------------

    def wait(self, seconds: float) -> None:
        try:
            if seconds < 3 or self.chance.random() < 0.1:
                self.rig.wait(min(seconds, 20.0))
            else:
                self.rig.jump(seconds)
                self.rig.wait(0.5)
            self.settle()
        except (Died, RuntimeError) as death:
            self.die(death)

    def to_a_boundary(self) -> None:
        """Just before, at, or just after something happens by itself."""
        if self.story is None:
            return
        now = self.stamp(self.rig.now)
        sheet = self.story.at(now)
        over = sheet.start + PREVIEW_MS + sheet.paused_ms + LIMIT_MS
        ends = {
            PREVIEW: sheet.start + PREVIEW_MS,
            PAUSED: sheet.since + PAUSE_MS,
            ASSISTING: sheet.since + sheet.assist_left,
            RUNNING: over,
        }
        if sheet.state in ends:
            near = self.zero_s + ends[sheet.state] / 1000 + self.chance.randint(-3, 3) * EIGHTH
            if near > self.rig.now + 1:
                self.wait(near - self.rig.now - 0.5)
                # settling took half a second: stand exactly there
                self.rig.now = max(self.rig.now, near)

    def blind(self, button: Button) -> None:
        """Two presses that reach the table together, because something else took so long."""
        rig, stamps = self.rig, []
        asked = self.asked()
        for _ in range(2):
            stamps.append(rig.now)
            rig.down(button)
            rig.now += EIGHTH
            rig.up(button)
            rig.now += 3 * EIGHTH
        try:
            rig.wait(0.5)
            self.settle()
        except (Died, RuntimeError) as death:
            self.die(death)
            for t in stamps:
                self.after_death_of_two(button, t, asked)
            return
        if self.story is None:
            return
        for t in stamps:
            if self.story.at(self.stamp(t)).state == TIME_UP:
                return  # the count is read from the display later
            what = self.intended(button, t, EIGHTH)
            self.do(None if what == "accept" else what, t)

    def after_death_of_two(self, button: Button, t: float, asked: int | None) -> None:
        if self.story is None:
            return
        written = {e.type for e in self.events() if (e.boot, e.mono_ms) == (self.boot, self.stamp(t))}
        for what, kind in TYPES.items():
            if kind in written:
                self.do(what, t, asked or 0)

    def something_goes_wrong(self) -> None:
        what = self.chance.choice(("kill", "bug", "slow", "slow", "pull", "disk", "link"))
        if what == "link":
            self.rig.online = not self.rig.online
        elif what == "disk" and self.saved is None:
            self.chaos.trouble = self.chance.choice(("full", "read_only", "failing"))
            self.saved = (copy.deepcopy(self.story), len(self.taken))
            pictures = len(self.rig.screens)
            self.wait(2.0)
            self.wait(2.0)  # where the title of a state is long, the two take turns
            if self.saved is not None:
                told = [f"{picture.top} {picture.top_right}" for picture in self.rig.screens[pictures:]]
                assert any("NO GUARDA" in words for words in told)
        elif (what == "pull" and self.chance.random() < 0.5) or what in ("kill", "bug", "slow"):
            self.chaos.arm(what, self.chance.randint(1, 40))

    def the_hub_rules(self) -> None:
        """A ruling that ends the run, and takes it back: presses in between are refused, and all is as before."""
        run = self.rig.history.run
        if run is None or self.rig.state in (READY, SEALED):
            return
        self.tell(RunRulings(run.id, tuple(hub().disqualify(run.id).events)))
        assert self.rig.state == SEALED
        button, t = self.chance.choice((Button.PAUSE, Button.ASSIST, Button.FINISH)), self.rig.now
        try:
            self.rig.press(button)
            self.settle()
        except (Died, RuntimeError) as death:
            self.die(death)
        assert self.rig.state == SEALED, "a restart forgot the ruling"
        kinds = {e.type for e in self.events() if (e.boot, e.mono_ms) == (self.boot, self.stamp(t))}
        assert kinds <= {EventType.PRESS_REFUSED}
        self.tell(RunRulings(run.id))
        self.wait(0.5)  # what the display asks again has to be read first
        if self.story is not None:
            assert self.rig.state == self.story.at(self.stamp(self.rig.now)).state

    def tell(self, told: RunRulings) -> None:
        self.rig.inbox.append(RulingsReceived(told))
        try:
            self.settle()
        except (Died, RuntimeError) as death:
            self.die(death)
            self.rig.inbox.append(RulingsReceived(told))  # it is retained
            self.settle()

    def mend_the_disk(self) -> None:
        if self.saved is not None:
            self.chaos.trouble = None
            self.wait(2.0)
            self.saved = None
            assert not self.rig.history.not_saved

    def act(self) -> None:
        roll = self.chance.random()
        if roll < 0.12:
            self.something_goes_wrong()
        elif roll < 0.15:
            self.the_hub_rules()
        elif roll < 0.25:
            self.mend_the_disk()
        elif roll < 0.45:
            self.wait(self.chance.choice((0.5, 5.0, 61.0, 119.0, 300.0, 599.0, 1800.0, 7000.0)))
        elif roll < 0.55:
            self.to_a_boundary()
            self.press(self.chance.choice(list(Button)))
        elif roll < 0.63 and self.rig.state in (READY, PREVIEW, RUNNING, PAUSED, ASSISTING):
            self.blind(self.chance.choice(list(Button)))
        elif roll < 0.75:
            self.undo()
        else:
            weights = (4, 3, 3, 1) if self.rig.state == READY else (1, 4, 4, 2)
            self.press(self.chance.choices(list(Button), weights)[0])

    def undo(self) -> None:
        """Not while the preview is about to end: by then the judge has seen that it is too late."""
        if self.story is not None:
            sheet = self.story.at(self.stamp(self.rig.now))
            if sheet.state == PREVIEW and self.stamp(self.rig.now) > sheet.start + PREVIEW_MS - 6000:
                return
        self.press(Button.START, 2.25)

    def bring_to_an_end(self) -> None:
        """From wherever it stands, the judge brings the run to its end with what the display offers."""
        for _ in range(60):
            self.chaos.what = ""
            self.mend_the_disk()
            match self.rig.state:
                case "sealed":
                    return
                case "ready":
                    self.press(Button.START)
                case "preview":
                    self.wait(121.0)
                case "time_up":
                    self.press(
                        Button.FINISH if self.rig.screen.clock not in ("0", "2:00:00") else Button.ASSIST
                    )
                case _:
                    self.press(Button.FINISH if self.rig.state != PAUSED else Button.PAUSE)
            self.wait(0.5)
        raise AssertionError(f"no way out of {self.rig.state}")

    # What must hold at the end ---------------------------------------------------------------------

    def check(self) -> None:
        events = self.events()
        stamps = Counter((e.boot, e.mono_ms, str(e.type)) for e in events)
        for what, boot, t, _ in self.taken:
            kinds = UNDONE if what == "undo" else {TYPES[what]}
            assert sum(stamps[boot, t, str(kind)] for kind in kinds) == 1, f"{what} at {t} is not there once"
        run = self.rig.history.run
        assert run is not None
        fold = Tournament({"adulto": TORNEO["adulto"]})
        for event in events:
            fold.apply(event)
        t_ms = run.elapsed_ms(self.rig.history.stamp(self.rig.now))
        result = fold.result(fold.runs[run.id], t_ms)
        assert result is not None
        assert result == self.rig.history.result(run, self.rig.now)
        assert [r for r in fold.results() if r.status is Status.RUNNING] == []
        if self.story is not None:
            assert (result.official_s, result.pieces) == self.story.result()
            assert Mark.INTERRUPTED not in result.marks
        elif result.raw_s is not None:
            finish = next(e for e in reversed(events) if e.type == EventType.RUN_FINISHED)
            assert finish.boot == run.start.boot or Mark.INTERRUPTED in result.marks


def play(seed: int) -> None:
    with tempfile.TemporaryDirectory(prefix="evening-") as folder:
        evening = Evening(Path(folder), seed)
        try:
            for _ in range(evening.chance.randint(5, 25)):
                if evening.rig.state == SEALED:
                    break
                evening.act()
            evening.bring_to_an_end()
            evening.check()
        finally:
            evening.rig.unplug()


def play_all(seeds: range) -> None:
    failed = []
    for seed in seeds:
        try:
            play(seed)
        except AssertionError as error:
            failed.append(f"seed {seed}: {error}")
    assert failed == []


@pytest.mark.parametrize("first", range(0, IN_TEST, BATCH))
def test_random_presses_with_faults_end_with_the_right_result(first: int) -> None:
    """A05: never a state that ignores every button. A22: each time is the difference of its presses."""
    play_all(range(first, first + BATCH))


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("first", range(IN_TEST, IN_TEST_LONG, 20 * BATCH))
def test_ten_thousand_random_presses_with_faults_end_with_the_right_result(first: int) -> None:
    """A05."""
    play_all(range(first, first + 20 * BATCH))
