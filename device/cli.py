"""The command `table-timer`: what runs on the table, and the virtual tables for everybody else.

Long because each command's options and sentences stand here and nowhere else.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from device.config import TableTimerFile, categories_of, link_of, load_settings, reachable
from device.error_codes import ErrorCode, settings_codes
from shared.checked_toml import BadFile
from shared.folder_owner import handed_over
from shared.texts import DEFAULT_LANGUAGE
from shared.topics import DEFAULT_BASE

ConfigFile = click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path, readable=False),  # what cannot be read is told in our own words: E10
    default=Path("/etc/table-timer/table-timer.toml"),
    show_default=True,
    help="The settings of this table timer.",
)
_STDIN: Final = 0
_OURS: Final = (
    "*.json*",
    "*.journal",
    "*.damaged",
    "logs*",
    "session*",
    "alive*",
    "starts*",
    "reserve",
    "lock",
)
"""All that a table timer makes in its folder: what root makes there by hand is the service's to write, too."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("puzzle-table-timer"), prog_name="table-timer")
def main() -> None:
    """Time the runs of one table of a jigsaw puzzle tournament."""


@main.command()
@ConfigFile
def run(path: Path) -> None:
    """Time runs on this table, until stopped."""
    from device.start_up import StartUp
    from device.starts import Mode, Starts
    from shared.clock import kernel_boot_id

    try:
        settings = load_settings(path)
    except BadFile as error:
        _bad_settings(path, error)
    click.get_current_context().with_resource(handed_over(settings.state_dir, _OURS))
    starts = Starts(settings.state_dir, kernel_boot_id())
    mode = starts.begin()
    panel = None if mode is Mode.BLIND else _panel(settings)
    start_up = StartUp(panel, settings.table, settings.language)
    # only now, with a picture on its way: the rest takes a small board seconds to load
    from device.app import App, on_thread_death
    from device.buttons import NoButtons
    from device.cannot_start import exit_code
    from device.journal import JournalBusy, NotSaved
    from device.outputs import OutputPins

    try:
        parts = replace(_parts(settings, panel, path), passed=start_up.passed, steady=starts.steady)
        app = App(parts if mode is Mode.WHOLE else replace(parts, safe=True, outputs=OutputPins()))
    except (NoButtons, JournalBusy, NotSaved, OSError) as error:
        starts.end()
        _cannot_start(settings, panel, error)
    broken = threading.Event()

    def broke() -> None:
        broken.set()
        app.stop()

    on_thread_death(broke)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: app.stop())
    try:
        app.run()
    except NoButtons as error:
        starts.end()
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(exit_code(error)) from error
    if broken.is_set():
        raise click.ClickException("a part of the table timer ended; see above")
    starts.end()


def _cannot_start(settings: TableTimerFile, panel: Any, error: Exception) -> NoReturn:
    """Say why on the display and to the hub too, then end: whoever started the table starts it again."""
    from device.cannot_start import error_code, exit_code, show_why, why
    from device.journal import JournalBusy

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    click.echo(f"Error: {error}", err=True)
    if not isinstance(error, JournalBusy):  # the one that has it speaks for this table
        _tell_the_hub(settings, [(error_code(error), str(error))])
    show_why(panel, why(error, settings.table, settings.language), stop)
    raise SystemExit(exit_code(error)) from error


def _tell_the_hub(settings: TableTimerFile, why: list[tuple[ErrorCode, str]]) -> None:
    """From now until the process ends; a copied card stays offline whatever happens."""
    from device.app import hardware_serial
    from device.distress import call_for_help
    from device.identity import Identity

    if not Identity(settings.state_dir).copied(hardware_serial()):
        call_for_help(link_of(settings), settings.table, settings.state_dir, why)


def _bad_settings(path: Path, error: BadFile) -> NoReturn:
    """Say what is wrong with the settings: to the hub in words, on the display that most tables have by numbers."""
    from device.cannot_start import show_why, why_settings
    from device.config import DisplayTable
    from device.panel import Panel, open_i2c

    usual, stop = DisplayTable(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    click.echo(f"Error: {error}", err=True)
    settings, panel = reachable(path), None
    if settings is not None:
        _tell_the_hub(settings, [(settings_codes([problem])[0], str(problem)) for problem in error.problems])
    if Path(f"/dev/i2c-{usual.port}").exists():
        panel = Panel(usual.driver, lambda: open_i2c(usual.port), contrast=usual.contrast)
    show_why(panel, why_settings(error.problems, DEFAULT_LANGUAGE), stop)
    raise SystemExit(1) from error


def _panel(settings: TableTimerFile) -> Any:
    from device.panel import Panel, open_i2c

    display = settings.display
    if display.driver == "none":
        return None
    return Panel(display.driver, lambda: open_i2c(display.port), contrast=display.contrast)


def _wrong_settings(path: Path) -> str:
    """What is wrong with the settings as they are now; empty when nothing is."""
    try:
        load_settings(path)
    except BadFile as error:
        return str(error)
    return ""


def _parts(settings: TableTimerFile, panel: Any, path: Path) -> Any:
    """The parts of a real table. Raises NoButtons, OSError."""
    from device.app import Parts, hardware_serial
    from device.buttons import open_factory
    from device.outputs import OutputPins
    from device.table import Seat
    from shared.clock import kernel_boot_id
    from shared.notify import Notify

    return Parts(
        seat=Seat(settings.table, categories_of(settings, "settings"), settings.language),
        link=link_of(settings),
        state_dir=settings.state_dir,
        boot=kernel_boot_id(),
        pin_factory=open_factory(settings.buttons.pins),
        panel=panel,
        pins=settings.buttons.numbers(),
        outputs=OutputPins(**settings.signals.pins()),
        wrong_settings=(lambda: _wrong_settings(path)) if Notify().heard else None,
        rest=settings.display.rest(),
        serial=hardware_serial(),
        allow_volatile=settings.allow_volatile,
    )


@main.command("check-display")
@ConfigFile
def check_display(path: Path) -> None:
    """Show a frame of one pixel on the display, until stopped: it must be whole on all four sides.

    The table timer must not be running: sudo systemctl stop table-timer.
    """
    from device.display_check import frame, show_frame

    settings, stop = _settings(path), threading.Event()
    panel = _panel(settings)
    if panel is None:
        raise click.ClickException('the settings name no display: driver = "none"')
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    click.echo("a side is missing, or shifted: try another driver in [display]; Ctrl-C ends")
    trouble = show_frame(panel, frame(settings.display.driver, settings.language), stop)
    if trouble:
        raise click.ClickException(f"no display: {trouble}")


@main.command()
@ConfigFile
@click.option(
    "--press", "press_s", type=click.FloatRange(0.1, 600), default=15.0, help="Seconds for each button."
)
def selftest(path: Path, press_s: float) -> None:
    """Walk through display, buttons, buzzer, light, clock, card, supply and network.

    The table timer must not be running: sudo systemctl stop table-timer.
    """
    from device.buttons import open_factory
    from device.outputs import OutputPins
    from device.self_test import Bench, SelfTest

    settings = _settings(path)
    bench = Bench(
        panel=_panel(settings),
        pin_factory=lambda: open_factory(settings.buttons.pins),
        pins=settings.buttons.numbers(),
        state_dir=settings.state_dir,
        hub=(settings.hub.host, settings.hub.port),
        language=settings.language,
        allow_volatile=settings.allow_volatile,
        outputs=OutputPins(**settings.signals.pins()),
        press_s=press_s,
        say=click.echo,
    )
    good = True
    with _folder_for_pipes():
        for finding in SelfTest(bench).run():
            click.echo(str(finding))
            good = good and finding.ok
    click.echo("all is well" if good else "not all is well")
    raise SystemExit(0 if good else 1)


@contextlib.contextmanager
def _folder_for_pipes() -> Iterator[None]:
    """lgpio makes its pipes in the working directory, which may be one that nobody can write to."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@main.command("adopt-card")
@ConfigFile
def adopt_card(path: Path) -> None:
    """Let the card belong to this board: the old one is broken, or will never be switched on again."""
    from device.app import hardware_serial
    from device.identity import Identity

    settings, serial = _settings(path), hardware_serial()
    if serial is None:
        raise click.ClickException("this machine has no serial number, so its card belongs to any board")
    try:
        with handed_over(settings.state_dir, _OURS):
            Identity(settings.state_dir).adopt(serial)
    except OSError as error:
        raise click.ClickException(f"{settings.state_dir}: {error.strerror}") from error
    click.echo(
        f"the card of {settings.device} belongs to board {serial}; now: sudo systemctl restart table-timer"
    )


@main.group()
def config() -> None:
    """The settings of a table timer."""


@config.command()
@ConfigFile
def check(path: Path) -> None:
    """Print the settings in effect, or all that is wrong with the file."""
    from shared.settings_text import settings_text

    click.echo(settings_text(_settings(path)), nl=False)


def _settings(path: Path) -> TableTimerFile:
    try:
        return load_settings(path)
    except BadFile as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.option("--tables", "count", type=click.IntRange(1, 99), default=4, show_default=True)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="0: any free one."
)
@click.option("--hub", default="127.0.0.1:1883", show_default=True, metavar="HOST:PORT", help="The broker.")
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Where the journals are kept.")
@click.option(
    "--speed", type=click.FloatRange(0.01, 10_000), default=1.0, show_default=True, help="Of the race clocks."
)
@click.option("--autoplay", is_flag=True, help="A scripted judge presses the buttons.")
@click.option("--seed", type=int, default=1, show_default=True, help="What the scripted judge decides.")
@click.option("--language", type=click.Choice(["es", "en"]), default="es", show_default=True)
@click.option("--rulebook", default="torneo-puzzles-2026", show_default=True, help="A name or a file.")
@click.option("--category", "categories", multiple=True, help="To time without a plan; all if none is named.")
@click.option("--device-prefix", default="t", show_default=True, help="Devices are called t01, t02, …")
@click.option("--base", default=DEFAULT_BASE, show_default=True, help="Of the topics.")
@click.option("--hub-page", metavar="URL", help="The hub's page, to link to.")
@click.option(
    "--open", "open_to_all", is_flag=True, help="For everybody in the network, not only this machine."
)
@click.option("--until-eof", is_flag=True, help="Stop when stdin is closed.")
def simulate(
    count: int,
    port: int,
    hub: str,
    data: Path,
    speed: float,
    autoplay: bool,
    seed: int,
    language: str,
    rulebook: str,
    categories: tuple[str, ...],
    device_prefix: str,
    base: str,
    hub_page: str | None,
    open_to_all: bool,
    until_eof: bool,
) -> None:
    """Run virtual tables: the program of the real one, with buttons and display in the browser."""
    from device.simulator.run import Simulation
    from device.simulator.run import simulate as run_tables
    from device.simulator.server import CannotListen
    from device.simulator.supervisor import Tables

    tables = Tables(count, data.absolute(), hub, base, speed, language, rulebook, categories, device_prefix)
    _check(tables, hub_page)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if until_eof:
        threading.Thread(target=_wait_for_eof, args=(stop,), name="stdin", daemon=True).start()
    simulation = Simulation(tables, port, open_to_all, hub_page, autoplay, seed)
    try:
        data.mkdir(parents=True, exist_ok=True)
        whole = run_tables(simulation, stop, lambda taken: click.echo(f"ready http://127.0.0.1:{taken}/"))
    except (CannotListen, OSError) as error:
        raise click.ClickException(str(error)) from error
    if not whole:
        raise click.ClickException("a part of the virtual tables ended; see above")


def _check(tables: Any, hub_page: str | None) -> None:
    """Everything the tables would stumble over, told before they are started."""
    from shared.rulebook import BadRulebook, find_rulebook
    from shared.topics import Topics, is_device

    host, _, port = tables.hub.rpartition(":")
    if not host or not port.isdigit():
        raise click.ClickException(f"--hub {tables.hub}: write HOST:PORT, for example 127.0.0.1:1883")
    if not all(is_device(tables.device(n)) for n in range(1, tables.count + 1)):
        raise click.ClickException(
            f"--device-prefix {tables.device_prefix}: small letters, digits and - only"
        )
    if hub_page is not None and not hub_page.startswith(("http://", "https://")):
        raise click.ClickException(f"--hub-page {hub_page}: write an address that begins with http://")
    try:
        Topics(tables.base)
        known = find_rulebook(tables.rulebook).categories
    except (BadRulebook, ValueError) as error:
        raise click.ClickException(str(error)) from error
    wrong = [c for c in tables.categories if c not in known]
    if wrong:
        text = f"{', '.join(wrong)}: not in the rulebook, which has {', '.join(known)}"
        raise click.ClickException(text)


def _wait_for_eof(stop: threading.Event) -> None:
    while os.read(_STDIN, 4096):
        pass
    stop.set()


if __name__ == "__main__":
    main()
