"""`make bench`: measures everything, prints a table, writes `build/bench.json`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from tests.bench import clock, core, display, hub, press, system, table
from tests.bench.figures import Figure, save
from tests.bench.figures import table as as_table

OUT = Path("build/bench.json")


@click.command()
@click.option(
    "--only",
    type=click.Choice(["core", "table", "display", "hub", "clock", "system"]),
    help="Measure a part.",
)
def main(only: str | None) -> None:
    """Measure the figures of this machine."""
    parts: dict[str, Callable[[Path], list[Figure]]] = {
        "core": lambda folder: [core.folding(), core.ranking(), core.scoring(folder)],
        "table": lambda folder: [*press.stamps(folder), *table.presses(folder)],
        "display": display.display,
        "hub": hub.ingest,
        "clock": clock.clocks,
        "system": lambda folder: [*system.hall(folder), system.recovery(folder)],
    }
    figures: list[Figure] = []
    for name, measure in parts.items():
        if only in (None, name):
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                figures += measure(Path(folder))
    click.echo(as_table(figures))
    save(figures, OUT)
    click.echo(f"written to {OUT}")


if __name__ == "__main__":
    main()
