"""Commands of `timer-hub` about the tournament's files: backup, restore, refill, archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from hub.config import HubFile, load_settings
from shared.checked_toml import BadFile
from shared.clock import wall_ms

ConfigFile: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path, readable=False),  # what cannot be read is told in our own words
    default=Path("/etc/timer-hub/hub.toml"),
    show_default=True,
    help="The hub's settings.",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@ConfigFile
def backup(file: Path | None, path: Path) -> None:
    """Write a backup, beside a running hub too: to FILE, into a folder, or into the hub's own backups."""
    from hub.backup import back_up, keep_backup

    with _settings(path) as settings:
        if file is None or file.is_dir():
            file = keep_backup(settings.database, "by-hand", wall_ms, folder=file)
        else:
            back_up(settings.database, file)
    click.echo(f"{file} is a whole and checked backup; bring it back with: timer-hub restore {file}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@ConfigFile
def restore(file: Path | None, path: Path) -> None:
    """Put a backup in the place of the database, FILE or the newest good one. The hub must not run.

    The tables then send again whatever the backup lacks.
    """
    from hub.backup import backups_of
    from hub.restore import newest_usable, unusable
    from hub.restore import restore as restored

    with _settings(path) as settings:
        if file is None and (newer := unusable(settings.database)):
            click.echo(
                f"left out: {len(newer)} made by another version of the hub, {newer[-1].name} the newest"
            )
        source = file or newest_usable(settings.database)
        if source is None:
            raise click.ClickException(
                f"there is no good backup in {backups_of(settings.database)}; name one"
            )
        done = restored(source, settings.database, wall_ms)
    click.echo(f"{source} is the hub's database now: {done.events} events, {done.planned} planned runs")
    if done.aside is not None:
        click.echo(f"the database before it is in {done.aside}")
    click.echo(
        "start the hub; the tables send again what the backup lacks (journals of others: timer-hub refill)"
    )


@click.command()
@click.argument("journals", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--over-gaps", is_flag=True, help="Take what follows events that will never come any more.")
@ConfigFile
def refill(journals: tuple[Path, ...], over_gaps: bool, path: Path) -> None:
    """Take what the database lacks from tables' JOURNALS (from their cards) or archives. The hub must not run."""
    from hub.refill import refill as refilled

    with _settings(path) as settings:
        done = refilled(journals, settings.database, wall_ms, over_gaps=over_gaps)
    for line in done.lines():
        click.echo(line)
    if done.foreign:
        names = ", ".join(str(file) for file in done.foreign)
        raise click.ClickException(
            f"nothing in {names} is an event; give tables' journals, exported logs or archives"
        )


@click.command()
@click.argument("file", metavar="FILE.zip", type=click.Path(path_type=Path, dir_okay=False))
@ConfigFile
def archive(file: Path, path: Path) -> None:
    """Write the whole tournament to one zip file, which `timer-hub score` reads years later.

    On another disk than the hub's, a USB stick, it lets the tables delete logs they have closed.
    """
    from hub.archive import rulebook_text, write_archive
    from hub.archived import is_elsewhere, keep_archived, whole_logs
    from hub.backup import no_place_for_a_file
    from hub.store import Store

    with _settings(path) as settings:
        _, rulebook = load_settings(path)
        if not settings.database.exists():
            raise click.ClickException(f"{settings.database}: no hub has run with these settings")
        flaw = no_place_for_a_file(file)
        if flaw is not None:
            raise click.ClickException(flaw)
        store = Store.open(settings.database, wall_ms)
        try:
            events = write_archive(file, store, rulebook, rulebook_text(settings.rulebook))
            whole = whole_logs(file, events)
            elsewhere = is_elsewhere(file, settings.database)
            if elsewhere:
                keep_archived(store, whole)
        finally:
            store.close()
    click.echo(
        f"{file} was read back and holds {len(events)} events; "
        f"rank them again with: timer-hub score {file} {file}"
    )
    click.echo("it names entrants as the plan does: keep it as you keep the plan")
    if elsewhere:
        click.echo(f"tables may now delete what they have closed of these {len(whole)} logs: keep two copies")
    else:
        click.echo(
            "it is on the hub's own disk: tables delete nothing before there is an archive on another one"
        )


@contextmanager
def _settings(path: Path) -> Iterator[HubFile]:
    """The hub's settings for a command; what is wrong with its files is told in one sentence."""
    from hub.archive import ArchiveBroken
    from hub.backup import BackupFailed
    from hub.logs import UnreadableLog
    from hub.store import StoreTrouble
    from hub.store_schema import StoreUnusable

    try:
        settings, _ = load_settings(path)
        with settings.for_the_hub():
            yield settings
    except (BadFile, BackupFailed, ArchiveBroken, UnreadableLog, StoreUnusable, StoreTrouble) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or path}: {error.strerror}") from error


COMMANDS = (backup, restore, refill, archive)
