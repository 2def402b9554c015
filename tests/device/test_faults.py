"""What goes wrong around a table, one field report after the other, on the real controller.

Long because each report has its tests here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.debounce import Button, RawEdge
from device.from_hub import DeliveryProblem
from device.health import NOISY_BURSTS, NOISY_S, NoiseWatch, health
from device.history import LONG_LOG
from device.journal import Journal
from device.presses import STUCK_S
from hub.arrivals import Incoming, acks, judge
from shared.core.events import Event, EventType
from shared.core.model import Mark, Problem, State, Status
from shared.core.tournament import Tournament
from tests.device.rig import TORNEO, Faults, Rig

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH


@pytest.fixture
def table(tmp_path: Path) -> Any:
    """Makes tables in one folder, each a new process on the journal of the one before."""
    made: list[Rig] = []

    def make(**options: Any) -> Rig:
        if made:
            made[-1].unplug()
        made.append(Rig(tmp_path, "adulto", life=f"-{len(made)}", **options))
        return made[-1]

    yield make
    made[-1].unplug()


Make = Callable[..., Rig]


def running(rig: Rig) -> None:
    rig.press(START)
    rig.wait(121)
    assert rig.state == State.RUNNING


def fold(rig: Rig) -> Tournament:
    tournament = Tournament({"adulto": TORNEO["adulto"]})
    for log in [*rig.journal.earlier(), rig.journal.events()]:
        for event in log:
            tournament.apply(event)
    return tournament


@pytest.mark.parametrize("trouble", ["read_only", "full", "failing"])
def test_a_disk_that_takes_nothing_is_told_within_five_seconds_and_what_was_held_is_written_once(
    table: Make, trouble: str
) -> None:
    """A01: NOT SAVED with its age, START refused, a run that goes is finished from memory."""
    rig = table()
    running(rig)
    rig.wait(20)
    rig.faults.trouble = trouble
    rig.wait(5)
    assert rig.screen.top_right.startswith("NO GUARDA 0:")
    assert rig.states[-1]["not_saved"]
    rig.wait(60)
    assert rig.screen.top_right.startswith("NO GUARDA 1:")
    rig.press(FINISH)
    rig.press(FINISH)
    assert (rig.state, rig.screen.top) == (State.SEALED, "FINAL")
    assert rig.types() == ["run_started"]
    rig.press(START)
    rig.press(START)
    assert rig.state == State.READY, "nothing is begun that cannot be kept"
    assert rig.screen.bottom_inverse
    rig.faults.trouble = None
    rig.wait(2)
    assert not rig.screen.top_right.startswith("NO GUARDA")
    assert not rig.states[-1]["not_saved"]
    kept = [t for t in rig.types() if t != "press_refused"]
    assert kept == ["run_started", "run_finished", "finish_accepted"]
    assert [e.seq for e in rig.events()] == list(range(1, len(rig.events()) + 1))
    rig.press(START)
    assert rig.state == State.PREVIEW


def test_a_start_that_the_disk_did_not_take_has_not_happened(table: Make) -> None:
    """A01, A06: nothing is shown as running that a power cut would undo."""
    rig = table()
    rig.faults.trouble = "full"
    rig.press(START)
    assert rig.state == State.READY
    assert rig.events() == []
    rig.faults.trouble = None
    rig.wait(2)
    rig.press(START)
    assert rig.state == State.PREVIEW
    assert [t for t in rig.types() if t != "press_refused"] == ["run_started"]


@pytest.mark.parametrize("ends", ["finish", "undone in the preview", "another process", "another boot"])
def test_however_a_run_ends_the_next_one_has_an_id_of_its_own(table: Make, ends: str) -> None:
    """A03: a new run is a new id, whatever the one before came to."""
    rig = table()
    rig.press(START)
    if ends == "undone in the preview":
        rig.press(START, hold=2.2)
    else:
        rig.wait(121)
        rig.press(FINISH)
        if ends == "another process":
            rig = table(now=rig.now + 1)
        elif ends == "another boot":
            rig = table(now=rig.now + 9, boot="boot-2", zero_s=rig.now)
        rig.wait(0.5)
        rig.press(FINISH)
        rig.wait(0.5)
        rig.press(START)
    assert rig.state == State.READY
    rig.press(START)
    runs = [e.run for log in [*rig.journal.earlier(), rig.events()] for e in log if e.type == "run_started"]
    assert len(runs) == len(set(runs)) == 2


def test_start_twice_within_300_ms_is_one_start(table: Make) -> None:
    """A06."""
    rig = table()
    for _ in range(2):
        rig.down(START)
        rig.wait(0.1)
        rig.up(START)
        rig.wait(0.1)
    assert len(rig.events(EventType.RUN_STARTED)) == 1


def test_a_finish_right_after_the_start_is_refused_and_one_after_the_end_changes_nothing(table: Make) -> None:
    """A06: no time for a run that was not made, and nothing after the run is closed."""
    rig = table()
    rig.press(START, hold=0.05)
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "preview"
    rig.wait(121)
    rig.press(FINISH)
    rig.press(FINISH)
    before = rig.history.result(rig.history.run, rig.now) if rig.history.run is not None else None
    rig.press(FINISH)
    assert rig.events()[-1].data["reason"] == "sealed"
    assert rig.history.run is not None
    assert rig.history.result(rig.history.run, rig.now) == before


def test_start_while_a_finish_is_not_accepted_overwrites_nothing(table: Make) -> None:
    """A06, A14."""
    rig = table()
    running(rig)
    rig.press(FINISH)
    rig.press(START)
    assert rig.state == State.CLAIMED
    assert rig.events()[-1].data["reason"] == "claimed"


def test_two_buttons_at_once_are_taken_in_one_order_and_both_are_journaled(table: Make) -> None:
    """A14: the order of their first edges, however they arrive."""
    rig = table()
    running(rig)
    t = rig.now
    rig.levels[FINISH] = rig.levels[PAUSE] = True
    rig.inbox += [RawEdge(FINISH, t + 0.003, True), RawEdge(PAUSE, t, True)]
    rig.wait(0.2)
    rig.up(FINISH)
    rig.up(PAUSE)
    rig.wait(1)
    assert [(str(e.type), e.mono_ms) for e in rig.events()[-2:]] == [
        ("pause_started", int(t * 1000)),
        ("press_refused", int((t + 0.003) * 1000)),
    ]


def test_finish_then_undo_within_three_seconds_is_an_undo(table: Make) -> None:
    """A14: what must be confirmed is locked for a moment, not the way back."""
    rig = table()
    running(rig)
    rig.press(FINISH)
    rig.press(START, hold=2.1)
    assert rig.types()[-1] == "finish_rejected"


def test_every_result_is_the_difference_of_its_presses_whatever_the_display_did(table: Make) -> None:
    """A22: passes of the loop, pictures and their pace have no part in it."""
    rig = table()
    for n in range(30):
        rig.press(START)
        began = rig.events(EventType.RUN_STARTED)[-1].mono_ms
        rig.jump(121.0 + 3.137 * n) if n % 2 else rig.wait(121.0 + 3.137)
        rig.press(FINISH)
        ended = rig.events(EventType.RUN_FINISHED)[-1].mono_ms
        rig.press(FINISH)
        run = rig.history.run
        assert run is not None
        result = rig.history.result(run, rig.now)
        assert began is not None
        assert ended is not None
        assert result is not None
        assert result.raw_s == (ended - began - 120_000) // 1000
        rig.wait(0.5)
        rig.press(START)


class SlowDisk(Faults):
    """A card that stalls for three seconds at the next write, while time goes by for everybody."""

    def __init__(self) -> None:
        self.rig: Rig | None = None

    def at(self, place: str) -> None:
        if place == "write" and self.rig is not None:
            rig, self.rig = self.rig, None
            for button in (PAUSE, PAUSE, FINISH):
                rig.now += 0.5
                rig.down(button)
                rig.now += 0.25
                rig.up(button)
            rig.now += 0.75


def test_presses_during_a_stalled_write_are_taken_afterwards_with_their_own_times(table: Make) -> None:
    """B03: no later press is lost or moved by the one that waits for the disk."""
    disk = SlowDisk()
    rig = table(faults=disk)
    running(rig)
    t = rig.now
    disk.rig = rig
    rig.press(ASSIST, hold=0.25)
    rig.wait(2)
    acts = [(str(e.type), e.mono_ms) for e in rig.events()[1:]]
    assert [kind for kind, _ in acts] == ["assist_started", "pause_started", "pause_ended", "run_finished"]
    assert acts[0][1] == int(t * 1000)
    first = acts[1][1]
    assert first is not None
    assert [ms - first for _, ms in acts[1:] if ms is not None] == [0, 750, 1500]


def test_interference_on_a_line_is_counted_and_stops_no_run(table: Make) -> None:
    """B04: pulses of up to 4 ms, and a burst at 50 Hz for a minute."""
    rig = table()
    running(rig)
    for n in range(300):
        rig.inbox += [RawEdge(FINISH, rig.now, True), RawEdge(FINISH, rig.now + 1e-6 + n % 5 * 0.001, False)]
        rig.wait(0.1)
    for _ in range(3000):
        rig.inbox += [RawEdge(PAUSE, rig.now, True), RawEdge(PAUSE, rig.now + 0.01, False)]
        rig.jump(0.02)
    rig.wait(1)
    assert (rig.state, rig.types()) == (State.RUNNING, ["run_started"])
    assert rig.table.noise[FINISH] == 300
    assert rig.table.noise[PAUSE] >= 100
    rig.press(ASSIST)
    assert rig.state == State.ASSISTING


def test_a_button_is_noisy_while_its_bursts_come_fast_and_is_named() -> None:
    """B04."""
    watch = NoiseWatch()
    for n in range(1, NOISY_BURSTS):
        assert watch.see(float(n), {PAUSE: n, FINISH: 0}) == frozenset()
    assert watch.see(10.0, {PAUSE: NOISY_BURSTS, FINISH: 0}) == {PAUSE}
    assert watch.see(1.0 + NOISY_S, {PAUSE: NOISY_BURSTS, FINISH: 1}) == frozenset()
    told = health(
        display="ok",
        noise={PAUSE: 7, FINISH: 0},
        noisy={PAUSE},
        stuck=[FINISH],
        restamped=0,
        storage="full",
        findings=[Problem("journal_damaged", log="L")],
    )
    assert told["noise"] == {"pause": 7}
    assert [p["code"] for p in told["problems"]] == [
        "button_stuck",
        "button_noisy",
        "storage_full",
        "journal_damaged",
    ]
    assert [p.get("button") for p in told["problems"][:2]] == ["finish", "pause"]


def test_an_unplugged_lead_is_a_button_that_nobody_presses(table: Make) -> None:
    """B04: pulled up, it reads as not pressed."""
    rig = table()
    running(rig)
    rig.wait(600)
    assert rig.types() == ["run_started"]
    assert not rig.table.presses.stuck


@pytest.mark.parametrize(("hold", "act"), [(1.9, "pause_ended"), (2.1, "act_undone")])
def test_a_hold_is_never_the_short_press_too(table: Make, hold: float, act: str) -> None:
    """B06: either, by a tenth of a second; stamped at the press."""
    rig = table()
    running(rig)
    rig.press(PAUSE)
    t = rig.now
    rig.press(START, hold=hold)
    assert (rig.types()[-1], rig.events()[-1].mono_ms) == (act, int(t * 1000))
    assert len(rig.types()) == 3


def test_a_power_cut_during_a_hold_is_neither(table: Make) -> None:
    """B06."""
    rig = table()
    running(rig)
    rig.press(PAUSE)
    rig.down(START)
    rig.wait(1.5)
    rig = table(boot="boot-2", now=rig.now + 10, zero_s=rig.now)
    rig.wait(5)
    assert rig.types() == ["boot_started", "run_taken_over"]
    assert rig.state == State.PAUSED


def test_a_button_that_gets_stuck_later_is_named_and_the_others_work(table: Make) -> None:
    rig = table()
    running(rig)
    rig.down(ASSIST)
    rig.wait(STUCK_S - 1)
    assert rig.table.presses.stuck == frozenset()
    rig.wait(2)
    assert rig.table.presses.stuck == {ASSIST}
    rig.wait(4)
    assert "ASSIST ATASCADO" in {
        text for screen in rig.screens[-5:] for text in (screen.top, screen.top_right)
    }
    rig.press(PAUSE)
    assert rig.state == State.PAUSED
    rig.press(PAUSE)
    rig.up(ASSIST)
    rig.wait(1)
    assert not rig.table.presses.stuck
    rig.press(ASSIST)
    assert rig.types()[-1] == "assist_started"


def test_fifty_kills_in_a_run_cost_no_second(table: Make) -> None:
    """B09, E10: whenever it is killed, also five times in a row, the next process times on."""
    rig = table()
    running(rig)
    began = rig.events()[0].mono_ms
    for n in range(50):
        rig.jump(7.0 if n > 5 else 0.0)
        rig = table(now=rig.now + 0.5)
        assert rig.state == State.RUNNING
    rig.press(FINISH)
    rig.press(FINISH)
    finish = rig.events(EventType.RUN_FINISHED)[-1].mono_ms
    (result,) = fold(rig).results()
    assert began is not None
    assert finish is not None
    assert (result.raw_s, Mark.INTERRUPTED in result.marks) == ((finish - began - 120_000) // 1000, False)


@pytest.mark.parametrize("step_ms", [9 * 3_600_000, -40 * 60_000, 1_000, -2 * 365 * 86_400_000])
def test_a_wall_clock_that_jumps_in_a_run_changes_nothing(table: Make, step_ms: int) -> None:
    """E03."""
    rig = table()
    running(rig)
    rig.wait(20)
    rig.wall_ahead_ms = step_ms
    rig.wait(39.4)
    shown = rig.screen.clock
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.screen.clock == shown
    (result,) = fold(rig).results()
    assert result.status is Status.FINISHED
    assert [e.seq for e in rig.events()] == [1, 2, 3]


# Logs -------------------------------------------------------------------------------------------


def test_a_log_of_which_the_hub_has_more_is_closed_and_the_run_goes_on_in_a_new_one(table: Make) -> None:
    """The card went back to an older state: no seq is given twice, on the hub the run is one."""
    rig = table()
    running(rig)
    old = rig.journal.log
    doubt = Problem("ack_beyond_log", log=old, seq=1, detail={"acked": 5})
    rig.inbox.append(DeliveryProblem(doubt))
    rig.wait(2)
    assert rig.journal.log != old
    (taken_over,) = rig.events()
    assert (taken_over.type, taken_over.data) == ("run_taken_over", {"from_log": old, "from_seq": 1})
    rig.inbox.append(DeliveryProblem(doubt))
    rig.wait(2)
    rig.press(PAUSE)
    rig.press(PAUSE)
    rig.press(FINISH)
    rig.press(FINISH)
    assert len(rig.journal.earlier()) == 1, "closed once"
    tournament = fold(rig)
    (result,) = tournament.results()
    assert (result.status, list(result.marks)) == (Status.FINISHED, [])
    (run,) = tournament.runs.values()
    assert [p.code for p in run.problems] == []


def test_a_damaged_log_is_closed_in_a_run_and_its_process_times_on(table: Make, tmp_path: Path) -> None:
    """E07: a flipped byte at the end; also in the same boot the run has no gap and no doubt."""
    rig = table()
    running(rig)
    rig.press(PAUSE)
    file = tmp_path / f"{rig.journal.log}.journal"
    rig.unplug()
    file.write_bytes(file.read_bytes()[:-3] + b"???")
    rig = table(now=rig.now + 1)
    assert rig.types() == ["run_taken_over"]
    assert [p.code for p in rig.journal.findings] == ["journal_damaged"]
    assert rig.state == State.RUNNING, "the pause was lost with its line, and the display says so"
    rig.press(FINISH)
    rig.press(FINISH)
    (run,) = fold(rig).runs.values()
    assert not run.inexact
    assert [p.code for p in run.problems] == []


def test_what_was_done_before_a_log_was_closed_can_still_be_undone(table: Make) -> None:
    rig = table()
    running(rig)
    rig.press(ASSIST)
    assert rig.state == State.ASSISTING
    old = rig.journal.log
    rig.inbox.append(DeliveryProblem(Problem("ack_beyond_log", log=old, seq=1, detail={"acked": 5})))
    rig.wait(2)
    rig.press(START, hold=2.2)
    assert rig.state == State.RUNNING
    undo = rig.events(EventType.ACT_UNDONE)[-1]
    assert undo.data == {"undone": 2, "undone_log": old}
    (run,) = fold(rig).runs.values()
    assert (run.state.assists, run.problems) == (0, [])


def sent(journal: Journal, log: str) -> list[Event]:
    return journal.read(1, 99, log)


def test_lines_lost_in_the_middle_are_told_as_missing_and_the_hub_takes_what_follows(
    table: Make, tmp_path: Path
) -> None:
    rig = table()
    for _ in range(5):
        rig.press(FINISH)
    log, file = rig.journal.log, tmp_path / f"{rig.journal.log}.journal"
    rig.unplug()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], b"rubbish\n", lines[3], lines[4]]))
    rig = table(now=rig.now + 1)
    events = sent(rig.journal, log)
    assert [(str(e.type), e.seq, e.data.get("to")) for e in events] == [
        ("press_refused", 1, None),
        ("records_missing", 2, 3),
        ("press_refused", 4, None),
        ("press_refused", 5, None),
    ]
    judgement = judge([Incoming("t", "t07", events)], {})
    assert [e.seq for e in judgement.accepted] == [1, 2, 4, 5]
    assert [ack.seq for _, ack in acks(judgement, {}, "epoch")] == [5]
    assert rig.journal.read(3, 1, log)[0].data == {"to": 3}, "also when asked for from inside the gap"


def test_a_long_log_is_closed_between_two_runs_and_never_in_one(table: Make) -> None:
    rig = table()
    running(rig)
    for n in range(LONG_LOG):
        rig.journal.append(
            "clock_anchored", boot="b", mono_ms=n, wall_ms=None, hub_ms=n, base="x", error_ms=1
        )
    log = rig.journal.log
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.journal.log == log
    rig.wait(0.5)
    rig.press(START)
    assert rig.journal.log != log
    running(rig)
    assert not rig.history.delete_log(rig.journal.log)
    assert rig.history.delete_log(log), "the run in it is over"
    assert rig.journal.earlier() == []


def test_a_log_that_a_live_run_began_in_is_not_deleted(table: Make) -> None:
    rig = table()
    running(rig)
    log = rig.journal.log
    rig.inbox.append(DeliveryProblem(Problem("ack_beyond_log", log=log, seq=1)))
    rig.wait(2)
    assert not rig.history.delete_log(log)
    assert rig.journal.earlier_logs() == [log]
