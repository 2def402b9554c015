"""The journal: every event of this table on the disk before anybody is shown it, cut-proof at any byte.

A directory holds one file per log, `<log>.journal`; `<log>.damaged` keeps what could not be read of it;
`logs` names the logs in the order in which they were begun; `lock` is held by the one process that writes;
`reserve` holds room for what a full disk would refuse.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

from device.disk import replace_file, sync_directory
from device.journal_line import Content, journal_line, read_lines, without_gaps
from device.storage import RESERVE_BYTES, Reserve, is_read_only
from shared.core.events import VERSION, Event, event_from_json
from shared.core.model import Level, Problem

_LOG_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
Sync = Callable[[int], None]


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
        self._lock_fd = self._fd = -1
        self._size = 0
        self._torn = False
        self._writing = threading.Lock()
        self._reading = threading.Lock()  # apart, so that a stalled disk delays no reader

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
        for a full disk.
        Raises JournalBusy if another process has it, NotSaved if the disk does not take it.
        """
        journal = cls(directory, device, new_log, sync, Reserve(directory / "reserve", reserve_bytes))
        try:
            journal._take_lock()
            journal._reserve.take()
            journal._logs = journal._known_logs()
            if not journal._continue_newest():
                journal._begin()
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
        except OSError:
            return "failing"
        return None if self._reserve.take() else "full"

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
        """Closes the log for good and begins a new one: its end is in doubt. Raises NotSaved."""
        with self._writing:
            try:
                self._begin()
            except OSError as error:
                raise NotSaved(f"no new log: {error}") from error

    def close(self) -> None:
        """Lets another process have the journal."""
        for fd in (self._fd, self._lock_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock_fd = -1

    def _take_lock(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock_fd = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
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
            return read_lines(self._path(log).read_bytes(), log)
        except OSError as error:
            problem = Problem("journal_unreadable", Level.ERROR, log=log, detail={"error": str(error)})
            if problem not in self.findings:
                self.findings.append(problem)
            return None

    def _continue_newest(self) -> bool:
        if not self._logs:
            return False
        log = self._logs[-1]
        content = self._content(log)
        if content is None:
            return False
        if not content.whole:
            self._set_aside(log, content)
            return False
        if not content.events:
            # seqs may have been given out of what is empty now
            self._path(log).unlink()
            self._logs.pop()
            return False
        if any(event.device != self.device for event in content.events):
            return False
        self._fd = os.open(self._path(log), os.O_RDWR | os.O_APPEND)
        self._sync(self._fd)  # a killed process may have left lines that are only in memory
        self.log, self._events, self._size = log, list(content.events), os.fstat(self._fd).st_size
        return True

    def _set_aside(self, log: str, content: Content) -> None:
        replace_file(self.directory / f"{log}.damaged", content.damaged)
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
        order = "".join(f"{name}\n" for name in [*self._logs, log])
        replace_file(self.directory / "logs", order.encode())
        fd = os.open(self._path(log), os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            sync_directory(self.directory)
        except OSError:
            os.close(fd)
            raise
        if self._fd >= 0:
            os.close(self._fd)
        self._logs.append(log)
        with self._reading:
            self.log, self._events = log, []
        self._fd, self._size, self._torn = fd, 0, False

    def _write(self, line: bytes) -> None:
        try:
            self._try_write(line)
        except OSError as error:
            if error.errno not in _FULL or not self._gave_room():
                raise NotSaved(f"journal {self.log}: {error}") from error
            try:
                self._try_write(line)
            except OSError as again:
                raise NotSaved(f"journal {self.log}: {again}") from again
        self._size += len(line)
        self._torn = False

    def _try_write(self, line: bytes) -> None:
        try:
            if self._torn:
                self._cut_back()
            if os.fstat(self._fd).st_nlink == 0:
                raise OSError(errno.ESTALE, "the file was deleted")
            self._torn = True
            written = 0
            while written < len(line):
                written += os.write(self._fd, line[written:])
            self._sync(self._fd)
        except OSError:
            with contextlib.suppress(OSError):  # else the next append cuts it back
                self._cut_back()
            raise

    def _gave_room(self) -> bool:
        try:
            return self._reserve.release()
        except OSError:
            return False

    def _cut_back(self) -> None:
        os.ftruncate(self._fd, self._size)
        self._torn = False
