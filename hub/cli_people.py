"""Commands of `timer-hub` about people: an organiser's password, and names that are to be forgotten."""

from __future__ import annotations

from pathlib import Path

import click

from hub.cli_files import ConfigFile
from hub.cli_tables import store_of
from shared.clock import monotonic, wall_ms

_WHY = {
    "name_empty": "a name is missing",
    "name_bad": "this name is too long",
    "name_taken": "a judge has this name",
    "password_short": "the password needs at least 8 letters",
    "password_long": "the password is too long",
}


@click.command()
@click.argument("name")
@click.password_option("--password", help="Asked for if left out, which is better: commands are remembered.")
@ConfigFile
def password(name: str, password: str, path: Path) -> None:
    """Set the password of an organiser, a new one or one who forgot it; it ends all logins of NAME."""
    from hub.people import BadPerson, People

    with store_of(path, make=True) as (store, _, _):
        try:
            person = People(store, wall=wall_ms, hand=monotonic).force_password(name, password)
        except BadPerson as error:
            raise click.ClickException(_WHY.get(error.code, error.code)) from error
    click.echo(f"{person.name} logs in with this password at /login")


@click.command()
@click.argument("entrant")
@ConfigFile
def forget(entrant: str, path: Path) -> None:
    """Show ENTRANT (the id in the plan) under a neutral name from now on; all results stay.

    The name is taken out of the hub's own backups too.
    """
    from hub.forget import forget as forgotten

    with store_of(path, make=True) as (store, settings, _):
        done = forgotten(store, settings.database, entrant)
        if not done.runs:
            raise click.ClickException(f'no run of entrant "{entrant}" is planned')
        store.audit.note("timer-hub forget", "entrant_forgotten", entrant, wall_ms())
    click.echo(
        f"{entrant} has no name any more in {done.runs} planned runs; the pages show it within seconds"
    )
    click.echo(f"the name is gone from {done.copies} backups in the hub's folder too")
    for copy in done.kept:
        click.echo(f"{copy} could not be changed: delete it if the name must be gone from there")
    if not done.whole:
        click.echo(
            "a running hub still uses old pages of its database: restart it, then nothing is left there"
        )
    click.echo(
        "still with the name: archives, copies of backups elsewhere, the file the plan was loaded from; "
        f"see /audit?entrant={entrant} for reasons of rulings that name anybody"
    )


COMMANDS = (password, forget)
