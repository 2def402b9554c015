"""The command `timer-hub`: what an organiser or a handyman types."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import click

from shared.rulebook import BadRulebook, Rulebook, find_rulebook


class RulebookParam(click.ParamType):  # type: ignore[type-arg]  # generic only in newer click
    """A rulebook by path or by shipped name; all its problems are told at once."""

    name = "rulebook"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Rulebook:
        """Load and check it."""
        del param, ctx
        if isinstance(value, Rulebook):
            return value
        try:
            return find_rulebook(str(value))
        except BadRulebook as error:
            raise click.ClickException(str(error)) from error


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("puzzle-table-timer"), prog_name="timer-hub")
def main() -> None:
    """Collect what the table timers timed, rank everyone, and show it."""


@main.command()
@click.argument("rulebook", type=RulebookParam())
@click.argument("events", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--at", "when", metavar="WHEN", help='Fold to "45m" after each start, or to a date and time.')
@click.option(
    "--format", "form", type=click.Choice(["json", "table", "csv"]), default="json", show_default=True
)
def score(rulebook: Rulebook, events: tuple[Path, ...], when: str | None, form: str) -> None:
    """Score event logs without a hub. RULEBOOK is a TOML file or the name of a shipped one."""
    from hub.logs import UnreadableLog
    from hub.score import BadWhen
    from hub.score import score as scored

    try:
        click.echo(scored(rulebook, list(events), when, form), nl=False)
    except (UnreadableLog, BadWhen) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
