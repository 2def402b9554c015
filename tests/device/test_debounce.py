"""The debouncer: vectors of contacts that bounce, hum, and lose edges; laws over random ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.debounce import HEAL_S, LONGEST_BOUNCE_S, Button, ButtonBank, Debouncer, Edge, RawEdge
from device.hearing import Hearing

START, PAUSE, ASSIST, FINISH = Button
UP = dict.fromkeys(Button, False)


def play(edges: list[tuple[float, bool]], until: float, *, pressed: bool = False) -> list[Edge]:
    """One contact fed with edges (seconds, pressed) and polled every 5 ms with the true level."""
    contact = Debouncer(START, pressed)
    out: list[Edge] = []
    level, todo, now = pressed, list(edges), 0.0
    while now <= until:
        while todo and todo[0][0] <= now:
            t, level = todo.pop(0)
            out += contact.edge(t, level)
        out += contact.poll(now, level)
        now += 0.005
    return out


BOUNCY = [(1.0, True), (1.001, False), (1.0017, True), (1.004, False), (1.0045, True)]
THIRTY_EDGES_IN_8_MS = [(2.0 + n * 0.008 / 30, n % 2 == 0) for n in range(31)]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        pytest.param([(1.0, True)], [(1.0, True)], id="clean press"),
        pytest.param(BOUNCY, [(1.0, True)], id="bouncy press"),
        pytest.param(THIRTY_EDGES_IN_8_MS, [(2.0, True)], id="30 edges in 8 ms"),
        pytest.param([(1.0, True), (1.2, False)], [(1.0, True), (1.2, False)], id="press and release"),
        pytest.param([(1.0, True), (1.019, False)], [], id="19 ms tap"),
        pytest.param([(1.0, True), (1.021, False)], [(1.0, True), (1.021, False)], id="21 ms tap"),
        pytest.param([(1.0, True), (1.0000005, False)], [], id="half a microsecond of interference"),
        pytest.param([(1.0, True), (1.0, True)], [(1.0, True)], id="the same edge twice"),
    ],
)
def test_a_burst_is_one_edge_at_its_first_edge_or_nothing(
    edges: list[tuple[float, bool]], expected: list[tuple[float, bool]]
) -> None:
    assert play(edges, 3.0) == [Edge(START, t, pressed) for t, pressed in expected]


def test_nothing_is_reported_before_the_contact_has_been_quiet() -> None:
    contact = Debouncer(START, pressed=False)
    assert contact.edge(1.0, True) == []
    assert contact.poll(1.0199, True) == []
    assert contact.poll(1.0201, True) == [Edge(START, 1.0, True)]


def test_a_glitch_is_counted_as_noise() -> None:
    contact = Debouncer(START, pressed=False)
    contact.edge(1.0, True)
    contact.edge(1.001, False)
    assert contact.poll(1.1, False) == []
    assert contact.noise == 1


def test_a_lost_release_is_found_by_polling_and_the_next_press_is_not_swallowed() -> None:
    contact = Debouncer(START, pressed=False)
    contact.edge(1.0, True)
    found = contact.poll(1.1, True)
    for ms in range(500, 620, 10):
        found += contact.poll(1 + ms / 1000, False)
    contact.edge(2.0, True)
    found += contact.poll(2.1, True)
    assert found == [Edge(START, 1.0, True), Edge(START, 1.5, False), Edge(START, 2.0, True)]


def test_a_level_read_ahead_of_its_edge_does_not_spoil_the_stamp() -> None:
    contact = Debouncer(START, pressed=False)
    assert contact.poll(1.0002, True) == []
    assert contact.edge(1.0, True) == []
    assert contact.poll(1.03, True) == [Edge(START, 1.0, True)]


def test_a_button_that_is_down_at_the_start_is_no_press() -> None:
    assert play([(1.0, False)], 2.0, pressed=True) == [Edge(START, 1.0, False)]


@pytest.mark.parametrize("period_s", [0.02, 0.01, 0.001])
def test_ten_seconds_of_hum_press_nothing_and_are_counted(period_s: float) -> None:
    contact = Debouncer(START, pressed=False)
    out: list[Edge] = []
    for n in range(int(10 / period_s)):
        out += contact.edge(n * period_s, True)
        out += contact.edge(n * period_s + period_s / 3, False)
    out += contact.poll(11.0, False)
    assert out == []
    assert contact.noise >= 10


def test_a_press_at_the_end_of_long_hum_is_not_stamped_with_its_beginning() -> None:
    contact = Debouncer(START, pressed=False)
    for n in range(1000):
        contact.edge(n * 0.01, True)
        contact.edge(n * 0.01 + 0.002, False)
    contact.edge(10.0, True)
    (edge,) = contact.poll(10.1, True)
    assert edge.pressed
    assert 0 <= 10.0 - edge.t <= LONGEST_BOUNCE_S + 0.011


bounces = st.lists(st.floats(0.00001, 0.004), min_size=0, max_size=10).map(
    lambda gaps: gaps[: len(gaps) // 2 * 2]
)


@given(st.lists(st.tuples(st.floats(0.05, 2), bounces), max_size=8))
def test_every_press_and_release_is_told_once_with_its_first_edge(
    changes: list[tuple[float, list[float]]],
) -> None:
    raw: list[tuple[float, bool]] = []
    expected: list[Edge] = []
    t, level = 0.0, False
    for gap, bounce in changes:
        t, level = t + gap, not level
        expected.append(Edge(START, t, level))
        raw.append((t, level))
        for n, step in enumerate(bounce):
            t += step
            raw.append((t, level if n % 2 else not level))
    assert play(raw, t + 0.1) == expected


def poll_until(bank: ButtonBank, start: float, end: float, levels: dict[Button, bool]) -> list[list[Edge]]:
    polls = []
    now = start
    while now <= end:
        polls.append(bank.poll(now, levels))
        now += 0.01
    return [edges for edges in polls if edges]


def test_two_hands_3_ms_apart_come_in_the_order_of_their_first_edges() -> None:
    bank = ButtonBank(UP)
    down = UP | {PAUSE: True, START: True}
    bank.feed([RawEdge(PAUSE, 3.0, True), RawEdge(START, 3.003, True)])
    polls = poll_until(bank, 3.005, 3.1, down)
    assert [e for edges in polls for e in edges] == [Edge(PAUSE, 3.0, True), Edge(START, 3.003, True)]


def test_a_quick_contact_waits_for_a_bouncy_one_that_was_pressed_before_it() -> None:
    bank = ButtonBank(UP)
    bank.feed([RawEdge(FINISH, 1.0, True), RawEdge(PAUSE, 1.002, True)])
    bank.feed([RawEdge(FINISH, 1.010, False), RawEdge(FINISH, 1.015, True)])
    down = UP | {PAUSE: True, FINISH: True}
    assert bank.poll(1.025, down) == []
    assert bank.poll(1.036, down) == [Edge(FINISH, 1.0, True), Edge(PAUSE, 1.002, True)]


def test_presses_of_one_stamp_come_in_the_order_of_the_buttons() -> None:
    bank = ButtonBank(UP)
    bank.feed([RawEdge(button, 1.0, True) for button in reversed(Button)])
    (edges,) = poll_until(bank, 1.0, 1.1, dict.fromkeys(Button, True))
    assert [e.button for e in edges] == [START, PAUSE, ASSIST, FINISH]


def test_three_seconds_of_a_stuck_loop_lose_no_press_and_no_stamp() -> None:
    bank = ButtonBank(UP)
    made = []
    for n, button in enumerate(Button):
        made += [RawEdge(button, 1 + n / 2, True), RawEdge(button, 1.2 + n / 2, False)]
    bank.feed(made)
    assert bank.poll(4.0, UP) == [Edge(e.button, e.t, e.pressed) for e in made]


def test_it_wants_to_be_polled_again_only_while_something_is_open() -> None:
    bank = ButtonBank(UP)
    assert bank.next_due(1.0) is None
    bank.feed([RawEdge(START, 1.0, True)])
    bank.poll(1.001, UP | {START: True})
    due = bank.next_due(1.001)
    assert due is not None
    assert 0.01 <= due - 1.001 <= 0.02
    assert bank.poll(1.03, UP | {START: True}) == [Edge(START, 1.0, True)]
    assert bank.next_due(1.03) is None


def test_a_level_that_disagrees_keeps_the_bank_awake_until_it_is_healed() -> None:
    bank = ButtonBank(UP)
    assert bank.poll(1.0, UP | {ASSIST: True}) == []
    assert bank.next_due(1.0) is not None
    assert bank.poll(1.0 + HEAL_S, UP | {ASSIST: True}) == [Edge(ASSIST, 1.0, True)]


def test_noise_is_counted_per_button() -> None:
    bank = ButtonBank(UP)
    bank.feed([RawEdge(PAUSE, 1.0, True), RawEdge(PAUSE, 1.001, False)])
    bank.poll(1.1, UP)
    assert bank.noise == {START: 0, PAUSE: 1, ASSIST: 0, FINISH: 0}


@pytest.mark.parametrize("foreign_t", [1.7e9, -5.0e6])
def test_a_stamp_of_another_clock_is_replaced_by_the_time_of_its_arrival(foreign_t: float) -> None:
    bank = ButtonBank(UP)
    bank.feed([RawEdge(START, foreign_t, True)])
    bank.poll(500.0, UP | {START: True})
    assert bank.poll(500.1, UP | {START: True}) == [Edge(START, 500.0, True)]
    assert bank.restamped == 1


steps = st.lists(
    st.tuples(st.sampled_from(list(Button)), st.floats(0.0, 0.05), st.booleans()), min_size=1, max_size=60
)


@given(steps)
def test_whatever_the_contacts_do_edges_alternate_and_come_in_order(
    made: list[tuple[Button, float, bool]],
) -> None:
    bank = ButtonBank(UP)
    levels, t, told = dict(UP), 0.0, []
    for button, gap, pressed in made:
        t += gap
        levels[button] = pressed
        bank.feed([RawEdge(button, t, pressed)])
        told += bank.poll(t, levels)
    told += bank.poll(t + 0.1, levels)
    assert [e.t for e in told] == sorted(e.t for e in told)
    for button in Button:
        own = [e.pressed for e in told if e.button is button]
        assert own == [n % 2 == 0 for n in range(len(own))]
        assert (own[-1] if own else False) == levels[button]


@pytest.mark.parametrize(
    ("story", "deaf"),
    [
        ("", False),
        ("m", False),
        ("mm", True),
        ("mhm", False),
        ("mmh", False),
    ],
)
def test_edges_found_by_their_levels_alone_tell_that_nobody_hears(story: str, deaf: bool) -> None:
    """`m`: a level of which no edge told; `h`: an edge that was heard."""
    hearing = Hearing()
    for n, what in enumerate(story):
        hearing.missed(float(n)) if what == "m" else hearing.heard()
    assert hearing.deaf(60.0) is deaf
    assert not hearing.deaf(len(story) - 1.0)


def test_a_healed_edge_is_counted_and_one_that_was_told_is_not() -> None:
    bank = ButtonBank(dict.fromkeys(Button, False))
    down = dict.fromkeys(Button, False) | {Button.START: True}
    bank.feed([RawEdge(Button.START, 10.0, True)])
    bank.poll(10.0, down)
    bank.poll(10.1, down)
    assert bank.healed == 0
    bank.poll(10.2, dict.fromkeys(Button, False))
    bank.poll(10.3, dict.fromkeys(Button, False))
    assert bank.healed == 1


def test_an_edge_told_late_on_a_busy_machine_keeps_its_true_stamp() -> None:
    bank, down = ButtonBank(UP), UP | {START: True}
    for ms in (10, 30, 60):
        assert bank.poll(1.0 + ms / 1000, down) == []
    bank.feed([RawEdge(START, 1.0, True)])
    assert bank.poll(1.065, down) == [Edge(START, 1.0, True)]
    assert bank.healed == 0
