"""The Makefile has what it says it has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Makefile").read_text(encoding="utf-8")
OFFERED = sorted(set(re.findall(r"^\.PHONY: (.*)$", TEXT, re.M)[0].split()))


@pytest.mark.parametrize("target", OFFERED)
def test_each_target_that_is_offered_does_something(target: str) -> None:
    assert re.search(rf"^{target}:", TEXT, re.M), f"there is no rule for make {target}"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not there")
def test_a_seed_and_a_length_reach_the_chaos_run() -> None:
    command = ["make", "-n", "chaos", "SEED=7", "SECONDS=120"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "-m tests.chaos --seed 7 --seconds 120" in told


def test_what_the_help_says_is_there() -> None:
    helped = set(re.findall(r"@echo 'make ([a-z-]+)", TEXT))
    assert helped <= set(OFFERED)
    assert {"demo", "test", "chaos"} <= helped
