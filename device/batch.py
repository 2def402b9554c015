"""How many events go into one message, and how far they reach."""

from __future__ import annotations

from shared import wire
from shared.core.events import Event, EventType


def covered(event: Event) -> int:
    """The last seq an event stands for."""
    return int(event.data["to"]) if event.type == EventType.RECORDS_MISSING else event.seq


def fitting(events: list[Event]) -> tuple[list[Event], bytes]:
    """As many of the events as a message may hold, and that message."""
    while len(payload := wire.batch_payload(events)) > wire.MAX_PAYLOAD:
        if len(events) > 1:
            events = events[: len(events) // 2]
            continue
        # no reader takes it, and nothing behind it could ever be delivered: a mark goes in its place
        large = events[0]
        events = [
            Event(
                large.device,
                large.log,
                large.seq,
                EventType.RECORDS_MISSING,
                boot=large.boot,
                mono_ms=large.mono_ms,
                data={"to": large.seq},
            )
        ]
    return events, payload
