"""The command `timer-hub`: what an organiser or a handyman types.

Long because each command's options and sentences stand here and nowhere else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hub import cli_check, cli_files, cli_people, cli_provision, cli_tables
from hub.cli_files import ConfigFile
from hub.cli_tables import store_of
from shared.checked_toml import BadFile
from shared.clock import machine_clock, wall_ms
from shared.duration import seconds_from
from shared.rulebook import BadRulebook, Rulebook, find_rulebook
from shared.settings_text import settings_text
from shared.topics import is_device

if TYPE_CHECKING:
    from hub.store import PlanRow


class RulebookParam(click.ParamType):  # type: ignore[type-arg]  # generic only in newer click
    """A rulebook by path or by shipped name; all its problems are told at once."""

    name = "rulebook"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Rulebook:
        """Load and check it."""
        del param, ctx
        if isinstance(value, Rulebook):
            return value
        try:
            return _rulebook_in(Path(str(value))) or find_rulebook(str(value))
        except BadRulebook as error:
            raise click.ClickException(str(error)) from error


def _rulebook_in(path: Path) -> Rulebook | None:
    """The rulebook of an archived tournament; None where the file is no such archive."""
    from hub.archive_file import RULEBOOK, BadArchive, is_archive, member
    from shared.rulebook import parse_rulebook

    try:
        rules = member(path, RULEBOOK) if is_archive(path) else None
    except BadArchive as error:
        raise click.ClickException(str(error)) from error
    return None if rules is None else parse_rulebook(rules, f"{path}: {RULEBOOK}")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("puzzle-table-timer"), prog_name="timer-hub")
def main() -> None:
    """Collect what the table timers timed, rank everyone, and show it."""


@main.group("rulebook")
def rulebook_group() -> None:
    """Rulebooks: the rules of a tournament as one TOML file."""


@rulebook_group.command("check")
@click.argument("book", metavar="FILE", type=RulebookParam())
@click.option(
    "--language", type=click.Choice(["es", "en"]), help="Of the questions; the rulebook's own if left out."
)
def rulebook_check(book: Rulebook, language: str | None) -> None:
    """Tell every problem of a rulebook at once, else what it says and what to confirm with the organiser."""
    from hub.rulebook_words import summary

    click.echo(summary(book, language or book.language))


@rulebook_group.command("new")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
def rulebook_new(file: Path | None) -> None:
    """Start a commented rulebook: on the screen, or in FILE, which must not be there yet."""
    from shared.rulebook import template

    if file is None:
        click.echo(template(), nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(template())
    except FileExistsError as error:
        raise click.ClickException(f"{file} is there already; choose another name") from error
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written ({error.strerror})") from error
    click.echo(f"{file} is written; change it, then: timer-hub rulebook check {file}")


@main.command()
@click.argument("rulebook", type=RulebookParam())
@click.argument("events", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--at", "when", metavar="WHEN", help='Fold to "45m" after each start, or to a date and time.')
@click.option(
    "--format", "form", type=click.Choice(["json", "table", "csv"]), default="json", show_default=True
)
@click.option("--plan", type=click.Path(path_type=Path), help="Plan file that tells the flags of entrants.")
def score(
    rulebook: Rulebook, events: tuple[Path, ...], when: str | None, form: str, plan: Path | None
) -> None:
    """Score event logs without a hub. RULEBOOK is a TOML file, an archive, or the name of a shipped one."""
    from hub.logs import UnreadableLog
    from hub.plan_file import BadPlanFile
    from hub.score import BadWhen
    from hub.score import score as scored

    try:
        done = scored(rulebook, list(events), when, form, plan)
    except (UnreadableLog, BadWhen) as error:
        raise click.ClickException(str(error)) from error
    except BadPlanFile as error:
        raise click.ClickException("\n".join(f"{plan}: {p}" for p in error.problems)) from error
    click.echo(done.text, nl=False)
    for problem in done.problems:
        click.echo(f"problem: {json.dumps(problem.as_json(), ensure_ascii=False)}", err=True)
    if not done.events:
        raise click.ClickException(
            "there is no event in these files; give the table's journals or exported logs"
        )


@main.command()
@click.option("--tables", type=click.IntRange(1, 60), default=4, show_default=True, help="How many tables.")
@click.option(
    "--port",
    type=click.IntRange(1, 65534),
    default=8000,
    show_default=True,
    help="Pages; timers at the next.",
)
@click.option(
    "--speed", type=click.FloatRange(0.1, 600), default=1.0, show_default=True, help="How fast run clocks go."
)
@click.option("--autoplay", is_flag=True, help="A scripted judge presses the buttons.")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Keep everything here.")
@click.option("--broker", metavar="KIND", default="embedded", help="embedded, mosquitto, or HOST:PORT.")
@click.option("--seed", type=int, default=1, help="What the scripted judge decides.")
@click.option("--language", type=click.Choice(["es", "en"]), default="es", help="Of the displays.")
def demo(
    tables: int,
    port: int,
    speed: float,
    autoplay: bool,
    data: Path | None,
    broker: str,
    seed: int,
    language: str,
) -> None:
    """Try everything on this machine: broker, hub and virtual tables with invented entrants."""
    from hub.demo import DemoFailed, DemoOptions, run_demo
    from hub.embedded_broker import BrokerError
    from hub.store_schema import StoreUnusable
    from hub.web.server import CannotListen

    if not math.isfinite(speed):
        raise click.BadParameter("must be a number from 0.1 to 600", param_hint="--speed")
    options = DemoOptions(tables, port, speed, autoplay, data, broker, seed, language)
    try:
        run_demo(options, click.echo)
    except (DemoFailed, BrokerError, StoreUnusable, CannotListen) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or data}: {error.strerror}") from error


@main.command()
@ConfigFile
def run(path: Path) -> None:
    """Run the hub."""
    from hub.config import load_settings
    from hub.run import HubFailed, run_hub

    try:
        settings, _ = load_settings(path)
        with settings.for_the_hub():
            run_hub(path, click.echo)
    except (BadFile, HubFailed) as error:
        raise click.ClickException(str(error)) from error


@main.group()
def config() -> None:
    """The hub's settings."""


@config.command("check")
@ConfigFile
def config_check(path: Path) -> None:
    """Show the effective settings, or all problems of the file at once."""
    from hub.config import load_settings

    try:
        settings, rulebook = load_settings(path)
    except BadFile as error:
        raise click.ClickException(str(error)) from error
    click.echo(settings_text(settings), nl=False)
    click.echo(f'# rulebook: "{rulebook.name}", {len(rulebook.categories)} categories')


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@ConfigFile
@click.option(
    "--day",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day it is for, shown by a table that was off and has not heard of the hub.",
)
def load(file: Path, path: Path, day: datetime | None) -> None:
    """Make the plan from a CSV file with heat,order,table,entrant,category,public_name."""
    from hub.config import load_settings
    from hub.plan_day import keep_plan_day
    from hub.plan_file import BadPlanFile, parse_plan_file

    try:
        rows = parse_plan_file(file.read_bytes(), load_settings(path)[1].categories)
    except BadPlanFile as error:
        raise click.ClickException("\n".join(f"{file}: {p}" for p in error.problems)) from error
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error
    except BadFile as error:
        raise click.ClickException(str(error)) from error
    with store_of(path, make=True) as (store, _, _):
        before = store.plan_rows()
        store.replace_plan(rows)
        keep_plan_day(store, None if day is None else day.date())
        store.audit.note(
            "timer-hub load", "plan_loaded", file.name, wall_ms(), was=_size(before), became=_size(rows)
        )
    tables = len({r.table_no for r in rows})
    click.echo(
        f"{len(rows)} runs at {tables} tables are planned; a running hub tells the tables within seconds."
    )


def _size(rows: Sequence[PlanRow]) -> str:
    """Of a plan in the audit: runs and tables."""
    return f"{len(rows)} / {len({row.table_no for row in rows})}"


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic only in newer click
    """A duration as rulebooks write it: 30s, 2m."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Whole seconds."""
        try:
            return value if isinstance(value, int) else seconds_from(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@main.command()
@click.argument("heat", required=False)
@click.option("--in", "in_s", type=Seconds(), default="30s", show_default=True, help="From now.")
@click.option("--cancel", "take_back", is_flag=True, help="Take the order back, before its start has come.")
@click.option("--close", "no_more", is_flag=True, help="Let no late table start by itself any more.")
@ConfigFile
def start(heat: str | None, in_s: int, take_back: bool, no_more: bool, path: Path) -> None:
    """Let all tables of HEAT start together. A running hub tells them within a second."""
    from hub.start_orders import CannotOrder, cancel_start, close_start, order_start

    if (take_back and no_more) or (heat is None and not take_back and not no_more):
        raise click.UsageError("name a heat, or --cancel, or --close")
    with store_of(path) as (store, _, _):
        try:
            if take_back:
                order, what = cancel_start(store, machine_clock(), heat), "does not start"
            elif no_more:
                order, what = close_start(store, machine_clock(), heat), "is closed for late tables"
            else:
                order, what = order_start(store, machine_clock(), heat or "", in_s), f"starts in {in_s} s"
        except CannotOrder as error:
            raise click.ClickException(str(error)) from error
        store.audit.note("timer-hub start", f"start_{order.state}", order.heat, wall_ms())
    click.echo(f"heat {order.heat} {what}")


@main.command()
@click.argument("table", type=click.IntRange(1, 999))
@click.argument("device")
@ConfigFile
def seat(table: int, device: str, path: Path) -> None:
    """Put DEVICE on TABLE, in the place of the one that stood there."""
    if not is_device(device):
        raise click.ClickException(f"{device}: a table timer's name has small letters, digits and - only")
    with store_of(path) as (store, _, _):
        before = store.seats().get(table)
        store.set_seat(table, device)
        store.audit.note(
            "timer-hub seat", "seat_given", str(table), wall_ms(), was=before or "", became=device
        )
    click.echo(
        f"{device} stands on table {table}" + (f", not {before}" if before not in (None, device) else "")
    )


for module in (cli_check, cli_files, cli_people, cli_provision, cli_tables):
    for command in module.COMMANDS:
        main.add_command(command)

if __name__ == "__main__":
    main()
