"""The settings of one table timer: `table-timer.toml`, editable from any PC, all problems at once."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from device.debounce import Button
from device.from_hub import LinkSettings
from device.rest import RestAfter
from shared.broker import Tls
from shared.checked_toml import BadFile, FileProblem, Name, Table, load_toml
from shared.core.rules import CategoryRules
from shared.rulebook import BadRulebook, find_rulebook
from shared.topics import DEFAULT_BASE, Topics, is_device


def _pin(number: int) -> int:
    if number in (2, 3):
        raise ValueError("pins 2 and 3 belong to the display; write another, for example 17")
    return number


Pin = Annotated[int, Field(ge=2, le=27, strict=True), AfterValidator(_pin)]
DEFAULT_RULEBOOK: Final = "torneo-puzzles-2026"
Minutes = Annotated[int, Field(ge=0, le=1440, strict=True)]
"""Of a table without a run and without a press; 0 means never."""
Port = Annotated[int, Field(ge=1, le=65535, strict=True)]


def _base(base: str) -> str:
    return Topics(base).base


def _device(name: str) -> str:
    if not is_device(name):
        raise ValueError("write 1 to 32 small letters, digits and -, and not all, hub or standings")
    return name


class ButtonsTable(Table):
    """BCM numbers of the pins that the buttons pull to ground, and the library that reads them."""

    pins: Literal["lgpio", "mock"] = "lgpio"
    start: Pin = 17
    pause: Pin = 27
    assist: Pin = 22
    finish: Pin = 23

    def numbers(self) -> dict[Button, int]:
        """The pin of each button."""
        return {b: getattr(self, b.value) for b in Button}


class DisplayTable(Table):
    """The panel; `none` times without a display."""

    driver: Literal["ssd1306", "ssd1309", "sh1106", "none"] = "ssd1306"
    port: Annotated[int, Field(ge=0, le=20, strict=True)] = 1
    contrast: Annotated[int, Field(ge=0, le=255, strict=True)] = 0x60
    dim_after_min: Minutes = 10
    dark_after_min: Minutes = 120

    def rest(self) -> RestAfter:
        """When the display rests."""
        return RestAfter(*(60.0 * m or None for m in (self.dim_after_min, self.dark_after_min)))


class SignalsTable(Table):
    """A buzzer and a light for who does not look at the display; neither is needed."""

    buzzer: Annotated[bool, Field(strict=True)] = False
    led: Annotated[bool, Field(strict=True)] = False
    buzzer_pin: Pin = 24
    led_pin: Pin = 25

    def pins(self) -> dict[str, int]:
        """The pins of what is fitted."""
        return {part: getattr(self, f"{part}_pin") for part in ("buzzer", "led") if getattr(self, part)}


class HubTable(Table):
    """Where the hub's broker is."""

    host: Name = "timer-hub.local"
    port: Port = 1883
    base: Annotated[Name, AfterValidator(_base)] = DEFAULT_BASE
    username: Name | None = None
    password: Name | None = None
    ca: Path | None = None
    """Certificate of the authority that the broker's own comes from; with it the connection is encrypted.

    In the file, a path from the folder the file lies in.
    """
    certified_name: Name | None = None
    """What the broker's certificate says, if it is not the host."""

    def tls(self) -> Tls | None:
        """How the connection is encrypted."""
        return None if self.ca is None else Tls(self.ca, certified_name=self.certified_name)


class TableTimerFile(Table):
    """The whole file."""

    device: Annotated[str, AfterValidator(_device)]
    table: Annotated[int, Field(ge=1, le=999, strict=True)]
    language: Literal["es", "en"] = "es"
    state_dir: Path = Path("/var/lib/table-timer")
    allow_volatile: Annotated[bool, Field(strict=True)] = False
    """The journal may lie on a file system that forgets with the power; for trying out only."""
    rulebook: Name = DEFAULT_RULEBOOK
    categories: tuple[str, ...] = ()
    buttons: ButtonsTable = ButtonsTable()
    display: DisplayTable = DisplayTable()
    signals: SignalsTable = SignalsTable()
    hub: HubTable = HubTable()


def link_of(settings: TableTimerFile) -> LinkSettings:
    """Where the broker is and who this table is."""
    hub = settings.hub
    return LinkSettings(
        hub.host,
        hub.port,
        settings.device,
        hub.base,
        username=hub.username,
        password=hub.password,
        tls=hub.tls(),
    )


def reachable(path: Path) -> TableTimerFile | None:
    """What of a file with problems still names the table and its hub; None if that is where the problems are."""
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
        kept = {key: data[key] for key in ("device", "table", "hub", "state_dir") if key in data}
        settings = TableTimerFile.model_validate({"table": 1} | kept)
    except (OSError, ValueError):  # also no TOML, no UTF-8, and what the model does not take
        return None
    return _with_authority(settings, path)


def _with_authority(settings: TableTimerFile, path: Path) -> TableTimerFile:
    """The authority's file lies beside the settings."""
    ca = settings.hub.ca
    if ca is None:
        return settings
    hub = settings.hub.model_copy(update={"ca": path.resolve().parent / ca})
    return settings.model_copy(update={"hub": hub})


def load_settings(path: Path) -> TableTimerFile:
    """The settings in a file, or BadFile with every problem of it."""
    settings = load_toml(TableTimerFile, path, "the table timer's settings", _further_problems)
    settings = _with_authority(settings, path)
    ca = settings.hub.ca
    if ca is not None and not ca.is_file():
        raise BadFile(str(path), [FileProblem(None, "hub.ca", f"{ca} is not there; copy it there")])
    return settings


def _further_problems(data: dict[str, Any]) -> list[FileProblem]:
    """What one value alone does not tell; the file may hold any nonsense."""
    buttons = data.get("buttons", {})
    pins = ButtonsTable().numbers() | (buttons if isinstance(buttons, dict) else {})
    numbers = [n for b, n in pins.items() if b in set(Button) and isinstance(n, int)]
    problems = []
    if len(set(numbers)) < len(numbers):
        problems.append(FileProblem(None, "buttons", "two buttons share a pin; give each its own"))
    signals = data.get("signals", {})
    outputs = _outputs(signals) if isinstance(signals, dict) else []
    if len({*numbers, *outputs}) < len({*numbers}) + len(outputs):
        problems.append(FileProblem(None, "signals", "buzzer or led share a pin; give each its own"))
    rulebook, categories = data.get("rulebook", DEFAULT_RULEBOOK), data.get("categories", [])
    if isinstance(rulebook, str) and rulebook and isinstance(categories, list):
        named = tuple(c for c in categories if isinstance(c, str))
        problems += _categories(rulebook, named)[1]
    return problems


def _outputs(signals: dict[str, Any]) -> list[int]:
    """The pins of what is fitted, as far as the file tells them."""
    pins = {"buzzer": SignalsTable().buzzer_pin, "led": SignalsTable().led_pin}
    fitted = [signals.get(f"{part}_pin", pin) for part, pin in pins.items() if signals.get(part) is True]
    return [pin for pin in fitted if isinstance(pin, int)]


def _categories(rulebook: str, named: tuple[str, ...]) -> tuple[tuple[CategoryRules, ...], list[FileProblem]]:
    try:
        known = find_rulebook(rulebook).categories
    except BadRulebook as error:
        return (), [FileProblem(None, "rulebook", str(p)) for p in error.problems]
    wrong = [c for c in named if c not in known]
    text = f"{', '.join(wrong)}: not in the rulebook, which has {', '.join(known)}"
    problems = [FileProblem(None, "categories", text)] if wrong else []
    return tuple(known[c] for c in named or known if c in known), problems


def categories_of(settings: TableTimerFile, name: str) -> tuple[CategoryRules, ...]:
    """The categories that can be timed without a plan: those named, else all of the rulebook. Raises BadFile."""
    categories, problems = _categories(settings.rulebook, settings.categories)
    if problems:
        raise BadFile(name, problems)
    return categories
