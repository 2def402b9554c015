"""The window of the outbox, alone and against a pipe that loses, repeats and reorders."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from device.outbox import GAP_QUIET_S, LONGEST_RESEND_S, RESEND_S, WINDOW, Outbox
from shared.wire import Ack


def online(last_seq: int, acked: int = 0, epoch: str | None = "e") -> Outbox:
    outbox = Outbox("L", last_seq, acked, epoch)
    outbox.connected(0.0)
    return outbox


def send(outbox: Outbox, now_s: float = 0.0) -> list[int]:
    """Send all that is due, as the delivery thread does."""
    first, count = outbox.due(now_s)
    if count:
        outbox.sent(first + count - 1, now_s)
    return list(range(first, first + count))


def test_nothing_is_due_without_a_connection() -> None:
    outbox = Outbox("L", 5)
    assert outbox.due(0.0) == (1, 0)
    assert outbox.wake_at_s() is None
    assert outbox.unsent == 5


def test_the_window_is_full_with_sixteen_events_in_flight() -> None:
    """D03: what waits, waits in the journal."""
    outbox = online(40)
    assert send(outbox) == list(range(1, 17))
    assert send(outbox) == []
    outbox.acknowledged(Ack("L", 3, "e"), 0.0)
    assert send(outbox) == [17, 18, 19]


def test_a_new_event_goes_out_alone_behind_those_in_flight() -> None:
    outbox = online(2)
    assert send(outbox) == [1, 2]
    outbox.appended(3)
    assert send(outbox) == [3]


def test_a_new_connection_sends_again_from_what_was_acknowledged() -> None:
    outbox = online(5)
    send(outbox)
    outbox.acknowledged(Ack("L", 2, "e"), 0.0)
    outbox.disconnected()
    assert send(outbox) == []
    outbox.connected(1.0)
    assert send(outbox, 1.0) == [3, 4, 5]


def test_silence_sends_the_window_again_after_two_seconds_and_then_ever_more_rarely() -> None:
    outbox = online(3)
    now_s, waits = 0.0, []
    for _ in range(7):
        assert send(outbox, now_s) == [1, 2, 3]
        wake_s = outbox.wake_at_s()
        assert wake_s is not None
        assert send(outbox, wake_s - 0.001) == []
        waits.append(wake_s - now_s)
        now_s = wake_s
    assert waits == [RESEND_S, 4.0, 8.0, 16.0, LONGEST_RESEND_S, LONGEST_RESEND_S, LONGEST_RESEND_S]


def test_progress_makes_it_impatient_again() -> None:
    outbox = online(3)
    send(outbox)
    send(outbox, 2.0)
    outbox.acknowledged(Ack("L", 1, "e"), 3.0)
    assert outbox.wake_at_s() == 3.0 + RESEND_S


def test_time_without_anything_in_flight_is_no_silence() -> None:
    outbox = online(0)
    outbox.appended(1)
    send(outbox, 100.0)
    assert outbox.wake_at_s() == 100.0 + RESEND_S


def test_a_gap_sends_again_once_for_all_reports_of_the_same_gap() -> None:
    outbox = online(10)
    send(outbox)
    outbox.acknowledged(Ack("L", 4, "e", gap=True), 1.0)
    assert send(outbox, 1.0) == [5, 6, 7, 8, 9, 10]
    outbox.acknowledged(Ack("L", 4, "e", gap=True), 1.1)
    assert send(outbox, 1.1) == []
    outbox.acknowledged(Ack("L", 4, "e", gap=True), 1.0 + GAP_QUIET_S)
    assert send(outbox, 1.5) == [5, 6, 7, 8, 9, 10]


def test_a_gap_below_what_was_acknowledged_is_believed() -> None:
    outbox = online(10, acked=8)
    outbox.acknowledged(Ack("L", 6, "e", gap=True), 0.0)
    assert (outbox.acked, send(outbox)) == (6, [7, 8, 9, 10])


def test_an_older_ack_changes_nothing() -> None:
    outbox = online(10, acked=8)
    outbox.acknowledged(Ack("L", 5, "e"), 0.0)
    assert outbox.acked == 8


def test_an_ack_of_another_log_changes_nothing() -> None:
    outbox = online(10)
    assert outbox.acknowledged(Ack("M", 99, "other"), 0.0) is None
    assert (outbox.acked, outbox.epoch) == (0, "e")


def test_an_ack_of_another_database_rewinds_to_what_it_names() -> None:
    outbox = online(10, acked=8)
    send(outbox)
    outbox.acknowledged(Ack("L", 3, "restored"), 0.0)
    assert (outbox.acked, outbox.epoch) == (3, "restored")
    assert send(outbox) == [4, 5, 6, 7, 8, 9, 10]


def test_the_first_database_ever_heard_of_is_taken_as_it_is() -> None:
    outbox = online(10, epoch=None)
    outbox.acknowledged(Ack("L", 3, "e"), 0.0)
    assert (outbox.acked, outbox.epoch) == (3, "e")


def test_a_hub_with_another_database_is_offered_everything_and_its_first_ack_moves_on() -> None:
    outbox = online(40, acked=38)
    outbox.hub_is("e", 1.0)
    assert outbox.unsent == 2
    outbox.hub_is("restored", 1.0)
    assert send(outbox, 1.0) == list(range(1, 17))
    outbox.acknowledged(Ack("L", 30, "restored"), 1.0)
    assert send(outbox, 1.0) == list(range(31, 41))


def test_an_ack_beyond_the_log_is_a_problem_and_changes_nothing() -> None:
    outbox = online(5, acked=2)
    problem = outbox.acknowledged(Ack("L", 6, "other"), 0.0)
    assert problem is not None
    assert (problem.code, problem.log, problem.seq) == ("ack_beyond_log", "L", 5)
    assert (outbox.acked, outbox.epoch) == (2, "e")


def test_a_remembered_cursor_beyond_the_log_is_cut_to_it() -> None:
    assert Outbox("L", 5, acked=9).unsent == 0


@dataclass
class Hub:
    """The hub's side of the contract: next in order only, duplicates acknowledged, a gap reported."""

    epoch: int = 0
    has: list[int] = field(default_factory=list)

    def receive(self, seqs: list[int]) -> Ack:
        gap = False
        for seq in seqs:
            if seq == len(self.has) + 1:
                self.has.append(seq)
            gap = gap or seq > len(self.has)
        return Ack("L", len(self.has), str(self.epoch), gap)

    def restore(self) -> None:
        """An older copy of the database is put in place."""
        self.epoch += 1
        del self.has[len(self.has) // 2 :]


WHAT = "append send up up|again up|lose down down|again down|lose reconnect wait restart restore"
STEPS = st.lists(st.tuples(st.sampled_from(WHAT.split()), st.integers(0, 30)), max_size=120)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_through_a_lossy_repeating_reordering_pipe_everything_arrives_once_in_order(
    steps: list[tuple[str, int]],
) -> None:
    outbox, hub, now_s = online(0, epoch=None), Hub(), 0.0
    up: list[list[int]] = []
    down: list[Ack] = []

    for what, number in steps:
        at_up = number % len(up) if up else None
        at_down = number % len(down) if down else None
        match what:
            case "append":
                outbox.appended(outbox.last_seq + number)
            case "send":
                if seqs := send(outbox, now_s):
                    up.append(seqs)
            case "up" | "up|again" if at_up is not None:
                down.append(hub.receive(up[at_up] if what == "up|again" else up.pop(at_up)))
            case "up|lose" if at_up is not None:
                up.pop(at_up)
            case "down" | "down|again" if at_down is not None:
                outbox.acknowledged(down[at_down] if what == "down|again" else down.pop(at_down), now_s)
            case "down|lose" if at_down is not None:
                down.pop(at_down)
            case "reconnect":
                outbox.disconnected()
                outbox.connected(now_s)
            case "wait":
                now_s += number / 10
            case "restart":
                outbox = Outbox("L", outbox.last_seq, outbox.acked, outbox.epoch)
                outbox.connected(now_s)
            case "restore":
                hub.restore()
                down.append(Ack("L", len(hub.has), str(hub.epoch)))
            case _:
                pass
        assert hub.has == list(range(1, len(hub.has) + 1))
        first, count = outbox.due(now_s)
        assert first + count - 1 - outbox.acked <= WINDOW

    # from here on the network is good: the rest arrives, each event once
    outbox.disconnected()
    outbox.connected(now_s)
    down.append(Ack("L", len(hub.has), str(hub.epoch)))
    for _ in range(200 + 3 * outbox.last_seq):
        if seqs := send(outbox, now_s):
            up.append(seqs)
        while up:
            down.append(hub.receive(up.pop(0)))
        while down:
            outbox.acknowledged(down.pop(0), now_s)
        now_s += 0.1
    assert hub.has == list(range(1, outbox.last_seq + 1))
    assert outbox.unsent == 0
