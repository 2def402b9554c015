"""One line of a journal, `crc32hex json`, and what can be read of a file of them (pure)."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.core.events import Event, EventType, event_from_json

_RECORD: Final = re.compile(rb"[0-9a-f]{8} \{")
_JSON: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Content:
    """What a journal file holds: its whole valid lines, and everything else as it was found."""

    events: tuple[Event, ...]
    damaged: bytes

    @property
    def whole(self) -> bool:
        """Nothing is damaged and no seq is missing, so that the log can be continued."""
        return not self.damaged and all(e.seq == n for n, e in enumerate(self.events, start=1))


def journal_line(event: Event) -> bytes:
    """The event as one line, checksum first."""
    body = json.dumps(event.as_json(), separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def read_lines(content: bytes, log: str) -> Content:
    """The events of a journal file of `log`.

    A line counts if it is whole, its checksum holds, and it is an event of this log with a seq higher
    than the one before it; any other bytes are damage, and never an error. Of a line whose end was damaged,
    or that has damage before it, all is lost but itself: its checksum tells where it begins and ends.
    """
    events: list[Event] = []
    damaged = bytearray()
    for line in _lines(content):
        for part, event in _parts(line):
            if event is None or event.log != log or (events and event.seq <= events[-1].seq):
                damaged += part
            else:
                events.append(event)
    return Content(tuple(events), bytes(damaged))


def without_gaps(events: Sequence[Event], from_seq: int) -> list[Event]:
    """The events from `from_seq` on; `records_missing` stands where some were lost before or between them.

    Without it the hub would wait for ever for a seq that nobody can give.
    """
    whole: list[Event] = []
    due = max(from_seq, 1)
    for event in events:
        if event.seq < due:
            continue
        if event.seq > due:
            whole.append(_missing(due, event))
        whole.append(event)
        due = event.seq + 1
    return whole


def _missing(seq: int, until: Event) -> Event:
    kind, to = EventType.RECORDS_MISSING, until.seq - 1
    return Event(until.device, until.log, seq, kind, until.boot, until.mono_ms, data={"to": to})


def _lines(content: bytes) -> list[bytes]:
    *ended, tail = content.split(b"\n")  # not splitlines: a damaged byte may be a carriage return
    return [line + b"\n" for line in ended] + ([tail] if tail else [])


def _parts(line: bytes) -> Iterator[tuple[bytes, Event | None]]:
    """What stands between two line ends, in order: an event and its bytes, or None and bytes that are none."""
    if line[-1:] == b"\n" and (event := _event(line[:-1])) is not None:
        yield line, event
        return
    done, text = 0, line.decode("latin-1")  # a character a byte, whatever they are
    for found in _RECORD.finditer(line):
        if found.start() < done:
            continue
        end = _end_of_object(text, found.end() - 1)
        # what ends with the file was never finished, and nobody was told of it
        if end is None or end == len(line) or (event := _event(line[found.start() : end])) is None:
            continue
        if done < found.start():
            yield line[done : found.start()], None
        yield line[found.start() : end], event
        done = end
        if line[done : done + 1] == b"\n":
            done += 1
    if done < len(line):
        yield line[done:], None


def _end_of_object(text: str, begin: int) -> int | None:
    try:
        return _JSON.raw_decode(text, begin)[1]
    except (ValueError, RecursionError):
        return None


def _event(record: bytes) -> Event | None:
    body = record[9:]
    if record[:9] != b"%08x " % zlib.crc32(body):
        return None
    try:
        return event_from_json(json.loads(body))
    except (ValueError, RecursionError):  # BadEvent is a ValueError
        return None
