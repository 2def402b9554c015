"""Event logs from files: any number of them, in any order, each line judged by itself; zip archives too."""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from hub.archive_file import BadArchive, event_files, is_archive
from hub.gaps import is_mark, marks_left
from shared.core.events import HUB_DEVICE, BadEvent, Event, EventType, event_from_json
from shared.core.model import Level, Problem

_CHECKED: Final = re.compile(rb"([0-9a-f]{8}) (\{.*\})\s*", re.DOTALL)


class UnreadableLog(ValueError):
    """A file of events that cannot be read at all."""


def read_logs(paths: Iterable[Path]) -> tuple[list[Event], list[Problem]]:
    """All events of these files in folding order, and a problem for each line or seq that is not there.

    Duplicates are recognised by `(log, seq)`. Each log is put in the order of its seq; tables' logs come
    before the hub's, whose rulings are laid over them.
    """
    problems: list[Problem] = []
    logs: defaultdict[str, dict[int, Event]] = defaultdict(dict)
    marks: defaultdict[str, list[Event]] = defaultdict(list)
    for path in paths:
        for event in _events_in(path, problems):
            if is_mark(event) and event.data["to"] >= event.seq:
                marks[event.log].append(event)
                continue
            known = logs[event.log].setdefault(event.seq, event)
            if known.as_json() != event.as_json():
                problems.append(Problem("two_events_with_one_seq", Level.ERROR, event.log, event.seq))
                # one of them is taken whatever the order of the files
                logs[event.log][event.seq] = min(known, event, key=lambda e: json.dumps(e.as_json()))
    for name, of_log in marks.items():
        logs[name] |= marks_left(of_log, logs[name])  # what is missing in one file may be in another
    problems += [gap for log in logs.values() for gap in _gaps(log)]
    ordered = sorted(logs.values(), key=lambda log: _order(log))
    return [log[seq] for log in ordered for seq in sorted(log)], problems


def _order(log: dict[int, Event]) -> tuple[bool, bool, str]:
    first = log[min(log)]
    takes_over = any(e.type == EventType.RUN_TAKEN_OVER for e in log.values())
    return first.device == HUB_DEVICE, takes_over, first.log


def _gaps(log: dict[int, Event]) -> Iterator[Problem]:
    expected = 1
    for seq in sorted(log):
        event = log[seq]
        if seq > expected:
            yield Problem("seqs_missing", Level.WARNING, event.log, expected, None, {"to": seq - 1})
        expected = max(expected, seq + 1)
        if event.type == EventType.RECORDS_MISSING:
            expected = max(expected, event.data["to"] + 1)


def _without_checksum(line: bytes) -> bytes:
    """A line of a table's journal without the checksum before it, which must be right; any other line as it is."""
    found = _CHECKED.match(line)
    if found is None:
        return line
    if int(found[1], 16) != zlib.crc32(found[2]):
        raise BadEvent("a damaged line of a journal: its checksum is wrong")
    return found[2]


def _events_in(path: Path, problems: list[Problem]) -> Iterator[Event]:
    try:
        files = list(event_files(path)) if is_archive(path) else [(path.name, path.read_bytes())]
    except OSError as error:
        raise UnreadableLog(f"{path} cannot be read ({error.strerror})") from error
    except BadArchive as error:
        raise UnreadableLog(str(error)) from error
    for name, raw in files:
        yield from _events_of(name, raw, problems)


def _events_of(name: str, raw: bytes, problems: list[Problem]) -> Iterator[Event]:
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield event_from_json(json.loads(_without_checksum(line)))
        except (BadEvent, ValueError, RecursionError) as error:
            said = str(error) if isinstance(error, BadEvent) else "not JSON"
            where = {"file": name, "line": number, "why": said}
            problems.append(Problem("unreadable_event", Level.ERROR, detail=where))
