"""What of a journal to send next: a window of events the hub has not acknowledged."""

from __future__ import annotations

from typing import Final

from shared.core.model import Level, Problem
from shared.wire import Ack

#: Most events in flight. The hub takes them in order only, so a lost one costs the rest of the window.
WINDOW: Final = 16
#: Seconds without progress until the window is sent again; doubled each time, up to the longest.
RESEND_S: Final = 2.0
LONGEST_RESEND_S: Final = 30.0
#: One lost message makes the hub report a gap for each later one: all but the first are old news.
GAP_QUIET_S: Final = 0.5


class Outbox:
    """Go-back-N over one log. Hand time comes in as `now_s`; nothing is read, sent or waited for here."""

    def __init__(self, log: str, last_seq: int, acked: int = 0, epoch: str | None = None) -> None:
        """`acked` and `epoch` as they were when this log was last served, or 0 and None."""
        self.log = log
        self.last_seq = last_seq
        self.acked = min(acked, last_seq)
        self.epoch = epoch
        self._sent = self.acked
        self._online = False
        self._quiet_since_s = 0.0
        self._resend_s = RESEND_S
        self._gap: tuple[int, float] | None = None

    @property
    def unsent(self) -> int:
        """Events the hub is not known to have."""
        return self.last_seq - self.acked

    def appended(self, last_seq: int) -> None:
        """The journal now ends with `last_seq`."""
        self.last_seq = max(self.last_seq, last_seq)

    def connected(self, now_s: float) -> None:
        """A new connection: whatever was on the way is taken for lost."""
        self._online = True
        self._rewind(now_s)

    def disconnected(self) -> None:
        """Nothing can be sent."""
        self._online = False

    def due(self, now_s: float) -> tuple[int, int]:
        """First seq and number of events to send now; the number may be 0."""
        resend_at_s = self._resend_at_s()
        if resend_at_s is not None and now_s >= resend_at_s:
            patience_s = min(LONGEST_RESEND_S, self._resend_s * 2)
            self._rewind(now_s)
            self._resend_s = patience_s
        if not self._online:
            return self._sent + 1, 0
        return self._sent + 1, max(0, min(self.last_seq, self.acked + WINDOW) - self._sent)

    def sent(self, up_to: int, now_s: float) -> None:
        """Everything from what was due to `up_to` is on its way."""
        if self._sent == self.acked:
            self._quiet_since_s = now_s
        self._sent = max(self._sent, up_to)

    def wake_at_s(self) -> float | None:
        """When `due` has something to send again though nothing was heard; None when it never has."""
        return self._resend_at_s()

    def hub_is(self, epoch: str, now_s: float) -> None:
        """The hub has this database. If it is another one, whatever the old one had may be missing.

        All is sent again from the beginning; the first ack moves on to where the new one stands.
        """
        if self.epoch is not None and epoch != self.epoch:
            self.epoch, self.acked = epoch, 0
            self._rewind(now_s)

    def acknowledged(self, ack: Ack, now_s: float) -> Problem | None:
        """Take what the hub says it has; a problem when that cannot be, and then nothing changes."""
        if ack.log != self.log:
            return None
        if ack.seq > self.last_seq:
            detail = {"acked": ack.seq, "epoch": ack.epoch}
            return Problem("ack_beyond_log", Level.ERROR, log=self.log, seq=self.last_seq, detail=detail)
        if ack.epoch != self.epoch and self.epoch is not None:
            self.epoch, self.acked = ack.epoch, ack.seq
            self._rewind(now_s)
            return None
        self.epoch = ack.epoch
        if ack.gap:
            self._sink_back(ack.seq, now_s)
        elif ack.seq > self.acked:
            self.acked = ack.seq
            self._sent = max(self._sent, self.acked)
            self._quiet_since_s, self._resend_s = now_s, RESEND_S
        return None

    def _sink_back(self, seq: int, now_s: float) -> None:
        """Send again from `seq + 1`, also when that was acknowledged before: the hub knows what it has."""
        if self._gap is not None and self._gap[0] == seq and now_s < self._gap[1] + GAP_QUIET_S:
            return
        self._gap = (seq, now_s)
        self.acked = seq
        self._rewind(now_s)

    def _rewind(self, now_s: float) -> None:
        self._sent = self.acked
        self._quiet_since_s, self._resend_s = now_s, RESEND_S

    def _resend_at_s(self) -> float | None:
        if not self._online or self._sent <= self.acked:
            return None
        return self._quiet_since_s + self._resend_s
