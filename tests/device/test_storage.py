"""What the disk under a journal is worth, and the room held back for when it is full."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from device.buttons import NoButtons
from device.cannot_start import EXIT_NO_BUTTONS, EXIT_NOT_SAVED, exit_code, why
from device.cli import main
from device.journal import Journal, JournalBusy, NotSaved
from device.storage import RESERVE_BYTES, Reserve, volatile_kind
from shared.core.events import Event

ROOT = Path(__file__).parents[2]
MOUNT = "{id} 1 0:{id} / {point} rw - {kind} source rw\n"


def mounts(folder: Path, *lines: tuple[str, str]) -> Path:
    file = folder / "mountinfo"
    file.write_text("".join(MOUNT.format(id=n, point=p, kind=k) for n, (p, k) in enumerate(lines, 20)))
    return file


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([("/", "ext4")], None),
        ([("/", "overlay")], "overlay"),
        ([("/", "overlay"), ("/data", "ext4")], None),
        ([("/", "ext4"), ("/data", "tmpfs")], "tmpfs"),
        ([("/", "ext4"), ("/data", "tmpfs"), ("/data", "f2fs")], None),
        ([("/", "ext4"), ("/dat", "tmpfs")], None),
        ([("/", "ext4"), ("/data/table\\040timer", "tmpfs")], "tmpfs"),
    ],
)
def test_a_file_system_that_forgets_with_the_power_is_known(
    tmp_path: Path, lines: list[tuple[str, str]], kind: str | None
) -> None:
    assert volatile_kind(Path("/data/table timer/state"), mounts(tmp_path, *lines)) == kind


@pytest.mark.skipif(volatile_kind(Path("/dev/shm")) is None, reason="no memory file system at /dev/shm")
def test_a_table_refuses_to_be_ready_on_a_disk_that_forgets(tmp_path: Path) -> None:
    """A01: nobody finds out in the afternoon that nothing was kept."""
    config = tmp_path / "table-timer.toml"
    config.write_text(
        'device = "t07"\ntable = 7\nstate_dir = "/dev/shm"\n[buttons]\npins = "mock"\n[display]\ndriver = "none"\n'
    )
    result = CliRunner().invoke(main, ["run", "--config", str(config)])
    assert result.exit_code == EXIT_NOT_SAVED
    assert result.output == "Error: /dev/shm is on tmpfs: nothing there outlives a power cut\n"


def test_the_reserve_holds_room_for_two_thousand_events_and_is_kept_over_a_restart(tmp_path: Path) -> None:
    """E06."""
    Journal.open(tmp_path, "t07", lambda: "a").close()
    assert (tmp_path / "reserve").stat().st_blocks * 512 >= RESERVE_BYTES >= 2_000 * 400
    made = (tmp_path / "reserve").stat().st_ino
    Journal.open(tmp_path, "t07", lambda: "b").close()
    assert (tmp_path / "reserve").stat().st_ino == made


class FullDisk:
    """A disk without room until somebody deletes the reserve, and then for so many writes."""

    def __init__(self, folder: Path) -> None:
        self.reserve = folder / "reserve"
        self.full = False

    def __call__(self, fd: int) -> None:
        if self.full and self.reserve.exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        os.fdatasync(fd)


def press(journal: Journal, n: int) -> Event:
    return journal.append("pause_started", boot="b", mono_ms=n, wall_ms=None, run="r")


def test_a_full_disk_gives_up_the_reserve_for_what_must_be_written(tmp_path: Path) -> None:
    disk = FullDisk(tmp_path)
    journal = Journal.open(tmp_path, "t07", lambda: "a", sync=disk)
    press(journal, 1)
    disk.full = True
    assert press(journal, 2).seq == 2
    assert not disk.reserve.exists()
    disk.full = False
    assert journal.trouble() is None, "there is room again, and it is held again"
    assert disk.reserve.exists()
    journal.close()
    again = Journal.open(tmp_path, "t07", lambda: "b")
    assert [e.mono_ms for e in again.events()] == [1, 2]
    again.close()


def test_without_room_for_the_reserve_the_disk_is_full(tmp_path: Path) -> None:
    too_much = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    reserve = Reserve(tmp_path / "reserve", too_much)
    assert not reserve.take()
    assert not reserve.release()
    assert not (tmp_path / "reserve").exists()
    journal = Journal.open(tmp_path, "t07", lambda: "a", reserve_bytes=too_much)
    assert journal.trouble() == "full"
    journal.close()


def test_a_log_that_was_closed_can_be_deleted_and_its_room_is_free(tmp_path: Path) -> None:
    names = iter("abc")
    journal = Journal.open(tmp_path, "t07", lambda: next(names))
    press(journal, 1)
    with pytest.raises(ValueError, match="closed before"):
        journal.delete("a")
    journal.begin_new_log()
    press(journal, 2)
    journal.delete("a")
    assert (journal.earlier(), journal.earlier_logs()) == ([], [])
    assert not (tmp_path / "a.journal").exists()
    journal.close()
    again = Journal.open(tmp_path, "t07", lambda: next(names))
    assert (again.log, again.earlier()) == ("b", [])
    again.close()


_IN_A_SMALL_DISK = """
import subprocess, sys
from pathlib import Path
from device.journal import Journal, JournalBusy, NotSaved
from device.storage import is_read_only
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2600k", "none", str(disk)], check=True)
names = iter("abcdef")
journal = Journal.open(disk, "t07", lambda: next(names))
press = lambda n: journal.append("pause_started", boot="b", mono_ms=n, wall_ms=None, run="r")
press(1); assert journal.trouble() is None, journal.trouble()
try:
    (disk / "flood").write_bytes(b"x" * 4_000_000)
except OSError as error:
    assert error.errno == 28, error
for n in range(2, 2002):
    press(n)
assert journal.trouble() == "full", journal.trouble()
(disk / "flood").unlink()
assert journal.trouble() is None, journal.trouble()
journal.close()
again = Journal.open(disk, "t07", lambda: next(names))
assert [e.seq for e in again.events()] == list(range(1, 2002)) and not again.findings
again.close()
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
assert is_read_only(disk)
again = Journal.open(disk, "t07", lambda: next(names))
assert [e.seq for e in again.events()] == list(range(1, 2002)), "what is there is read"
assert again.trouble() == "read_only"
try:
    Journal.open(disk, "t07", lambda: next(names))
except JournalBusy:
    pass
else:
    raise AssertionError("two processes with one journal")
try:
    again.append("pause_started", boot="b", mono_ms=1, wall_ms=None, run="r")
except NotSaved as error:
    print(error)
else:
    raise AssertionError("written to a disk that can only be read")
subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
assert again.trouble() is None, again.trouble()
assert again.append("pause_started", boot="b", mono_ms=1, wall_ms=None, run="r").seq == 2002
"""


def may_mount() -> bool:
    """Whether this process can have a disk of its own."""
    try:
        return (
            subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
        )
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
def test_a_disk_filled_to_the_last_byte_takes_two_thousand_more_events(tmp_path: Path) -> None:
    """E06, A01: a disk that is really full, mended, and then can only be read."""
    command = ["unshare", "--mount", sys.executable, "-c", _IN_A_SMALL_DISK, str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stderr
    assert "Read-only file system" in result.stdout


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (NoButtons("x"), EXIT_NO_BUTTONS, "SIN BOTONES"),
        (NotSaved("x"), EXIT_NOT_SAVED, "NO GUARDA"),
        (JournalBusy("x"), 1, "OTRO PROGRAMA"),
    ],
)
def test_why_a_table_cannot_start_is_on_its_display(error: Exception, code: int, words: str) -> None:
    """B05, B08."""
    assert exit_code(error) == code
    assert why(error, 7, "es").lines == (words,)
