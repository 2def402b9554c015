"""Chaos from fixed seeds, and that the same seed means the same day."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.chaos.faults import Kind, schedule

LAST_LINE = re.compile(r"seed=(\d+) runs=(\d+) faults=(\d+) events=(\d+) lost=0 duplicated=0 wrong=0")


def chaos(seed: int, seconds: int) -> tuple[int, int, int]:
    """One run as a newcomer starts it; runs, faults and events of its last line, which must be a good one."""
    command = [sys.executable, "-m", "tests.chaos", "--seed", str(seed), "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = LAST_LINE.fullmatch(done.stdout.splitlines()[-1]) if done.stdout else None
    assert found, done.stdout + done.stderr
    assert done.returncode == 0
    assert int(found[1]) == seed
    seen = re.search(r"^(\d+) final results were read off the displays$", done.stdout, re.M)
    assert seen
    assert int(seen[1]) >= int(found[2]) / 4, "many runs were seen to their end"
    return int(found[2]), int(found[3]), int(found[4])


@pytest.mark.timeout(300)
def test_nothing_is_lost_doubled_or_wrong_in_a_short_chaos() -> None:
    """D03, D06, D10."""
    runs, faults, events = chaos(seed=1, seconds=10)
    assert runs >= 6
    assert faults >= 5
    assert events >= 50


@pytest.mark.long
@pytest.mark.timeout(900)
def test_nothing_is_lost_doubled_or_wrong_in_three_minutes_of_chaos() -> None:
    """D03, D06, D10."""
    runs, faults, events = chaos(seed=20260926, seconds=180)
    assert runs >= 60
    assert faults >= 100
    assert events >= 500


def test_one_seed_is_one_day_and_another_seed_another() -> None:
    tables = range(1, 13)
    assert schedule(5, 60, tables, list(Kind)) == schedule(5, 60, tables, list(Kind))
    assert schedule(5, 60, tables, list(Kind)) != schedule(6, 60, tables, list(Kind))


def test_a_long_day_holds_every_kind_of_fault_and_none_before_what_it_breaks_was_mended() -> None:
    faults = schedule(7, 1_000, range(1, 13), list(Kind))
    assert {fault.kind for fault in faults} == set(Kind)
    hub_free_at_s = 0.0
    for fault in faults:
        if fault.kind.name.startswith("HUB"):
            assert fault.at_s >= hub_free_at_s
            hub_free_at_s = fault.at_s + fault.length_s
