"""Screenshots of the pages with a played heat on them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.browser.chromium import chromium
from tests.system.test_demo import demo, get
from tests.waiting import wait_until

ROUNDS_S = 120.0


def shoot(out: Path) -> None:
    """Plays two heats by the scripted judge and photographs the standings and a virtual table."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--tables", "6", "--autoplay", "--speed", "600", "--seed", "4")
        with demo(Path(folder), *options) as port, chromium() as browser:
            wait_until(lambda: _done(port) >= 8, ROUNDS_S)
            page = browser.new_page(locale="es-ES", viewport={"width": 1100, "height": 620})
            page.goto(f"http://127.0.0.1:{port}/")
            page.screenshot(path=out / "standings.png")
            page.goto(f"http://127.0.0.1:{port + 1}/tables/1")
            page.wait_for_function("() => document.images.length > 0")
            page.screenshot(path=out / "table.png")


def _done(port: int) -> int:
    categories = json.loads(get(port, "/api/v1/standings"))["categories"]
    return sum(line["rank"] is not None for c in categories for line in c["standings"])
