"""Commands of `timer-hub` that ask a table timer something: which one it is, a text, a self-test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from hub.cli_files import ConfigFile
from hub.config import load_settings
from shared.checked_toml import BadFile
from shared.clock import machine_clock, monotonic, wall_ms
from shared.wire import Do

if TYPE_CHECKING:
    from hub.config import HubFile
    from hub.store import Store
    from hub.table_answer import Answer
    from shared.rulebook import Rulebook

ANSWERED_S: Final = 20.0
"""So long an answer is waited for: a self-test of a failing card takes its time."""
_LOOK_EVERY_S: Final = 0.2

_RESULTS: Final = {
    "run_on": "a run is on there: nothing was done",
    "expired": "it heard of it too late: nothing was done",
    "clock_unknown": "it has not compared its clock with the hub's yet: try again in ten seconds",
    "busy": "a self-test is on there already",
    "cannot_reload": "nobody would start it again: restart it by hand",
    "not_understood": "its program is of another version and does not know this",
}
_DONE: Final = {
    Do.IDENTIFY: "shows its number for 10 seconds",
    Do.SHOW_TEXT: "shows the text for 30 seconds, or until a button is pressed",
    Do.SELFTEST: "all is well",
    Do.RELOAD: "starts again with its settings as they are now",
}

TableArgument: Callable[[Callable[..., None]], Callable[..., None]] = click.argument(
    "table", type=click.IntRange(1, 999)
)


@click.command()
@TableArgument
@ConfigFile
def identify(table: int, path: Path) -> None:
    """Let the display (buzzer, light) of TABLE show which one it is."""
    _ask(path, table, Do.IDENTIFY)


@click.command("show-text")
@TableArgument
@click.argument("text")
@ConfigFile
def show_text(table: int, text: str, path: Path) -> None:
    """Show TEXT on the display of TABLE; a running clock stays in sight."""
    _ask(path, table, Do.SHOW_TEXT, text)


@click.command()
@TableArgument
@ConfigFile
def selftest(table: int, path: Path) -> None:
    """Let TABLE test what needs no hand, and print its report; refused while a run is on there."""
    _ask(path, table, Do.SELFTEST)


@click.command()
@TableArgument
@ConfigFile
def reload(table: int, path: Path) -> None:
    """Let TABLE start again with its settings as they are now; refused while a run is on there."""
    _ask(path, table, Do.RELOAD)


def _ask(path: Path, table: int, do: Do, text: str = "") -> None:
    from hub.asking import Asking, CannotAsk

    with store_of(path) as (store, _, _):
        device = store.seats().get(table)
        if device is None:
            raise click.ClickException(f"no table timer stands on table {table}")
        asking = Asking(store, machine_clock(), wall_ms)
        try:
            command = asking.ask(device, do, f"timer-hub {do.value.replace('_', '-')}", text)
        except CannotAsk as error:
            raise click.ClickException(str(error)) from error
        end_s, pause = monotonic() + ANSWERED_S, threading.Event()
        answer = None
        while answer is None and monotonic() < end_s:
            pause.wait(_LOOK_EVERY_S)
            answer = asking.answer(device, command)
    _tell(table, device, do, answer)


def _tell(table: int, device: str, do: Do, answer: Answer | None) -> None:
    if answer is None:
        raise click.ClickException(
            f"no answer from table {table} ({device}): is it online, is the hub running?"
        )
    for finding in answer.findings:
        click.echo(f"{'ok   ' if finding['ok'] else 'FAULT'} {finding['part']}: {finding.get('text', '')}")
    if answer.result == "done":
        click.echo(f"table {table} ({device}): {_DONE[do]}")
        return
    why = {"faults": "not all is well", "settings_wrong": f"its settings are wrong: {answer.why}"}
    raise click.ClickException(
        f"table {table} ({device}): {(_RESULTS | why).get(answer.result, answer.result)}"
    )


@contextmanager
def store_of(path: Path, *, make: bool = False) -> Iterator[tuple[Store, HubFile, Rulebook]]:
    """The hub's database, settings and rulebook; what is wrong with them is told in one sentence.

    With `make` there is a database afterwards, too, if no hub has run yet.
    """
    from hub.store import Store, StoreTrouble
    from hub.store_schema import StoreUnusable

    try:
        settings, rulebook = load_settings(path)
        if make:
            settings.data_dir.mkdir(parents=True, exist_ok=True)
        elif not settings.database.exists():
            raise click.ClickException(f"{settings.database}: no hub has run with these settings")
        with settings.for_the_hub():
            store = Store.open(settings.database, wall_ms)
            try:
                yield store, settings, rulebook
            finally:
                store.close()
    except (BadFile, StoreUnusable, StoreTrouble) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or path}: {error.strerror}") from error


COMMANDS = (identify, show_text, selftest, reload)
