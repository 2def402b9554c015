"""The settings of one table timer: `table-timer.toml`, editable from any PC, all problems at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from device.debounce import Button
from shared.checked_toml import BadFile, FileProblem, Name, Table, load_toml
from shared.core.rules import CategoryRules
from shared.rulebook import BadRulebook, find_rulebook
from shared.topics import DEFAULT_BASE, Topics, is_device

Pin = Annotated[int, Field(ge=2, le=27, strict=True)]
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

    @model_validator(mode="after")
    def _pins_differ(self) -> Self:
        if len(set(self.numbers().values())) < len(Button):
            raise ValueError("two buttons share a pin; give each its own")
        return self

    def numbers(self) -> dict[Button, int]:
        """The pin of each button."""
        return {b: getattr(self, b.value) for b in Button}


class DisplayTable(Table):
    """The panel; `none` times without a display."""

    driver: Literal["ssd1306", "ssd1309", "sh1106", "none"] = "ssd1306"
    port: Annotated[int, Field(ge=0, le=20, strict=True)] = 1
    contrast: Annotated[int, Field(ge=0, le=255, strict=True)] = 0x60


class HubTable(Table):
    """Where the hub's broker is."""

    host: Name = "timer-hub.local"
    port: Port = 1883
    base: Annotated[Name, AfterValidator(_base)] = DEFAULT_BASE
    username: Name | None = None
    password: Name | None = None


class TableTimerFile(Table):
    """The whole file."""

    device: Annotated[str, AfterValidator(_device)]
    table: Annotated[int, Field(ge=1, le=999, strict=True)]
    language: Literal["es", "en"] = "es"
    state_dir: Path = Path("/var/lib/table-timer")
    allow_volatile: Annotated[bool, Field(strict=True)] = False
    """The journal may lie on a file system that forgets with the power; for trying out only."""
    rulebook: Name = "torneo-puzzles-2026"
    categories: tuple[str, ...] = ()
    buttons: ButtonsTable = ButtonsTable()
    display: DisplayTable = DisplayTable()
    hub: HubTable = HubTable()


def load_settings(path: Path) -> TableTimerFile:
    """The settings in a file, or BadFile with every problem of it."""
    settings = load_toml(TableTimerFile, path, "the table timer's settings")
    categories_of(settings, str(path))
    return settings


def categories_of(settings: TableTimerFile, name: str) -> tuple[CategoryRules, ...]:
    """The categories that can be timed without a plan: those named, else all of the rulebook. Raises BadFile."""
    try:
        known = find_rulebook(settings.rulebook).categories
    except BadRulebook as error:
        raise BadFile(name, [FileProblem(None, "rulebook", str(p)) for p in error.problems]) from error
    wrong = [c for c in settings.categories if c not in known]
    if wrong:
        text = f"{', '.join(wrong)}: not in the rulebook, which has {', '.join(known)}"
        raise BadFile(name, [FileProblem(None, "categories", text)])
    return tuple(known[c] for c in settings.categories or known)
