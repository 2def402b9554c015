"""A card that lost whole lines it had called safe: no seq is given twice, and the hub gets all that follows (E07)."""

from __future__ import annotations

import json
from pathlib import Path

from device.debounce import Button
from device.journal import Journal
from hub.arrivals import Cursor, Incoming, judge
from shared.core.events import Event, EventType
from shared.core.model import Mark, State, Status
from shared.core.tournament import Tournament
from tests.device.rig import TORNEO, Rig
from tests.device.test_app import running

START, PAUSE, FINISH = Button.START, Button.PAUSE, Button.FINISH


def a_paused_run(folder: Path) -> list[Event]:
    """A run with a pause, of which the hub has everything; the plug is pulled."""
    rig = Rig(folder, "adulto")
    rig.press(START)
    rig.wait(200)
    rig.press(PAUSE)
    rig.wait(60)
    rig.press(PAUSE)
    rig.unplug()
    return rig.events()


def lose_lines(folder: Path, log: str, count: int) -> None:
    file = folder / f"{log}.journal"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-count]))


def test_a_finish_after_a_power_cut_reaches_the_hub_though_the_card_lost_lines_the_hub_has(
    tmp_path: Path,
) -> None:
    """Nothing on the card says so: what it noted of the delivery went back with it."""
    had = a_paused_run(tmp_path)
    lose_lines(tmp_path, had[0].log, 2)
    rig = Rig(tmp_path, "adulto", boot="boot-2", now=1500.0, zero_s=1490.0, online=False)
    assert rig.state == State.RUNNING
    rig.press(FINISH)
    rig.press(FINISH)
    assert rig.state == State.SEALED
    known = {had[0].log: Cursor("t07", had[0].log, len(had))}
    sent = [*rig.journal.earlier(), rig.events()]
    judgement = judge([Incoming("t", "t07", log) for log in sent], known)
    assert [e.type for e in judgement.accepted] == [e.type for e in rig.events()]
    tournament = Tournament(TORNEO)
    for event in [*had, *judgement.accepted]:
        tournament.apply(event)
    (result,) = tournament.results()
    assert result.status is Status.FINISHED
    assert Mark.SUPERSEDED in result.marks, "the hub says that presses it has were not on the card any more"
    rig.unplug()


def test_every_boot_that_follows_another_begins_a_log_and_one_boot_needs_no_second(tmp_path: Path) -> None:
    logs = []
    for life, boot in enumerate(["boot-1", "boot-1", "boot-2", "boot-2", "boot-3"]):
        rig = Rig(tmp_path, "adulto", boot=boot, life=f"-{life}", now=1000.0 + life)
        rig.press(FINISH)
        logs.append(rig.journal.log)
        rig.unplug()
    assert logs[0] == logs[1] != logs[2] == logs[3] != logs[4]


def test_a_log_shorter_than_the_hub_is_known_to_have_it_is_closed_before_anything_is_written(
    tmp_path: Path,
) -> None:
    """The process begins again in the same boot; people are told, and the run goes on in a new log."""
    with running(tmp_path, 1) as (app, _):
        run = "r"
        rules = app._history._plans.keep_rules(TORNEO["adulto"])
        app._journal.append(
            "run_started", boot="boot-1", mono_ms=1, wall_ms=None, run=run,
            entrant=None, category="adulto", table=7, rules=rules,
        )  # fmt: skip
        old = app._journal.log
    cursors = [{"log": old, "seq": 3, "epoch": "e"}]
    (tmp_path / "delivery.json").write_text(json.dumps(cursors))
    with running(tmp_path, 1) as (app, _):
        assert app._journal.log != old
        taken_over = app._journal.events()[0]
        assert (taken_over.type, taken_over.run) == (EventType.RUN_TAKEN_OVER, run)
        assert taken_over.data == {"from_log": old, "from_seq": 1}
        (found,) = app._journal.findings
        assert (found.code, found.log, found.seq) == ("journal_damaged", old, 2)
        assert len(app._journal.read(1, 9, old)) == 1
    journal = Journal.open(tmp_path, "t07", lambda: "never")
    assert journal.log != old
    journal.close()


def test_a_log_the_hub_has_less_of_goes_on_in_the_same_boot(tmp_path: Path) -> None:
    with running(tmp_path, 1) as (app, _):
        log = app._journal.log
        for n in range(3):
            app._journal.append("pause_started", boot="boot-1", mono_ms=n, wall_ms=None, run="r")
    (tmp_path / "delivery.json").write_text(json.dumps([{"log": log, "seq": 3, "epoch": "e"}]))
    with running(tmp_path, 1) as (app, _):
        assert app._journal.log == log
        assert app._journal.findings == []
