"""The real lgpio on a fake chip under a whole table: found, shared, killed, and dying of its own bug."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from device.cannot_start import EXIT_NO_BUTTONS
from device.debounce import Button
from device.journal import Journal
from shared.core.events import Event, EventType
from tests.device.fakechip.chip import ChipFingers, FakeChip, missing
from tests.waiting import GENEROUS_S

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"needs {missing()}")


@contextmanager
def table(chip: FakeChip, state_dir: Path) -> Iterator[subprocess.Popen[str]]:
    process = chip.start("tests.device.fakechip.table", str(state_dir))
    with process:
        try:
            yield process
        finally:
            process.kill()


def until_shown(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    deadline = threading.Timer(GENEROUS_S, process.kill)
    deadline.start()
    try:
        for line in process.stdout:
            if words in line:
                return
    finally:
        deadline.cancel()
    assert process.stderr is not None
    raise AssertionError(f"never shown: {words}; it said {process.stderr.read()}")


def tell(process: subprocess.Popen[str], order: str) -> None:
    assert process.stdin is not None
    process.stdin.write(order + "\n")
    process.stdin.flush()


def journaled(state_dir: Path) -> list[Event]:
    journal = Journal.open(state_dir, "t07", lambda: "never")
    events = journal.events()
    journal.close()
    return events


@pytest.mark.parametrize("number", [0, 4, 13])
def test_the_header_is_opened_whatever_its_number(tmp_path: Path, number: int) -> None:
    """B05: found by its driver, opened, and its buttons work."""
    chip = FakeChip(tmp_path / "chip", number)
    with table(chip, tmp_path / "state") as process:
        until_shown(process, "START")
        ChipFingers(chip.folder).press(Button.START)
        until_shown(process, "FINISH fin")
        tell(process, "stop")
        assert process.wait(GENEROUS_S) == 0
    assert [e.type for e in journaled(tmp_path / "state")] == [EventType.RUN_STARTED]


def test_without_a_header_the_table_ends_with_one_sentence_and_a_code_of_its_own(tmp_path: Path) -> None:
    """B05, B08: never another library, never READY without live buttons."""
    chip = FakeChip(tmp_path / "chip", driver="nxp,pca9555")
    with table(chip, tmp_path / "state") as process:
        said, errors = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == EXIT_NO_BUTTONS
    assert errors.startswith("no GPIO chip of a Raspberry Pi header")
    assert errors.count("\n") == 1
    assert not said


def test_a_line_another_process_holds_is_named_and_free_once_that_is_killed(tmp_path: Path) -> None:
    """B09: GPIO busy."""
    chip = FakeChip(tmp_path / "chip")
    with table(chip, tmp_path / "one") as first:
        until_shown(first, "START")
        with table(chip, tmp_path / "two") as second:
            _, errors = second.communicate(timeout=GENEROUS_S)
        assert second.returncode == EXIT_NO_BUTTONS
        assert errors == "button START (GPIO17) cannot be claimed: 'GPIO busy'\n"
        first.kill()
        first.wait(GENEROUS_S)
        with table(chip, tmp_path / "two") as third:
            until_shown(third, "START")


def test_a_table_whose_button_thread_died_ends_and_the_next_process_goes_on_with_the_run(
    tmp_path: Path,
) -> None:
    """E10, and an error in a callback, which makes all buttons deaf for good."""
    chip, state = FakeChip(tmp_path / "chip"), tmp_path / "state"
    fingers = ChipFingers(chip.folder)
    with table(chip, state) as process:
        until_shown(process, "START")
        fingers.press(Button.START)
        until_shown(process, "FINISH fin")
        fingers.release(Button.START)
        tell(process, "die")
        assert process.wait(GENEROUS_S) == EXIT_NO_BUTTONS
        assert process.stderr is not None
        assert process.stderr.read().endswith("the thread that hears the buttons has ended\n")
    with table(chip, state) as process:
        until_shown(process, "FINISH fin")
        fingers.press(Button.FINISH)
        until_shown(process, "¿COMPLETO?")
        tell(process, "stop")
        assert process.wait(GENEROUS_S) == 0
    assert [e.type for e in journaled(state)] == [EventType.RUN_STARTED, EventType.RUN_FINISHED]


def test_a_table_whose_button_thread_hangs_ends_and_has_lost_no_press(tmp_path: Path) -> None:
    """E10: the thread is alive and tells of nothing; the levels show what it missed."""
    chip, state = FakeChip(tmp_path / "chip"), tmp_path / "state"
    fingers = ChipFingers(chip.folder)
    with table(chip, state) as process:
        until_shown(process, "START")
        fingers.press(Button.START)
        until_shown(process, "FINISH fin")
        fingers.release(Button.START)
        tell(process, "hang")
        until_shown(process, "hangs")
        fingers.press(Button.FINISH)
        until_shown(process, "¿COMPLETO?")
        fingers.release(Button.FINISH)
        assert process.wait(GENEROUS_S) == EXIT_NO_BUTTONS
        assert process.stderr is not None
        assert process.stderr.read().endswith("the thread that hears the buttons hangs\n")
    with table(chip, state) as process:
        until_shown(process, "¿COMPLETO?")
        tell(process, "stop")
        assert process.wait(GENEROUS_S) == 0
    assert [e.type for e in journaled(state)] == [EventType.RUN_STARTED, EventType.RUN_FINISHED]
