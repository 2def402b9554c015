"""Disks of our own that are really full or can only be read: a run goes on, none begins, and people are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from device.journal import NotSaved
from tests.device.test_app import running
from tests.device.test_storage import ROOT, may_mount

_DISK = """
import subprocess, sys
from pathlib import Path
from device.debounce import Button
from shared.clock import monotonic
from shared.core.model import State
from tests.device.test_app import running
from tests.waiting import wait_until

disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4000k", "none", str(disk)], check=True)

def fill():
    try:
        with (disk / "flood").open("ab", buffering=0) as flood:
            while True:
                flood.write(b"x" * 4096)
    except OSError as error:
        assert error.errno == 28, error

def mounted(how):
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)

def state(app):
    return app.table.situation(monotonic()).state

def not_saved(app):
    return app.table.facts(monotonic()).not_saved

def press(pins, button, then):
    until_s = monotonic() + 0.1
    pins.press(button)
    wait_until(lambda: monotonic() > until_s)
    pins.release(button)
    wait_until(then)

def types(app):
    return [str(e.type) for e in app._journal.events()]

def refused(app):
    return app.table.facts(monotonic()).refusal is not None

def begin():
    with running(disk, 1) as (app, pins):
        press(pins, Button.START, lambda: state(app) is State.RUNNING)
        return app._journal.log
"""

_TORN = """
log = begin()
with (disk / f"{log}.journal").open("ab") as journal:
    journal.write(b'0badc0de {"v":1,"dev')
if not reserve:
    (disk / "reserve").unlink()
fill()
with running(disk, 1) as (app, pins):
    assert state(app) is State.RUNNING
    assert [p.code for p in app._journal.findings] == ["journal_damaged"]
    press(pins, Button.FINISH, lambda: state(app) is State.CLAIMED)
    wait_until(lambda: not_saved(app))
    if not reserve:
        assert types(app) == []
        (disk / "flood").unlink()
    wait_until(lambda: types(app)[:1] == ["run_taken_over"] and "run_finished" in types(app))
    assert app._journal.log != log
"""

_READ_ONLY = """
log = begin()
if torn:
    with (disk / f"{log}.journal").open("ab") as journal:
        journal.write(b'0badc0de {"v":1,"dev')
mounted("ro")
with running(disk, 1) as (app, pins):
    assert state(app) is State.RUNNING
    wait_until(lambda: not_saved(app))
    press(pins, Button.FINISH, lambda: state(app) is State.CLAIMED)
    assert "run_finished" not in types(app)
    mounted("rw")
    wait_until(lambda: not not_saved(app))
    assert types(app) == ["run_taken_over" if torn else "run_started", "run_finished"]
"""

_READY = """
import time
if before:
    with running(disk, 1):
        pass
    fill()
with running(disk, 1) as (app, pins):
    if not before:
        fill()
    asked_s = time.monotonic()
    wait_until(lambda: not_saved(app))
    assert time.monotonic() - asked_s < 5
    assert (disk / "reserve").exists(), "what is held back is not for a run that begins"
    press(pins, Button.START, lambda: refused(app))
    assert state(app) is State.READY
    (disk / "flood").unlink()
    wait_until(lambda: not not_saved(app))
    wait_until(lambda: not refused(app))
    press(pins, Button.START, lambda: state(app) is State.RUNNING)
    fill()
    press(pins, Button.FINISH, lambda: state(app) is State.CLAIMED)
    wait_until(lambda: "run_finished" in types(app))
"""


def on_a_disk_of_its_own(folder: Path, script: str) -> None:
    """The script in a process that sees a small file system at this folder."""
    command = ["unshare", "--mount", sys.executable, "-c", _DISK + script, str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stderr


needs_mounts = pytest.mark.skipif(not may_mount(), reason="needs the right to mount")


@needs_mounts
@pytest.mark.parametrize("reserve", [True, False])
def test_a_run_whose_log_was_torn_goes_on_when_the_disk_is_full(tmp_path: Path, reserve: bool) -> None:
    """E06, E07: in the room held back, and without that in memory until there is room."""
    on_a_disk_of_its_own(tmp_path, f"reserve = {reserve}\n{_TORN}")


@needs_mounts
@pytest.mark.parametrize("torn", [False, True])
def test_a_run_goes_on_when_the_table_starts_again_on_a_disk_that_can_only_be_read(
    tmp_path: Path, torn: bool
) -> None:
    """E07, A01: shown, pressed and told, and written once it can be."""
    on_a_disk_of_its_own(tmp_path, f"torn = {torn}\n{_READ_ONLY}")


@needs_mounts
@pytest.mark.parametrize("before", [False, True])
def test_ready_on_a_full_disk_says_within_five_seconds_that_nothing_can_be_started(
    tmp_path: Path, before: bool
) -> None:
    """A01, E06: whether it fills up meanwhile or was full when the table was switched on."""
    on_a_disk_of_its_own(tmp_path, f"before = {before}\n{_READY}")


def test_a_folder_that_cannot_be_made_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    sentence = r"the folder .*/file/state cannot be made: Not a directory$"
    with pytest.raises(NotSaved, match=sentence), running(tmp_path / "file" / "state", 1):
        pass
