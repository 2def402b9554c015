"""A whole table on the real lgpio over a fake chip; ends as `table-timer run` does.

Arguments: the chip's folder, the table's folder. `ready` is written to stdout once it runs. A line on stdin
`die` makes a callback raise in lgpio's thread, as a bug there would, `hang` one that never comes back; `stop` ends
the table.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import lgpio

from device.app import App, Parts
from device.buttons import NoButtons, open_factory
from device.cannot_start import exit_code
from device.from_hub import LinkSettings
from device.table import Seat
from shared.rulebook import shipped_rulebook
from tests.device.fakechip.chip import edge

SPARE_LINE = 4


def _raise(*_: object) -> None:
    raise RuntimeError("a bug in a callback")


def _hang(*_: object) -> None:
    print("hangs", flush=True)  # noqa: T201
    threading.Event().wait()


_BUGS = {"die\n": _raise, "hang\n": _hang}


def _obey(app: App, folder: Path, chip: int) -> None:
    for line in sys.stdin:
        if line in _BUGS:
            lgpio.gpio_claim_alert(chip, SPARE_LINE, lgpio.BOTH_EDGES)
            lgpio.callback(chip, SPARE_LINE, lgpio.BOTH_EDGES, _BUGS[line])
            edge(folder, SPARE_LINE, level=False)
        else:
            app.stop()


def main(folder: Path, state_dir: Path) -> int:
    """The exit code."""
    try:
        factory = open_factory("lgpio", sysfs=folder / "sysfs")
        app = App(
            Parts(
                seat=Seat(7, (shipped_rulebook("castrillo-2023").categories["adulto"],)),
                link=LinkSettings("127.0.0.1", 1, "t07"),
                state_dir=state_dir,
                boot="boot-1",
                pin_factory=factory,
                panel=None,
                allow_volatile=True,
                on_screen=lambda screen: print(f"shown {screen.words()!r}", flush=True),  # noqa: T201
            )
        )
        threading.Thread(target=_obey, args=(app, folder, factory._handle), daemon=True).start()
        app.run()
    except NoButtons as error:
        sys.stderr.write(f"{error}\n")
        return exit_code(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
