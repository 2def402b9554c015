"""`make chaos`: one run from a seed; its last line says what came of it, and the exit code whether all was well."""

from __future__ import annotations

import secrets
import shutil
import sys
import tempfile
from pathlib import Path

import click

from tests.chaos.disks import enter_own_mounts
from tests.chaos.play import TABLES, play
from tests.chaos.stepclock import can_step

SHOWN = 20
"""Of each kind of finding."""


@click.command()
@click.option("--seed", type=int, default=None, help="A run of the past again; drawn if left out.")
@click.option("--seconds", type=click.FloatRange(1, 86_400), default=60.0, show_default=True)
@click.option("--tables", type=click.IntRange(1, 60), default=TABLES, show_default=True)
@click.option("--keep", is_flag=True, help="Keep the folder with all journals, logs and the database.")
def main(seed: int | None, seconds: float, tables: int, keep: bool) -> None:
    """Play heats on virtual tables while everything goes wrong, then look whether all is right."""
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    arguments = ["--seed", str(seed), "--seconds", str(seconds), "--tables", str(tables), *["--keep"] * keep]
    small_disks = enter_own_mounts("tests.chaos", arguments)
    if not small_disks:
        click.echo("left out: full disks (no file system may be mounted here)")
    if not can_step():
        click.echo("left out: wall clocks that are set (gcc is not there)")
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    played = play(folder, seed, seconds, click.echo, tables=tables, small_disks=small_disks)
    verdict = played.verdict
    for title, found in (
        ("lost", verdict.lost),
        ("duplicated", verdict.duplicated),
        ("wrong", verdict.wrong),
    ):
        for sentence in found[:SHOWN]:
            click.echo(f"{title}: {sentence}")
    if verdict.good and not keep:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        kept = Path(tempfile.mkdtemp(prefix="chaos-kept-"))
        shutil.copytree(folder, kept, dirs_exist_ok=True)  # what lies on a disk of ours goes with us
        click.echo(f"kept: {kept}")
    click.echo(played.last_line())
    sys.exit(0 if verdict.good else 1)


if __name__ == "__main__":
    main()
