"""The journal: what is appended is there again, whatever the power, the disk or a stray bit did.

Long because every kind of damage has its case here.
"""

from __future__ import annotations

import errno
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.journal import Journal, JournalBusy, NotSaved
from device.journal_line import journal_line, read_lines
from shared.core.events import BadEvent, Event

DEVICE = "t07-k3f9"


def log_names(prefix: str = "t07-k3f9-") -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):08x}"


def press(journal: Journal, n: int, type: str = "pause_started") -> Event:
    return journal.append(
        type, boot="b0", mono_ms=1000 * n, wall_ms=1_700_000_000_000 + n, run=f"run-{n}", note="ñ\r\n"
    )


def filled(directory: Path, count: int) -> tuple[str, list[Event], bytes]:
    """A closed journal of `count` events: its log, its events and the bytes of its file."""
    journal = Journal.open(directory, DEVICE, log_names())
    events = [press(journal, n) for n in range(1, count + 1)]
    journal.close()
    return journal.log, events, (directory / f"{journal.log}.journal").read_bytes()


@contextmanager
def a_disk_full_at(file_bytes: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_events_get_seqs_without_gaps_and_are_there_after_a_restart(tmp_path: Path) -> None:
    log, events, _ = filled(tmp_path, 3)
    assert [e.seq for e in events] == [1, 2, 3]
    journal = Journal.open(tmp_path, DEVICE, log_names("other-"))
    assert (journal.log, journal.last_seq, journal.events()) == (log, 3, events)
    assert press(journal, 4).seq == 4
    assert journal.findings == []
    assert journal.earlier() == []
    journal.close()


def test_an_event_comes_back_as_it_was_appended(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, DEVICE, log_names())
    given_ = journal.append(
        "run_started", boot="b1", mono_ms=-5, wall_ms=None, run="r", entrant=None, category="Ñ☺", table=7
    )
    journal.close()
    again = Journal.open(tmp_path, DEVICE, log_names())
    assert again.events() == [given_]
    assert given_.data == {"entrant": None, "category": "Ñ☺", "table": 7}
    again.close()


def test_what_is_no_event_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, DEVICE, log_names())
    with pytest.raises(BadEvent, match="run_started needs field run"):
        journal.append("run_started", boot="b", mono_ms=1, wall_ms=None)
    assert press(journal, 1).seq == 1
    journal.close()


def test_a_second_journal_in_the_same_directory_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    first = Journal.open(tmp_path, DEVICE, log_names())
    with pytest.raises(JournalBusy, match="another process"):
        Journal.open(tmp_path, DEVICE, log_names("x-"))
    first.close()
    Journal.open(tmp_path, DEVICE, log_names("y-")).close()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from device.journal import Journal\n"
        "j = Journal.open(Path(sys.argv[1]), 't07-k3f9', lambda: 'log-a')\n"
        "j.append('pause_started', boot='b', mono_ms=1, wall_ms=None, run='r')\n"
        "print('up', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        with pytest.raises(JournalBusy):
            Journal.open(tmp_path, DEVICE, log_names())
        other.kill()
        other.wait(timeout=60)
    journal = Journal.open(tmp_path, DEVICE, log_names())
    assert (journal.log, journal.last_seq) == ("log-a", 1)
    journal.close()


@pytest.mark.parametrize(
    ("from_seq", "limit", "seqs"), [(1, 2, [1, 2]), (4, 9, [4, 5]), (6, 3, []), (0, 1, [1])]
)
def test_a_part_of_the_log_is_read_by_seq(tmp_path: Path, from_seq: int, limit: int, seqs: list[int]) -> None:
    filled(tmp_path, 5)
    journal = Journal.open(tmp_path, DEVICE, log_names())
    assert [e.seq for e in journal.read(from_seq, limit)] == seqs
    journal.close()


def test_a_torn_tail_closes_the_log_is_set_aside_and_no_seq_is_given_twice(tmp_path: Path) -> None:
    log, events, content = filled(tmp_path, 3)
    (tmp_path / f"{log}.journal").write_bytes(content[:-5])
    journal = Journal.open(tmp_path, DEVICE, log_names("next-"))
    assert journal.log == "next-00000001"
    assert journal.last_seq == 0
    assert journal.earlier() == [events[:2]]
    (finding,) = journal.findings
    assert (finding.code, finding.log, finding.seq) == ("journal_damaged", log, 3)
    torn = len(content) - 5 - len(b"".join(map(journal_line, events[:2])))
    assert finding.detail == {"events_kept": 2, "bytes_damaged": torn}
    assert (tmp_path / f"{log}.damaged").read_bytes() == content[-5 - torn : -5]
    assert journal.read(2, 9, log=log) == [events[1]]
    journal.close()


def test_damage_is_told_once_and_the_new_log_is_continued(tmp_path: Path) -> None:
    log, events, content = filled(tmp_path, 2)
    (tmp_path / f"{log}.journal").write_bytes(content + b"\0" * 40)
    journal = Journal.open(tmp_path, DEVICE, log_names("next-"))
    added = press(journal, 9)
    journal.close()
    again = Journal.open(tmp_path, DEVICE, log_names("third-"))
    assert again.findings == []
    assert (again.log, again.events(), again.earlier()) == ("next-00000001", [added], [events])
    again.close()


def test_a_line_flipped_in_the_middle_loses_that_line_only(tmp_path: Path) -> None:
    log, events, content = filled(tmp_path, 4)
    middle = content.index(b'"seq":2')
    (tmp_path / f"{log}.journal").write_bytes(content[:middle] + b"\x22" * 3 + content[middle + 3 :])
    journal = Journal.open(tmp_path, DEVICE, log_names("next-"))
    assert journal.earlier() == [[events[0], events[2], events[3]]]
    assert journal.findings[0].seq == 2
    journal.close()


@pytest.mark.parametrize("line", [1, 2, 3])
@pytest.mark.parametrize("value", [b"\x0b", b"\x8a", b" ", b"}"])
def test_a_newline_flipped_to_anything_loses_no_event(tmp_path: Path, line: int, value: bytes) -> None:
    """E07: the checksums on both sides of it hold."""
    log, events, content = filled(tmp_path, 3)
    lines = content.split(b"\n")
    flipped = b"\n".join(lines[:line]) + value + b"\n".join(lines[line:])
    assert len(flipped) == len(content)
    (tmp_path / f"{log}.journal").write_bytes(flipped)
    journal = Journal.open(tmp_path, DEVICE, log_names("next-"))
    assert journal.earlier() == [events]
    assert journal.findings[0].detail == {"events_kept": 3, "bytes_damaged": 1}
    assert (tmp_path / f"{log}.damaged").read_bytes() == value
    assert journal.log != log
    journal.close()


def test_an_event_behind_damage_in_its_line_is_kept() -> None:
    for rubbish in (b"\0" * 40, b'0badc0de {"v":1,"dev', b"[" * 3000, b"ffffffff {" * 99):
        found = read_lines(LAW_BYTES + rubbish + journal_line(LAW_NEXT), LAW_LOG)
        assert found.events == (*LAW_EVENTS, LAW_NEXT)
        assert found.damaged == rubbish


def test_damage_in_a_log_closed_earlier_is_told_once_and_so_is_more_of_it(tmp_path: Path) -> None:
    """E07: the hub may not have it yet, and then hears that it is missing."""
    journal = Journal.open(tmp_path, DEVICE, log_names())
    old, events = journal.log, [press(journal, n) for n in range(1, 6)]
    journal.begin_new_log()
    press(journal, 6)
    journal.close()
    file = tmp_path / f"{old}.journal"
    for damaged, told in (([2], 1), ([2], 0), ([2, 4], 1)):
        lines = [
            journal_line(e).replace(b'"seq"', b'"?eq"') if e.seq in damaged else journal_line(e)
            for e in events
        ]
        file.write_bytes(b"".join(lines))
        again = Journal.open(tmp_path, DEVICE, log_names("never-"))
        for _ in range(2):
            assert again.earlier() == [[e for e in events if e.seq not in damaged]]
        assert [p.code for p in again.findings] == ["journal_damaged"] * told
        missing = [e.seq for e in again.read(1, 9, old) if e.type == "records_missing"]
        assert missing == damaged
        assert (tmp_path / f"{old}.damaged").read_bytes().count(b"\n") == len(damaged)
        again.close()


def test_a_lost_line_between_whole_ones_closes_the_log_too(tmp_path: Path) -> None:
    log, events, _ = filled(tmp_path, 3)
    (tmp_path / f"{log}.journal").write_bytes(journal_line(events[0]) + journal_line(events[2]))
    journal = Journal.open(tmp_path, DEVICE, log_names("next-"))
    assert journal.earlier() == [[events[0], events[2]]]
    assert journal.log != log
    journal.close()


def test_an_emptied_log_is_never_continued(tmp_path: Path) -> None:
    log, _, _ = filled(tmp_path, 3)
    (tmp_path / f"{log}.journal").write_bytes(b"")
    journal = Journal.open(tmp_path, DEVICE, log_names("next-"))
    assert journal.log != log
    assert not (tmp_path / f"{log}.journal").exists()
    journal.close()


def test_earlier_logs_come_in_the_order_in_which_they_were_begun(tmp_path: Path) -> None:
    names = iter(["c", "a", "b", "d"])
    journal = Journal.open(tmp_path, DEVICE, lambda: next(names))
    expected = []
    for n in range(3):
        expected.append([press(journal, n)])
        journal.begin_new_log()
    assert (journal.log, journal.last_seq) == ("d", 0)
    assert journal.earlier() == expected
    press(journal, 4)
    journal.close()
    for file, age in (("c", 900), ("a", 100), ("b", 500), ("d", 300)):  # a wall clock nobody set
        os.utime(tmp_path / f"{file}.journal", (age, age))
    again = Journal.open(tmp_path, DEVICE, log_names("never-"))
    assert again.log == "d"
    assert again.earlier() == expected
    again.close()


@pytest.mark.parametrize("order", [None, b"\xff\0garbage\n", b""])
def test_without_the_list_of_logs_their_files_are_still_all_read(tmp_path: Path, order: bytes | None) -> None:
    names = iter(["c", "a"])
    journal = Journal.open(tmp_path, DEVICE, lambda: next(names))
    old = press(journal, 1)
    journal.begin_new_log()
    new = press(journal, 2)
    journal.close()
    os.utime(tmp_path / "c.journal", (100, 100))
    if order is None:
        (tmp_path / "logs").unlink()
    else:
        (tmp_path / "logs").write_bytes(order)
    again = Journal.open(tmp_path, DEVICE, log_names("never-"))
    assert again.earlier() == [[old]]
    assert again.events() == [new]
    again.close()


def test_another_bundle_on_the_same_card_begins_its_own_log(tmp_path: Path) -> None:
    _, events, _ = filled(tmp_path, 2)
    journal = Journal.open(tmp_path, "t08-zzzz", log_names("t08-zzzz-"))
    assert journal.log == "t08-zzzz-00000001"
    assert journal.earlier() == [events]
    assert press(journal, 1).device == "t08-zzzz"
    journal.close()


@pytest.mark.parametrize("name", ["../up", "", "a/b", ".hidden"])
def test_a_log_id_that_cannot_be_a_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a log"):
        Journal.open(tmp_path, DEVICE, lambda: name)


def test_a_log_id_is_never_used_again(tmp_path: Path) -> None:
    log, _, content = filled(tmp_path, 1)
    (tmp_path / f"{log}.journal").write_bytes(content[:-1])
    with pytest.raises(ValueError, match="was used before"):
        Journal.open(tmp_path, DEVICE, lambda: log)


@pytest.mark.parametrize("room", [0, 1, 30])
def test_a_full_disk_leaves_nothing_behind_and_the_retry_is_written_once(tmp_path: Path, room: int) -> None:
    journal = Journal.open(tmp_path, DEVICE, log_names())
    press(journal, 1)
    file = tmp_path / f"{journal.log}.journal"
    before = file.read_bytes()
    with a_disk_full_at(len(before) + room), pytest.raises(NotSaved, match="File too large"):
        press(journal, 2)
    assert file.read_bytes() == before
    assert journal.last_seq == 1
    assert press(journal, 2).seq == 2
    journal.close()
    again = Journal.open(tmp_path, DEVICE, log_names())
    assert [e.mono_ms for e in again.events()] == [1000, 2000]
    assert again.findings == []
    again.close()


class FailingSync:
    """A card whose writes cannot be made durable while it is told to fail."""

    def __init__(self) -> None:
        self.failing = False

    def __call__(self, fd: int) -> None:
        if self.failing:
            raise OSError(errno.EIO, "Input/output error")
        os.fdatasync(fd)


def test_an_event_that_was_not_made_durable_is_not_saved_and_not_given_to_anyone(tmp_path: Path) -> None:
    sync = FailingSync()
    journal = Journal.open(tmp_path, DEVICE, log_names(), sync=sync)
    press(journal, 1)
    sync.failing = True
    for _ in range(3):
        with pytest.raises(NotSaved, match="Input/output error"):
            press(journal, 2)
    assert journal.events() == journal.read(1, 9)
    assert journal.last_seq == 1
    sync.failing = False
    press(journal, 2)
    assert (tmp_path / f"{journal.log}.journal").read_bytes().count(b"\n") == 2
    journal.close()


def test_a_deleted_journal_file_is_noticed(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, DEVICE, log_names())
    press(journal, 1)
    (tmp_path / f"{journal.log}.journal").unlink()
    with pytest.raises(NotSaved, match="deleted"):
        press(journal, 2)
    journal.begin_new_log()
    assert press(journal, 3).seq == 1
    journal.close()


def test_a_directory_that_cannot_be_made_is_not_saved(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotSaved, match="cannot be opened"):
        Journal.open(tmp_path / "file" / "journal", DEVICE, log_names())


def test_a_stalled_disk_delays_no_reader_and_shows_nothing_early(tmp_path: Path) -> None:
    stalled, go_on = threading.Event(), threading.Event()

    def slow(fd: int) -> None:
        if journal_is_open.is_set():
            stalled.set()
            assert go_on.wait(60)
        os.fdatasync(fd)

    journal_is_open = threading.Event()
    journal = Journal.open(tmp_path, DEVICE, log_names(), sync=slow)
    journal_is_open.set()
    writer = threading.Thread(target=press, args=(journal, 1))
    writer.start()
    assert stalled.wait(60)
    assert journal.read(1, 9) == []
    go_on.set()
    writer.join(60)
    assert [e.seq for e in journal.read(1, 9)] == [1]
    journal.close()


LAW_LOG = "t07-k3f9-1a2b3c4d"
LAW_EVENTS = [
    Event(DEVICE, LAW_LOG, n, "pause_started", "b0", n * 7, 1_700_000_000_000, f"run-{n}", {"note": "ñ" * n})
    for n in range(1, 9)
]
LAW_NEXT = Event(DEVICE, LAW_LOG, 9, "pause_ended", "b0", 99, 1_700_000_000_000, "run-9")
LAW_BYTES = b"".join(map(journal_line, LAW_EVENTS))
LAW_ENDS = list(itertools.accumulate(len(journal_line(e)) for e in LAW_EVENTS))


def test_a_journal_cut_at_any_byte_leaves_a_prefix() -> None:
    for cut in range(len(LAW_BYTES) + 1):
        content = read_lines(LAW_BYTES[:cut], LAW_LOG)
        whole = sum(end <= cut for end in LAW_ENDS)
        assert content.events == tuple(LAW_EVENTS[:whole])
        assert content.whole == (cut == 0 or cut in LAW_ENDS)
        assert content.damaged == LAW_BYTES[([0, *LAW_ENDS])[whole] : cut]


@given(st.lists(st.tuples(st.integers(0, len(LAW_BYTES) - 1), st.integers(0, 255)), max_size=20))
def test_flipped_bytes_never_give_a_wrong_event(flips: list[tuple[int, int]]) -> None:
    content = bytearray(LAW_BYTES)
    for at, value in flips:
        content[at] = value
    found = read_lines(bytes(content), LAW_LOG)
    assert {e.seq for e in found.events} <= set(range(1, 9))
    assert all(e == LAW_EVENTS[e.seq - 1] for e in found.events)
    untouched = [
        e
        for e, a, b in zip(LAW_EVENTS, [0, *LAW_ENDS], LAW_ENDS, strict=False)
        if content[a:b] == LAW_BYTES[a:b]
    ]
    assert len(found.events) >= len(untouched) - 2 * len(flips)
    assert found.whole == (bytes(content) == LAW_BYTES)


@given(st.binary(max_size=400))
def test_any_bytes_at_all_are_damage_and_never_an_error(content: bytes) -> None:
    found = read_lines(content, LAW_LOG)
    assert found.events == ()
    assert found.damaged == content


@pytest.mark.parametrize("other", ["t07-k3f9-ffffffff", ""])
def test_lines_of_another_log_are_damage(other: str) -> None:
    assert read_lines(LAW_BYTES, other).events == ()


def test_a_line_that_stands_twice_counts_once() -> None:
    doubled = LAW_BYTES + journal_line(LAW_EVENTS[-1])
    found = read_lines(doubled, LAW_LOG)
    assert found.events == tuple(LAW_EVENTS)
    assert not found.whole


@settings(max_examples=40, deadline=None)  # a disk may be busy
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.data())
def test_whatever_is_cut_between_restarts_no_seq_of_a_log_is_given_twice(runs: list[int], data: Any) -> None:
    with tempfile.TemporaryDirectory() as made:
        directory, names, told = Path(made), log_names(), {}
        for count in runs:
            journal = Journal.open(directory, DEVICE, names)
            for n in range(count):
                event = press(journal, n, "step_solved")
                # what was told and survives is the same event for ever
                assert event.key not in told
                told[event.key] = event
            journal.close()
            file = directory / f"{journal.log}.journal"
            content = file.read_bytes()
            # inside a line: a cut between two lines is what only the hub's ack can tell
            cut = data.draw(st.sampled_from([n for n in range(len(content)) if content[n - 1 : n] != b"\n"]))
            file.write_bytes(content[:cut])
        last = Journal.open(directory, DEVICE, names)
        for events in last.earlier():
            assert events == [told[e.key] for e in events]
            assert [e.seq for e in events] == list(range(1, len(events) + 1))
        last.close()
