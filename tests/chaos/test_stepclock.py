"""The wall clocks of a chaos run: set for those who are to see it, and for nobody else."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.clock import monotonic, wall_ms
from tests.chaos.stepclock import HOUR_S, StepClock, can_step

pytestmark = pytest.mark.skipif(not can_step(), reason="gcc is not there")
_SHOWN = """
import datetime, json, time
for line in iter(input, "end"):
    now = datetime.datetime.now(datetime.UTC).timestamp()
    print(json.dumps([time.time(), now, time.monotonic()]), flush=True)
"""


def test_a_clock_is_set_in_a_running_process_and_its_other_clocks_go_on(tmp_path: Path) -> None:
    clock = StepClock(tmp_path, "hub")
    with subprocess.Popen(
        [sys.executable, "-c", _SHOWN],
        env=dict(clock.environment),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as shown:
        assert shown.stdin is not None
        assert shown.stdout is not None
        for ahead_s in (0, 8 * HOUR_S, -HOUR_S, -wall_ms() / 1000 + 30):
            clock.set(ahead_s)
            wall_s, mono_s = wall_ms() / 1000, monotonic()
            shown.stdin.write("\n")
            shown.stdin.flush()
            time_s, date_s, monotonic_s = json.loads(shown.stdout.readline())
            assert abs(time_s - wall_s - ahead_s) < 20
            assert abs(date_s - wall_s - ahead_s) < 20
            assert 0 <= monotonic_s - mono_s < 20
        assert datetime.fromtimestamp(time_s, UTC).year == 1970
        shown.stdin.write("end\n")
