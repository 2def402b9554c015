"""The part of the bench that runs in the process that sees the fake chip; writes its samples to stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from device.buttons import open_factory
from tests.bench.press import errors_ms
from tests.device.fakechip.chip import ChipFingers

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    pins = open_factory("lgpio", sysfs=folder / "sysfs")
    sys.stdout.write(json.dumps(errors_ms(pins, ChipFingers(folder))))
    pins.close()
