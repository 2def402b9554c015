"""What devices send and nobody can read: of each device a bounded share is kept whole, whatever others send.

Bytes that are kept can tell later what was wrong. What was acknowledged leaves at least its identity, the reason and
a digest: nobody will send it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select

from hub.arrivals import Aside
from hub.store_schema import quarantine
from shared.wire import MAX_PAYLOAD, Unreadable

ASIDE_ROWS: Final = 1_000
ASIDE_BYTES: Final = 4 * 1024 * 1024
"""So much of what a device sends and nobody can read is kept whole: its share, whatever others send."""


@dataclass(frozen=True, slots=True)
class Share:
    """What of a device is kept aside whole, and how much was not kept because that is all it gets."""

    rows: int = 0
    bytes: int = 0
    left_out: int = 0

    @property
    def full(self) -> bool:
        """Whether only what has to be is kept, and no bytes of it."""
        return self.rows >= ASIDE_ROWS or self.bytes >= ASIDE_BYTES


def keep_aside(
    connection: Connection, asides: Sequence[Aside], received_ms: int, shares: Mapping[str, Share]
) -> dict[str, Share]:
    """Keep each different thing once, and of each device no more than its share whole; the shares that changed.

    What is acknowledged leaves its identity, its reason and its digest in any case: nobody will send it again.
    """
    changed: dict[str, Share] = {}
    for aside in asides:
        share = changed.get(aside.device) or shares.get(aside.device) or Share()
        row = _aside_row(aside, received_ms)
        size = len(row["payload"])
        if share.bytes + size > ASIDE_BYTES:
            share = replace(share, bytes=ASIDE_BYTES)  # also for smaller ones: what is full stays full
        known = select(quarantine.c.id).where(quarantine.c.digest == row["digest"])
        if connection.execute(known).first() is None:
            if not share.full:
                connection.execute(insert(quarantine).values(row))
                share = replace(share, rows=share.rows + 1, bytes=share.bytes + size)
            else:
                if aside.acknowledged:
                    connection.execute(insert(quarantine).values(row | {"payload": b""}))
                share = replace(share, left_out=share.left_out + 1)
        changed[aside.device] = share
    return changed


def shares_of(connection: Connection) -> dict[str, Share]:
    """What of each device is kept aside whole."""
    size = func.length(quarantine.c.payload)
    query = select(quarantine.c.device, func.count(), func.sum(size)).where(size > 0)
    rows = connection.execute(query.group_by(quarantine.c.device))
    return {device: Share(kept, kept_bytes) for device, kept, kept_bytes in rows}


def _aside_row(aside: Aside, received_ms: int) -> dict[str, Any]:
    item = aside.item
    payload = item.payload if isinstance(item, Unreadable) else json.dumps(item.as_json()).encode()
    payload = payload[:MAX_PAYLOAD]
    identity = (aside.topic, aside.device, item.log, item.seq, aside.reason)
    return {
        "received_ms": received_ms,
        "topic": aside.topic,
        "device": aside.device,
        "log": item.log,
        "seq": item.seq,
        "reason": aside.reason,
        "payload": payload,
        "digest": hashlib.sha256(repr(identity).encode() + payload).hexdigest(),
    }
