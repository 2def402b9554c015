"""Runs one clause of the contract on the real lgpio over a fake chip; ends with 0 when it holds."""

from __future__ import annotations

import sys
from pathlib import Path

from device.buttons import open_factory
from tests.device.fakechip.chip import ChipFingers
from tests.device.pins_contract import CLAUSES, Pins


def main(folder: Path, name: str) -> None:
    """Raises what the clause raises."""
    factory = open_factory("lgpio", sysfs=folder / "sysfs")
    clause = next(clause for clause in CLAUSES if clause.__name__ == name)
    clause(Pins(factory, ChipFingers(folder)))
    factory.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
