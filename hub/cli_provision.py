"""Commands of `timer-hub` that let table timers in: the broker's files, a table's bundle, a spare device."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import click

from hub.cli_files import ConfigFile
from hub.cli_tables import store_of
from hub.config import HubFile, load_settings
from shared.checked_toml import BadFile
from shared.clock import wall_ms
from shared.core.events import HUB_DEVICE

if TYPE_CHECKING:
    from hub.broker_files import BrokerFolder
    from hub.provision import Bundle
    from shared.rulebook import Rulebook

_WHO: Final = os.environ.get("SUDO_USER") or os.environ.get("USER") or "USER"
_RELOAD: Final = "mosquitto takes it when it reloads: sudo systemctl reload timer-hub-broker"
BrokerOption: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--broker",
    "broker_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="The broker's files; beside the hub's settings if left out.",
)
OutOption: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where the bundle's folder is made; here if left out.",
)
HostOption: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--host", help="Name or address of this machine for the tables; its name in the network if left out."
)


def _reader_name(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    if not (name.isascii() and name.isalnum() and len(name) <= 20):
        raise click.BadParameter("write up to 20 letters and digits, for example screen1")
    return name


@click.group()
def provision() -> None:
    """Let table timers in: passwords, certificates and settings."""


@provision.command("hub")
@click.option("--name", "names", multiple=True, help="A further host name or address on the certificate.")
@BrokerOption
@ConfigFile
def provision_hub(names: tuple[str, ...], broker_folder: Path | None, path: Path) -> None:
    """Make the broker's files: certificate authority, certificate, rules, passwords, mosquitto.conf.

    What tables were given before stays good.
    """
    from hub.broker_files import new_password

    with _told(path) as (settings, _):
        broker = _broker(broker_folder, path)
        password = settings.broker.password or new_password()
        broker.set_up(settings.broker.base, password, names, local_port=settings.broker.port)
    click.echo(
        f"{broker.folder}/mosquitto.conf is what the broker runs with; then: timer-hub provision table 1"
    )
    if settings.broker.username != HUB_DEVICE or settings.broker.password is None:
        click.echo(f"write into {path}, under [broker]:")
        click.echo(f'username = "{HUB_DEVICE}"\npassword = "{password}"')


@provision.command("table")
@click.argument("table", type=click.IntRange(1, 999))
@OutOption
@HostOption
@BrokerOption
@ConfigFile
def provision_table(table: int, out: Path, host: str | None, broker_folder: Path | None, path: Path) -> None:
    """Make the bundle of a table timer for TABLE: its settings with a password of its own, and ca.crt."""
    with _told(path) as (settings, rulebook):
        bundle = _bundle(_broker(broker_folder, path), table, out, host, settings, rulebook)
    _say(bundle, table)


@provision.command("reader")
@click.argument("name", callback=_reader_name)
@BrokerOption
@ConfigFile
def provision_reader(name: str, broker_folder: Path | None, path: Path) -> None:
    """Let a program of your own listen to the standings: a room screen, Home Assistant, Node-RED.

    It hears public names and results, and start orders; it can say nothing that anybody takes for a table's.
    """
    from hub.broker_files import READER, TLS_PORT, new_password

    with _told(path) as (settings, _):
        broker = _broker(broker_folder, path)
        if not broker.is_set_up():
            raise click.ClickException(f"{broker.folder} is not set up; first: timer-hub provision hub")
        password = new_password()
        broker.set_password(READER + name, password)
        topic = f"{settings.broker.base}/standings/#"
    click.echo(f"user {READER}{name}, password {password}, port {TLS_PORT}, authority {broker.ca_file}")
    click.echo(f"topic {topic}: one message for each category, the newest is kept")
    click.echo(_RELOAD)


@provision.command("shut-out")
@click.argument("device")
@BrokerOption
@ConfigFile
def provision_shut_out(device: str, broker_folder: Path | None, path: Path) -> None:
    """Let DEVICE connect no more: it was lost or stolen, or made twice. What it has delivered stays."""
    with _told(path):
        broker = _broker(broker_folder, path)
        if device == HUB_DEVICE or not broker.shut_out(device):
            raise click.ClickException(f"{device}: no table timer has a password under this name")
    click.echo(f"{device} may connect no more")
    click.echo(_RELOAD)


@click.command("replace-device")
@click.argument("table", type=click.IntRange(1, 999))
@click.option("--shut-out", is_flag=True, help="The old one was lost or stolen: it may connect no more.")
@OutOption
@HostOption
@BrokerOption
@ConfigFile
def replace_device(
    table: int, shut_out: bool, out: Path, host: str | None, broker_folder: Path | None, path: Path
) -> None:
    """Give TABLE a new table timer: make its bundle, and the seat is its own from now on.

    The old one may still deliver what it timed, unless it is shut out.
    """
    with _told(path) as (settings, rulebook):
        broker = _broker(broker_folder, path)
        with store_of(path) as (store, _, _):
            bundle = _bundle(broker, table, out, host, settings, rulebook)
            before = store.seats().get(table)
            store.set_seat(table, bundle.device)
            store.audit.note(
                "timer-hub replace-device",
                "device_replaced",
                str(table),
                wall_ms(),
                was=before or "",
                became=bundle.device,
            )
        out_now = shut_out and before is not None and broker.shut_out(before)
    _say(bundle, table)
    if before is not None:
        click.echo(f"{before} {'may connect no more' if out_now else 'may still deliver what it timed'}")


def _bundle(
    broker: BrokerFolder, table: int, out: Path, host: str | None, settings: HubFile, rulebook: Rulebook
) -> Bundle:
    from hub.provision import BundleWishes, make_bundle, this_host

    if not broker.is_set_up():
        raise click.ClickException(f"{broker.folder} is not set up; first: timer-hub provision hub")
    wishes = BundleWishes(
        host=host or this_host(),
        language=rulebook.language,
        # a rulebook of one's own is not on the table's card; its rules come with the plan
        rulebook="torneo-puzzles-2026" if Path(settings.rulebook).suffix else settings.rulebook,
        base=settings.broker.base,
    )
    return make_bundle(broker, table, out, wishes)


def _say(bundle: Bundle, table: int) -> None:
    from hub.provision import this_host

    click.echo(
        f"{bundle.folder} is the bundle of {bundle.device} for table {table}: copy both files to its card, here"
    )
    click.echo(f"  cp {quote(str(bundle.folder))}/* /media/{_WHO}/bootfs/")
    click.echo("or on the computer that the card is in:")
    click.echo(f"  scp '{_WHO}@{this_host()}:{bundle.folder}/*' FOLDER-OF-THE-CARD")
    click.echo(_RELOAD)
    if bundle.earlier:
        click.echo(
            f"made for table {table} before, with passwords that are still good: {', '.join(bundle.earlier)}"
        )
        click.echo(f"  to shut one out: sudo timer-hub provision shut-out {bundle.earlier[-1]}")


def _broker(folder: Path | None, settings: Path) -> BrokerFolder:
    from hub.broker_files import BrokerFolder

    return BrokerFolder(folder or settings.parent / "broker")


@contextmanager
def _told(path: Path) -> Iterator[tuple[HubFile, Rulebook]]:
    """The hub's settings and rulebook; what is wrong is told in one sentence."""
    from hub.store import StoreTrouble
    from hub.store_schema import StoreUnusable

    try:
        yield load_settings(path)
    except (BadFile, StoreUnusable, StoreTrouble) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or path}: {error.strerror}") from error


COMMANDS = (provision, replace_device)
