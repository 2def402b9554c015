"""The journal: every event of this table on the disk before anybody is shown it, cut-proof at any byte.

A directory holds one file per log, `<log>.journal`; `<log>.damaged` keeps what could not be read of it;
`logs` names the logs in the order in which they were begun; `reserve` holds room for what a full disk would
refuse. The directory itself is locked by the one process that writes: that needs neither room nor a write.
Long because reading, mending and writing share one knowledge of the files.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from device.disk import replace_file, sync_directory
from device.journal_line import Content, journal_line, read_lines, without_gaps
from device.log_file import FULL, LogFile, Sync
from device.storage import RESERVE_BYTES, Reserve, has_room, is_read_only
from shared.core.events import VERSION, Event, event_from_json
from shared.core.model import Level, Problem

_LOG_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class JournalBusy(RuntimeError):
    """Another process writes this journal."""


class NotSaved(RuntimeError):
    """The disk did not take it; nothing of it is left in the file, and it may be tried again."""


class Journal:
    """The logs of one device on one disk: one that grows, and those closed before it.

    `append` belongs to one thread at a time; everything else may be called from any. Only what is safely
    on the disk is ever given by `read` or `events`.
    """

    log: str
    """The id of the log that grows."""

    def __init__(
        self, directory: Path, device: str, new_log: Callable[[], str], sync: Sync, reserve: Reserve
    ) -> None:
        self.directory = directory
        self.device = device
        self.findings: list[Problem] = []
        """What was found damaged; people must be told."""
        self._new_log = new_log
        self._sync = sync
        self._reserve = reserve
        self._logs: list[str] = []
        self._events: list[Event] = []
        self._file: LogFile | None = None
        self._aside: dict[str, bytes] = {}
        """What was found damaged, by log."""
        self._lock_fd = -1
        self._writing = threading.Lock()
        self._reading = threading.Lock()  # apart, so that a stalled disk delays no reader
        self._noting = threading.Lock()

    @classmethod
    def open(
        cls,
        directory: Path,
        device: str,
        new_log: Callable[[], str],
        *,
        sync: Sync = os.fdatasync,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> Self:
        """Continues the newest log if it is whole, else begins a new one with an id from `new_log`.

        A log with a torn, zeroed or flipped byte is closed for good, for no seq may be given twice;
        `findings` tells. `sync` makes the bytes of a file descriptor durable; `reserve_bytes` are held back
        for a full disk. A disk that only takes nothing, full or read-only, is no obstacle: what is in the
        journal is read, `trouble` tells, and `append` tries again.
        Raises JournalBusy if another process has it, NotSaved if there is no such directory to read.
        """
        journal = cls(directory, device, new_log, sync, Reserve(directory / "reserve", reserve_bytes))
        try:
            journal._take_lock()
            journal._reserve.take()
            journal._logs = journal._known_logs()
            if not journal._continue_newest():
                journal._begin()
            with suppress(OSError):  # tried again by whoever appends, or asks for the trouble
                journal._file_now().open()
        except OSError as error:
            journal.close()
            raise NotSaved(f"the journal in {directory} cannot be opened: {error}") from error
        except BaseException:
            journal.close()
            raise
        return journal

    @property
    def last_seq(self) -> int:
        """The seq of the newest event of the log; 0 if it has none."""
        return len(self._events)

    def append(
        self,
        type: str,
        *,
        boot: str,
        mono_ms: int,
        wall_ms: int | None,
        run: str | None = None,
        **fields: Any,
    ) -> Event:
        """Writes one event with the next seq and returns it once it is safe on the disk.

        Raises NotSaved if it is not; BadEvent if it is no event, which is a bug of the caller.
        """
        with self._writing:
            place = {"v": VERSION, "device": self.device, "log": self.log, "seq": self.last_seq + 1}
            stamp = {"boot": boot, "mono_ms": mono_ms, "wall_ms": wall_ms}
            about = {"type": type} if run is None else {"type": type, "run": run}
            event = event_from_json(place | stamp | about | fields)
            self._write(journal_line(event))
            with self._reading:
                self._events.append(event)
            return event

    def read(self, from_seq: int, limit: int, log: str | None = None) -> list[Event]:
        """Up to `limit` events from `from_seq` on, of the log that grows or of an earlier one.

        In place of events that were lost between others of an earlier log stands one `records_missing`.
        """
        if log is not None and log != self.log:
            content = self._content(log)
            return without_gaps(content.events, from_seq)[:limit] if content else []
        start = max(from_seq, 1) - 1
        with self._reading:
            return self._events[start : start + limit]

    def events(self) -> list[Event]:
        """All events of the log that grows."""
        with self._reading:
            return list(self._events)

    def earlier(self) -> list[list[Event]]:
        """What can be read of the logs closed before it, oldest first."""
        contents = [self._content(log) for log in self.earlier_logs()]
        return [list(content.events) for content in contents if content and content.events]

    def trouble(self) -> str | None:
        """Why what comes next may not be saved: `read_only`, `full`, `failing`, or None; asked every second.

        Room that was given up is taken again here as soon as there is some.
        """
        try:
            if is_read_only(self.directory):
                return "read_only"
            if not self._reserve.take():
                return "full"
            with self._writing:
                self._file_now().open()
        except OSError as error:
            return "full" if error.errno in FULL else "failing"
        return None

    def has_room(self) -> bool:
        """Whether a run could be begun beside what is held back for one that goes on."""
        try:
            return has_room(self.directory)
        except OSError:
            return False

    def earlier_logs(self) -> list[str]:
        """The ids of the logs closed before, oldest first."""
        return [log for log in self._logs if log != self.log]

    def delete(self, log: str) -> None:
        """Deletes a log closed before, and what was set aside of it. Raises OSError."""
        if log == self.log or log not in self._logs:
            raise ValueError(f"{log} is no log that was closed before")
        for suffix in ("journal", "damaged"):
            (self.directory / f"{log}.{suffix}").unlink(missing_ok=True)
        sync_directory(self.directory)
        self._logs = [kept for kept in self._logs if kept != log]

    def begin_new_log(self) -> None:
        """Closes the log for good and begins a new one; nothing happens where it has no event yet.

        Where the disk does not take the new one now, it is made when something is appended.
        """
        with self._writing:
            if self._events:
                self._begin()
            with suppress(OSError):
                self._file_now().open()

    def close_as_short(self) -> None:
        """Closes the log because the hub has more of it than it holds: whole lines were lost, and people are told."""
        detail = {"events_kept": self.last_seq}
        self.findings.append(Problem("journal_damaged", log=self.log, seq=self.last_seq + 1, detail=detail))
        self.begin_new_log()

    def close(self) -> None:
        """Lets another process have the journal."""
        if self._file is not None:
            self._file.close()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
        self._lock_fd = -1

    def _take_lock(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock_fd = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalBusy(f"another process writes the journal in {self.directory}") from error

    def _path(self, log: str) -> Path:
        return self.directory / f"{log}.journal"

    def _known_logs(self) -> list[str]:
        """The logs on the disk, oldest first; one that `logs` does not name is put by its file's age."""
        try:
            named = (self.directory / "logs").read_bytes().decode(errors="replace").split("\n")
        except FileNotFoundError:
            named = []
        place = {log: n for n, log in enumerate(named)}
        files = [
            (place.get(p.stem, -1), p.stat().st_mtime_ns, p.stem) for p in self.directory.glob("*.journal")
        ]
        return [log for *_, log in sorted(files)]

    def _content(self, log: str) -> Content | None:
        try:
            content = read_lines(self._path(log).read_bytes(), log)
        except OSError as error:
            problem = Problem("journal_unreadable", Level.ERROR, log=log, detail={"error": str(error)})
            if problem not in self.findings:
                self.findings.append(problem)
            return None
        if not content.whole:
            with self._noting:
                self._set_aside(log, content)
        return content

    def _continue_newest(self) -> bool:
        if not self._logs:
            return False
        log = self._logs[-1]
        content = self._content(log)
        if content is None:
            return False
        if not content.whole:
            return False
        if not content.events:
            # seqs may have been given out of what is empty now
            with suppress(OSError):
                self._path(log).unlink()
                self._logs.pop()
            return False
        if any(event.device != self.device for event in content.events):
            return False
        self.log, self._events = log, list(content.events)
        self._file = LogFile(self._path(log), self._path(log).stat().st_size, self._sync)
        return True

    def _set_aside(self, log: str, content: Content) -> None:
        """Keep what is damaged beside the log, and tell; once, unless more of it is found damaged later."""
        path = self.directory / f"{log}.damaged"
        if log not in self._aside and path.exists():
            with suppress(OSError):
                self._aside[log] = path.read_bytes()
        if self._aside.get(log) == content.damaged:
            return
        self._aside[log] = content.damaged
        with suppress(OSError):  # it stays in the log's own file too
            replace_file(path, content.damaged)
        seqs = {event.seq for event in content.events}
        first_missing = next(n for n in range(1, len(seqs) + 2) if n not in seqs)
        detail = {"events_kept": len(seqs), "bytes_damaged": len(content.damaged)}
        self.findings.append(Problem("journal_damaged", log=log, seq=first_missing, detail=detail))

    def _begin(self) -> None:
        log = self._new_log()
        if not _LOG_NAME.fullmatch(log):
            raise ValueError(f"{log!r} cannot be the name of a log")
        if log in self._logs or (self.directory / f"{log}.damaged").exists():
            raise ValueError(f"log {log} was used before")
        if self._file is not None:
            self._file.close()
        self._logs.append(log)
        with self._reading:
            self.log, self._events = log, []
        self._file = LogFile(self._path(log), 0, self._sync, self._keep_order)

    def _keep_order(self) -> None:
        replace_file(self.directory / "logs", "".join(f"{log}\n" for log in self._logs).encode())

    def _file_now(self) -> LogFile:
        assert self._file is not None, "a journal that was opened has a file to write to"
        return self._file

    def _write(self, line: bytes) -> None:
        try:
            self._file_now().add(line)
        except OSError as error:
            if error.errno not in FULL or not self._gave_room():
                raise NotSaved(f"journal {self.log}: {error}") from error
            try:
                self._file_now().add(line)
            except OSError as again:
                raise NotSaved(f"journal {self.log}: {again}") from again

    def _gave_room(self) -> bool:
        try:
            return self._reserve.release()
        except OSError:
            return False
