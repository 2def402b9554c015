"""Reports C02 to C06: a display that is slow, dead, absent, another or worn harms no time.

Long because the reports share one bus and one panel.
"""

from __future__ import annotations

import errno
import itertools
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image, ImageChops

from device.app import App, Parts
from device.buttons import MockPins, NoButtons, open_factory
from device.cannot_start import show_why, why
from device.cli import main
from device.config import load_settings
from device.debounce import Button
from device.display_check import frame, show_frame
from device.draw import HEIGHT, WIDTH, draw
from device.fakes.bus import RecordedBus
from device.from_hub import LinkSettings, PlanReceived
from device.journal import Journal
from device.panel import CONTRAST, DIM_CONTRAST, DRIVERS, Panel
from device.rest import RestAfter, place
from device.screen import Glow, Screen
from device.screens import compose
from device.simulator.supervisor import Tables
from device.table import Seat
from shared.clock import RunClock
from shared.core.events import Event, EventType
from shared.core.model import State
from shared.core.rules import PauseRules
from shared.plan import Plan, PlannedRun
from tests.device.rig import TORNEO, Rig
from tests.device.virtual import NO_HUB, tap, virtual_tables
from tests.waiting import GENEROUS_S, wait_until

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH
RULES = replace(TORNEO["adulto"], preview_ms=0, pauses=PauseRules(1000, 3_600_000))
"""Without a preview, and with pauses without end: each press of PAUSE is an act."""
MINUTE_S, HOUR_S = 60.0, 3600.0


class Running:
    """The app on mock pins, with the display on its bus."""

    def __init__(self, folder: Path, bus: RecordedBus, *, driver: str = "ssd1306", rest: RestAfter) -> None:
        self.bus = bus
        self.sent: list[bytes] = []
        self.screens: list[Screen] = []
        factory = open_factory("mock")
        self.panel = Panel(
            driver, lambda: bus, back_off_s=(0.01,), on_sent=lambda frame, _t: self.sent.append(frame)
        )
        self.app = App(
            Parts(
                seat=Seat(7, (RULES,)),
                link=LinkSettings("127.0.0.1", 1, "t07"),
                state_dir=folder,
                boot="boot-1",
                pin_factory=factory,
                panel=self.panel,
                run_clock=RunClock(0.0),
                allow_volatile=True,
                rest=rest,
                on_screen=self.screens.append,
            )
        )
        self.pins = MockPins(factory)

    def press(self, button: Button) -> tuple[float, float]:
        """Press and release; the instants before and after the pin went down."""
        before = time.monotonic()
        self.pins.press(button)
        after = time.monotonic()
        wait_until(lambda: time.monotonic() > after + 0.05)
        self.pins.release(button)
        up = time.monotonic()
        wait_until(lambda: time.monotonic() > up + 0.05)
        return before, after

    def shows(self, screen: Callable[[Screen], object]) -> bool:
        """Waits until the glass shows a picture of such a screen."""
        return self.bus.wait_for(
            lambda lit: any(screen(s) and draw(s).tobytes() == lit.tobytes() for s in self.screens[-3:]),
            GENEROUS_S,
        )


@contextmanager
def running(
    folder: Path, bus: RecordedBus, driver: str = "ssd1306", rest: RestAfter | None = None
) -> Iterator[Running]:
    table = Running(folder, bus, driver=driver, rest=rest or RestAfter())
    ready = threading.Event()
    thread = threading.Thread(target=table.app.run, args=(ready.set,))
    thread.start()
    try:
        assert ready.wait(GENEROUS_S)
        yield table
    finally:
        table.app.stop()
        thread.join()


def glow(rig: Rig) -> Glow:
    return rig.screen.glow


def journaled(folder: Path) -> list[Event]:
    journal = Journal.open(folder, "t07", lambda: "none")
    try:
        return [e for e in journal.events() if e.type != EventType.PRESS_REFUSED]
    finally:
        journal.close()


class SlowBus(RecordedBus):
    """A bus on which each transfer takes its time."""

    def __init__(self, seconds: Callable[[int], float]) -> None:
        super().__init__()
        self._seconds = seconds
        self._never = threading.Event()

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        self._never.wait(self._seconds(len(data)))
        super().write_i2c_block_data(i2c_addr, register, data)


SLOW: dict[str, Callable[[int], float]] = {
    "10 kHz": lambda payload: 9 * (payload + 2) / 10_000,
    "1.5 s for a frame": lambda _payload: 1.5 / 33,
}


@pytest.mark.parametrize("kind", SLOW)
def test_c02_a_slow_display_changes_no_press_and_drops_pictures_instead_of_queueing(
    tmp_path: Path, kind: str
) -> None:
    began = time.monotonic()
    with running(tmp_path, SlowBus(SLOW[kind])) as table:
        pressed = [table.press(START)] + [table.press(PAUSE) for _ in range(8)]
        wait_until(lambda: table.screens[-1].top == "Mesa 7" and not table.screens[-1].seen)
        assert table.shows(lambda screen: screen.top == "Mesa 7" and screen.clock)
        took_s = time.monotonic() - began
        composed, sent = len(table.screens), len(table.sent)
    assert sent < composed, "pictures were dropped"
    assert sent <= 3 + took_s / (33 * SLOW[kind](31)), "and none was sent faster than the bus takes it"
    events = journaled(tmp_path)
    assert [e.type for e in events] == [EventType.RUN_STARTED] + 4 * [
        EventType.PAUSE_STARTED,
        EventType.PAUSE_ENDED,
    ]
    for event, (before, after) in zip(events, pressed, strict=True):
        assert math.floor(before * 1000) <= (event.mono_ms or 0) <= after * 1000


def test_c02_a_display_that_hangs_for_ever_changes_no_press(tmp_path: Path) -> None:
    bus = RecordedBus()
    bus.hang()
    try:
        with running(tmp_path, bus) as table:
            pressed = [table.press(START), table.press(PAUSE), table.press(PAUSE)]
            wait_until(lambda: table.screens[-1].top == "Mesa 7")
            assert table.sent == []
            bus.go_on()
            assert table.shows(lambda screen: screen.top == "Mesa 7")
    finally:
        bus.go_on()
    for event, (before, after) in zip(journaled(tmp_path), pressed, strict=True):
        assert math.floor(before * 1000) <= (event.mono_ms or 0) <= after * 1000


NAMES = {
    "Polish": "Żółć Święcka-Łabędź",
    "Turkish": "Ğüneş Işıl İbiş",
    "Vietnamese": "Nguyễn Thị Hoà",
    "Greek": "Ελένη Παπαδοπούλου",
    "Cyrillic": "Щукина Ёлка",
    "CJK": "山田太郎 王小明",
    "Arabic": "محمد عبد الله",
    "emoji": "🧩🏆 Puzzle",
    "joined emoji": "👩‍👩‍👧‍👦 familia",
    "bidi and controls": "\u202eana\u202c\x00\x1b[2J\r\n",
    "80 letters": "María de los Ángeles Fernández de la Peña y Gutiérrez-Villanueva del Castrillo X",
    "one long word": "W" * 80,
    "empty": "",
    "blank": " \t ",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_c03_no_name_blocks_a_table(tmp_path: Path, name: str) -> None:
    rig = Rig(tmp_path)
    runs = (PlannedRun(order=1, heat="3", entrant="e1", public_name=name, category="adulto"),)
    plan = Plan(revision=1, table=12, categories={"adulto": TORNEO["adulto"]}, runs=runs)
    rig.inbox.append(PlanReceived(plan.as_json()))
    rig.wait(1)
    ready = replace(rig.screen, shift=(0, 0))
    assert (ready.top, ready.top_right) == ("Mesa 12", "Turno 3")
    plain = draw(replace(ready, lines=("Ana Gil",)))
    shown = draw(ready)
    assert shown.crop((0, 0, WIDTH, 14)).tobytes() == plain.crop((0, 0, WIDTH, 14)).tobytes()
    assert shown.crop((0, 48, WIDTH, HEIGHT)).tobytes() == plain.crop((0, 48, WIDTH, HEIGHT)).tobytes()
    assert shown.crop((0, 15, WIDTH, 47)).getbbox() is not None, "the category at least"
    rig.press(START)
    rig.wait(120 + 600)
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.state == State.SEALED
    assert all(draw(screen) for screen in rig.screens[-5:])
    rig.unplug()


def test_c03_what_no_font_has_is_a_box_and_not_nothing() -> None:
    for name in (NAMES["CJK"], NAMES["Arabic"]):
        shown = draw(Screen("", lines=(name,), bottom="x"))
        assert shown.crop((0, 15, WIDTH, 47)).getbbox() is not None


def test_c04_a_dead_program_leaves_a_still_mark_and_the_next_one_shows_the_running_time(
    tmp_path: Path,
) -> None:
    tables = Tables(1, tmp_path, NO_HUB, "puzzle/1", 1.0, "es", "castrillo-2023", ("adulto",))
    with virtual_tables(tables) as supervisor:
        tap(supervisor, START, "running")
        pid = supervisor.view(1).pid
        assert pid is not None
        supervisor.kill(1)
        assert supervisor.wait_for(1, lambda v: v.restarts == 1 and v.alive, GENEROUS_S)
        assert "≥" not in supervisor.view(1).words
        frame = supervisor.view(1).frame
        assert supervisor.wait_for(1, lambda v: v.frame != frame, GENEROUS_S), "the mark walks again"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_c04_a_panel_whose_program_is_gone_keeps_its_picture_until_another_takes_it_over(
    number: signal.Signals,
) -> None:
    bus = RecordedBus()
    left, taken_over = draw(Screen("Mesa 7", clock="12:34")), draw(Screen("Mesa 7", clock="12:41", tick=7))
    dead = Panel("ssd1306", lambda: bus, refresh_s=HOUR_S)
    dead.show(left)
    dead.start()
    assert dead.wait_sent(left, GENEROUS_S)  # from here on it does nothing, as if killed or stopped
    assert bus.picture().tobytes() == left.tobytes()
    panel = Panel("ssd1306", lambda: bus)
    panel.show(taken_over)
    panel.start()
    assert bus.wait_for(lambda lit: lit.tobytes() == taken_over.tobytes(), GENEROUS_S)
    panel.stop(GENEROUS_S)
    dead.stop(GENEROUS_S)


def test_c04_the_mark_is_at_another_place_each_second_of_a_minute_in_every_state(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    for press, wait in ((None, 1), (START, 1), (None, 70), (PAUSE, 1)):
        if press is not None:
            rig.press(press)
        rig.wait(wait)
        seen = set()
        for _ in range(60):
            rig.wait(1)
            row = draw(rig.screen).crop((0, HEIGHT - 1, WIDTH, HEIGHT)).getbbox()
            assert row is not None
            seen.add(row)
        assert len(seen) == 60
    rig.unplug()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("address", [0x3C, 0x3D])
def test_c05_a_table_boots_without_its_display_and_shows_the_run_once_it_is_attached(
    tmp_path: Path, driver: str, address: int
) -> None:
    bus = RecordedBus(driver, address)
    bus.fail(errno.EREMOTEIO)
    with running(tmp_path, bus, driver) as table:
        before, after = table.press(START)
        wait_until(lambda: not table.panel.up and "0x3D" in table.panel.last_error)
        assert table.sent == []
        bus.mend()
        assert table.shows(lambda screen: screen.top == "Mesa 7" and screen.clock)
        wait_until(lambda: table.panel.up)
    (start,) = journaled(tmp_path)
    assert math.floor(before * 1000) <= (start.mono_ms or 0) <= after * 1000


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("panel_is", DRIVERS)
def test_c05_the_frame_is_whole_on_all_sides_with_the_right_driver_only(driver: str, panel_is: str) -> None:
    bus, stop, image = RecordedBus(panel_is), threading.Event(), frame(driver, "es")
    panel = Panel(driver, lambda: bus)
    thread = threading.Thread(target=show_frame, args=(panel, image, stop, GENEROUS_S))
    thread.start()
    assert panel.wait_sent(image, GENEROUS_S)
    lit = bus.picture()
    stop.set()
    thread.join()
    edge = Image.new("1", (WIDTH, HEIGHT))
    edge.paste(1, (0, 0, WIDTH, HEIGHT))
    edge.paste(0, (1, 1, WIDTH - 1, HEIGHT - 1))
    whole = ImageChops.logical_and(lit, edge).tobytes() == edge.tobytes()
    assert whole == ((driver == "sh1106") == (panel_is == "sh1106"))


def test_c05_who_checks_a_display_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    bus = RecordedBus()
    bus.fail(errno.EREMOTEIO)
    panel = Panel("ssd1306", lambda: bus, back_off_s=(0.001,))
    assert "0x3C" in show_frame(panel, frame("ssd1306", "en"), threading.Event(), 0.5)
    file = tmp_path / "table-timer.toml"
    file.write_text('device = "t07"\ntable = 7\n[display]\ndriver = "none"\n')
    answer = CliRunner().invoke(main, ["check-display", "--config", str(file)])
    assert answer.exit_code == 1
    assert "no display" in answer.output


def test_c06_an_idle_display_moves_dims_after_ten_minutes_and_is_dark_after_two_hours(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    glows: list[tuple[float, Glow]] = []
    places = set()
    began = rig.now
    for _ in range(24 * 60):
        rig.jump(MINUTE_S)
        if not glows or glows[-1][1] is not glow(rig):
            glows.append((rig.now - began, glow(rig)))
        places.add(rig.screen.shift)
    assert glows == [(MINUTE_S, Glow.FULL), (10 * MINUTE_S, Glow.DIM), (2 * HOUR_S, Glow.DARK)]
    assert places == {(x, y) for x in range(3) for y in range(2)}
    rig.unplug()


def test_c06_the_picture_moves_a_pixel_at_a_time_and_once_a_minute() -> None:
    places = [place(second) for second in range(3600)]
    moves = [(a, b) for a, b in itertools.pairwise(places) if a != b]
    assert len(moves) == 59
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in moves)


def test_c06_a_run_is_never_dimmed_and_what_people_must_see_neither(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.press(START)
    rig.wait(120 + 1.5 * HOUR_S)
    assert glow(rig) is Glow.FULL
    rig.wait(HOUR_S)
    assert rig.state == State.TIME_UP
    assert glow(rig) is Glow.FULL, "the pieces are still to be counted"
    rig.press(ASSIST)
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.state == State.SEALED
    rig.wait(11 * MINUTE_S)
    assert glow(rig) is Glow.DIM
    rig.faults.trouble = "full"
    rig.jump(3 * HOUR_S)
    assert "NO GUARDA" in rig.screen.top_right
    assert glow(rig) is Glow.FULL
    rig.faults.trouble = None
    rig.unplug()


def test_c06_a_press_that_wakes_the_display_is_seen_at_once_and_counts_with_its_true_time(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.jump(3 * HOUR_S)
    assert glow(rig) is Glow.DARK
    pressed, before = rig.now, len(rig.screens)
    rig.down(START)
    rig.wait(0.1)
    assert rig.screens[before].glow is Glow.FULL
    assert rig.screens[before].seen
    rig.up(START)
    rig.wait(1)
    assert glow(rig) is Glow.FULL
    (start,) = rig.events(EventType.RUN_STARTED)
    assert start.mono_ms == int(pressed * 1000)
    rig.unplug()


def test_c06_a_new_plan_wakes_the_display(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.jump(3 * HOUR_S)
    runs = (PlannedRun(order=1, heat="3", entrant="e1", public_name="Ana", category="adulto"),)
    plan = Plan(revision=1, table=12, categories={"adulto": TORNEO["adulto"]}, runs=runs)
    rig.inbox.append(PlanReceived(plan.as_json()))
    rig.wait(0.1)
    assert glow(rig) is Glow.FULL
    rig.unplug()


def test_c06_the_glass_is_dark_and_the_press_that_lights_it_starts_the_run(tmp_path: Path) -> None:
    bus = RecordedBus()
    with running(tmp_path, bus, rest=RestAfter(dim_s=None, dark_s=1.0)) as table:
        assert bus.wait_for(lambda lit: lit.getbbox() is not None, GENEROUS_S)
        assert bus.wait_for(lambda lit: lit.getbbox() is None, GENEROUS_S)
        before, after = table.press(START)
        assert bus.wait_for(lambda lit: lit.getbbox() is not None, GENEROUS_S)
        assert table.shows(lambda screen: screen.clock)
        assert bus.contrast == CONTRAST
    (start,) = journaled(tmp_path)
    assert math.floor(before * 1000) <= (start.mono_ms or 0) <= after * 1000


def test_c06_a_dark_display_keeps_its_picture_and_two_transfers_show_it_again() -> None:
    bus, pictures = RecordedBus(), [draw(Screen("Mesa 7", tick=n)) for n in range(3)]
    panel = Panel("ssd1306", lambda: bus, refresh_s=HOUR_S)
    panel.show(pictures[0])
    panel.start()
    assert panel.wait_sent(pictures[0], GENEROUS_S)
    panel.show(pictures[1], Glow.DARK)
    assert panel.wait_sent(Image.new("1", (WIDTH, HEIGHT)), GENEROUS_S)
    assert bus.picture().getbbox() is None
    sent = bus.transfers
    panel.show(pictures[1], Glow.DIM)
    assert panel.wait_sent(pictures[1], GENEROUS_S)
    assert bus.picture().tobytes() == pictures[1].tobytes()
    assert bus.transfers - sent == 2
    assert (bus.contrast, panel.up) == (DIM_CONTRAST, True)
    panel.stop(GENEROUS_S)


def test_c06_a_dark_display_stays_dark_when_it_is_set_up_again() -> None:
    bus = RecordedBus()
    panel = Panel("ssd1306", lambda: bus, refresh_s=0.01)
    panel.show(draw(Screen("Mesa 7")), Glow.DARK)
    panel.start()
    seen = bus.transfers
    assert bus.wait_transfers(seen + 200, GENEROUS_S) > seen + 200
    assert bus.picture().getbbox() is None
    panel.stop(GENEROUS_S)


def test_c06_a_dark_table_draws_nothing_but_its_moves_against_burn_in(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.jump(3 * HOUR_S)
    before = len(rig.screens)
    rig.wait(10 * MINUTE_S)
    assert len(rig.screens) - before <= 10
    assert glow(rig) is Glow.DARK
    rig.unplug()


@pytest.mark.parametrize(
    ("lines", "rest"),
    [
        ("", RestAfter(600.0, 7200.0)),
        ("[display]\ndim_after_min = 1\ndark_after_min = 30", RestAfter(60.0, 1800.0)),
        ("[display]\ndim_after_min = 0\ndark_after_min = 0", RestAfter(None, None)),
    ],
)
def test_c06_when_the_display_rests_is_a_setting(tmp_path: Path, lines: str, rest: RestAfter) -> None:
    file = tmp_path / "table-timer.toml"
    file.write_text(f'device = "t07"\ntable = 7\n{lines}\n')
    assert load_settings(file).display.rest() == rest


def test_a_pause_that_ran_out_blinks_twice_a_second_and_the_clock_below_stands_still_in_it(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.press(START)
    rig.wait(121)
    rig.press(PAUSE)
    rig.wait(320)
    assert rig.screen.top == "PAUSA AGOTADA, CORRE"
    before = len(rig.screens)
    rig.wait(10)
    shown = rig.screens[before:]
    changes = sum(a.blink_on is not b.blink_on for a, b in itertools.pairwise(shown))
    assert changes in (19, 20)
    assert len(shown) <= 31, "two pictures a second, and one when the clock changes in between"
    rig.press(PAUSE)
    before = len(rig.screens)
    rig.wait(10)
    assert all(not screen.blinks for screen in rig.screens[before + 1 :])
    assert len(rig.screens) - before <= 22
    rig.unplug()


def test_not_saved_blinks_and_says_whom_to_tell_while_the_clock_runs_on(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.press(START)
    rig.wait(130)
    rig.faults.trouble = "full"
    rig.wait(15)
    screen = rig.screen
    assert screen.blinks
    assert screen.top_right.startswith("NO GUARDA")
    assert screen.bottom == "avisar a organización"
    assert screen.clock == "0:25"
    assert {s.blink_on for s in rig.screens[-4:]} == {True, False}
    rig.faults.trouble = None
    rig.wait(5)
    assert not rig.screen.blinks
    rig.unplug()


def test_a_weak_supply_is_on_the_display_before_a_missing_network_and_after_a_doubtful_clock(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, "adulto", online=False)
    facts = rig.table.facts(rig.now)
    assert compose(replace(facts, supply_weak=True)).top_right == "CORRIENTE"
    assert compose(replace(facts, supply_weak=True, low=True)).top_right == "RELOJ"
    assert compose(facts).top_right == "sin red"
    rig.unplug()


def test_c04_the_mark_walks_also_while_a_table_says_why_it_cannot_start() -> None:
    bus, stop = RecordedBus(), threading.Event()
    marks = set()

    def walked(lit: Image.Image) -> bool:
        marks.add(lit.crop((0, HEIGHT - 1, WIDTH, HEIGHT)).getbbox())
        return len(marks - {None}) >= 2

    screen = why(NoButtons(""), 12, "es")
    thread = threading.Thread(target=show_why, args=(Panel("ssd1306", lambda: bus), screen, stop))
    thread.start()
    assert bus.wait_for(walked, GENEROUS_S)
    stop.set()
    thread.join()
    assert bus.picture().getbbox() is None
