"""What a table knows of the hub's clock: which exchanges count, how good the estimate is, when it begins anew."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.exchanges import ANSWER_S, EVERY_S, FIRST_BURST, LATER_BURST, Exchanges
from device.hub_clock import DRIFT, HubClock, Sample
from shared.wire import TimeAnswer

Delay = Callable[[random.Random], float]
"""Microseconds of one way."""


def quiet(rng: random.Random) -> float:
    """A good network."""
    return 2_000 + rng.expovariate(1 / 1_500)


def busy(rng: random.Random) -> float:
    """A hall full of telephones: one packet in twenty is late by up to 200 ms."""
    return quiet(rng) + (rng.uniform(20_000, 200_000) if rng.random() < 0.05 else 0)


def power_save(rng: random.Random) -> float:
    """The access point keeps packets for a sleeping station."""
    return quiet(rng) + rng.uniform(0, 102_000)


class World:
    """A hub whose clock is ahead and drifts, behind a network."""

    def __init__(self, seed: int, delay: Delay, ppm: float, ahead_us: float = 5e9) -> None:
        self.rng = random.Random(seed)
        self.delay, self.rate, self.ahead_us = delay, 1 + ppm * 1e-6, ahead_us
        self.now_us = 1e9

    def hub_us(self, hand_us: float) -> float:
        return self.ahead_us + hand_us * self.rate

    def exchange(self, base: str = "hub-1") -> Sample:
        there, back = self.delay(self.rng), self.delay(self.rng)
        t1, t4 = self.now_us, self.now_us + there + back
        self.now_us = t4 + 1_000
        ahead = self.hub_us(t1 + there) - (t1 + t4) / 2
        return Sample(round((t1 + t4) / 2), round(ahead), round(t4 - t1), base)

    def burst(self, clock: HubClock, size: int = LATER_BURST, base: str = "hub-1") -> None:
        clock.take([self.exchange(base) for _ in range(size)])

    def error_us(self, clock: HubClock) -> float:
        return abs(clock.hub_us(self.now_us) - self.hub_us(self.now_us))


@pytest.mark.parametrize(("delay", "p95_ms"), [(quiet, 2.0), (busy, 4.0)], ids=["quiet", "busy"])
def test_ten_minutes_of_bursts_know_the_hubs_clock_to_a_few_milliseconds(delay: Delay, p95_ms: float) -> None:
    errors = []
    for seed in range(40):
        world, clock = World(seed, delay, ppm=-40), HubClock()
        world.burst(clock, FIRST_BURST)
        for _ in range(20):
            world.now_us += EVERY_S * 1e6
            world.burst(clock)
        world.now_us += EVERY_S * 1e6  # just before the next burst it is worst
        errors.append(world.error_us(clock) / 1000)
    errors.sort()
    assert errors[int(len(errors) * 0.95)] < p95_ms


@given(
    st.integers(0, 10**6),
    st.sampled_from([quiet, busy, power_save]),
    st.floats(-DRIFT * 0.9e6, DRIFT * 0.9e6),
    st.integers(1, 40),
    st.floats(0, 120),
)
def test_the_error_is_never_larger_than_it_says(
    seed: int, delay: Delay, ppm: float, bursts: int, silence_s: float
) -> None:
    world, clock = World(seed, delay, ppm), HubClock()
    for _ in range(bursts):
        world.burst(clock)
        world.now_us += EVERY_S * 1e6
    world.now_us += silence_s * 1e6
    assert world.error_us(clock) <= clock.error_us(world.now_us) + 2  # samples are whole microseconds


@given(st.integers(0, 10**6), st.integers(1, 30), st.floats(-1e8, 1e8))
def test_an_instant_of_the_hub_is_found_again(seed: int, bursts: int, away_us: float) -> None:
    world, clock = World(seed, busy, ppm=60), HubClock()
    for _ in range(bursts):
        world.burst(clock)
        world.now_us += EVERY_S * 1e6
    hand_us = world.now_us + away_us
    found = clock.hand_us(clock.hub_us(hand_us))
    assert abs(found - hand_us) <= clock.error_us(hand_us) + DRIFT * abs(away_us)


def test_a_hub_that_was_switched_on_again_is_another_clock() -> None:
    world, clock = World(1, quiet, ppm=0), HubClock()
    world.burst(clock, FIRST_BURST)
    world.ahead_us -= 3e9
    world.burst(clock, FIRST_BURST, base="hub-2")
    assert clock.base == "hub-2"
    assert world.error_us(clock) <= clock.error_us(world.now_us) + 2


def test_what_a_drifting_clock_cannot_have_told_is_forgotten() -> None:
    world, clock = World(1, quiet, ppm=0), HubClock()
    for _ in range(20):
        world.burst(clock)
        world.now_us += EVERY_S * 1e6
    world.ahead_us += 60e6  # this machine slept for a minute, the hub did not
    world.burst(clock)
    assert world.error_us(clock) < 10_000


# When to ask --------------------------------------------------------------------------------------------


class Asker:
    """Exchanges driven by a clock of ours and a hub that answers after a while."""

    def __init__(self) -> None:
        self.now, self.online, self.hub_s = 100.0, True, 900.0
        self.round_trip_s: float | None = 0.01
        self.exchanges = Exchanges()
        self.asked_s: list[float] = []
        self.bursts: list[list[Sample]] = []

    def run(self, seconds: float) -> None:
        end, answer = self.now + seconds, None
        while self.now < end:
            ask = self.exchanges.tick(self.now, online=self.online)
            if burst := self.exchanges.burst():
                self.bursts.append(burst)
            if ask:
                t1_us = round(self.now * 1e6)
                self.asked_s.append(self.now)
                self.exchanges.asked(t1_us)
                if self.round_trip_s is not None:
                    t2_us = round((self.now + self.hub_s + self.round_trip_s / 2) * 1e6)
                    answer = self.now + self.round_trip_s, TimeAnswer(t1_us, t2_us, t2_us, "hub-1")
            due = self.exchanges.next_due()
            self.now = min(end, *([answer[0]] if answer else []), max(self.now, end if due is None else due))
            if answer and self.now >= answer[0]:
                self.exchanges.answered(answer[1], self.now)
                answer = None


def test_a_burst_of_eight_on_connect_then_four_every_half_minute() -> None:
    asker = Asker()
    asker.run(65)
    assert [len(b) for b in asker.bursts] == [FIRST_BURST, LATER_BURST, LATER_BURST]
    assert all(s.round_trip_us == pytest.approx(10_000, abs=2) for b in asker.bursts for s in b)
    assert all(s.ahead_us == pytest.approx(900e6, abs=2) for b in asker.bursts for s in b)


def test_lost_answers_cost_a_second_each_and_no_more() -> None:
    asker = Asker()
    asker.round_trip_s = None
    asker.run(FIRST_BURST * ANSWER_S + EVERY_S - 0.1)
    assert len(asker.asked_s) == FIRST_BURST
    assert asker.bursts == []
    asker.round_trip_s = 0.01
    asker.run(1)
    assert [len(b) for b in asker.bursts] == [LATER_BURST]


def test_an_answer_to_an_older_question_counts_for_nothing() -> None:
    exchanges = Exchanges()
    assert exchanges.tick(1.0, online=True)
    exchanges.asked(1_000_000)
    assert not exchanges.tick(1.5, online=True)
    assert exchanges.tick(2.0, online=True)
    exchanges.asked(2_000_000)
    exchanges.answered(TimeAnswer(1_000_000, 5, 6, "hub-1"), 2.1)
    assert not exchanges.tick(2.2, online=True), "the second question still waits"


def test_nothing_is_asked_while_the_hub_is_away_and_a_new_burst_when_it_is_back() -> None:
    asker = Asker()
    asker.run(1)
    asker.online = False
    asker.run(300)
    assert len(asker.asked_s) == FIRST_BURST
    asker.online = True
    asker.run(1)
    assert [len(b) for b in asker.bursts] == [FIRST_BURST, FIRST_BURST]
