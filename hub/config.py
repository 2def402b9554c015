"""The settings of the hub: `hub.toml`, all problems at once."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from shared.broker import Tls
from shared.checked_toml import FileProblem, Name, Switch, Table, load_toml
from shared.folder_owner import handed_over
from shared.rulebook import BadRulebook, Rulebook, find_rulebook
from shared.topics import DEFAULT_BASE, Topics

Port = Annotated[int, Field(ge=1, le=65535, strict=True)]


_OURS = ("hub.sqlite3*", "restoring.sqlite3*", "backups", "replaced-*")
"""All that hub and commands make in `data_dir`."""


def _base(value: str) -> str:
    Topics(value)  # says what is wrong with it
    return value


class WebTable(Table):
    """Where the pages are served; on this machine only unless `open`."""

    port: Port = 8000
    open: Switch = False


class BrokerTable(Table):
    """The broker the tables speak to; `embedded` is for a demo and listens on this machine only."""

    kind: Literal["external", "embedded"] = "external"
    host: Name = "127.0.0.1"
    port: Port = 1883
    base: Annotated[Name, AfterValidator(_base)] = DEFAULT_BASE
    username: Name | None = None
    password: Name | None = None
    ca: Path | None = None
    """Certificate of the authority of a broker on another machine; with it the connection is encrypted."""
    certified_name: Name | None = None
    """What the broker's certificate says, if it is not the host."""

    def tls(self) -> Tls | None:
        """How the connection is encrypted."""
        return None if self.ca is None else Tls(self.ca, certified_name=self.certified_name)


class HubFile(Table):
    """The whole file."""

    rulebook: Name
    data_dir: Path = Path("/var/lib/timer-hub")
    web: WebTable = WebTable()
    broker: BrokerTable = BrokerTable()

    @property
    def database(self) -> Path:
        """The hub's database."""
        return self.data_dir / "hub.sqlite3"

    def for_the_hub(self) -> AbstractContextManager[None]:
        """What a command typed with sudo makes in the folder stays writable for the hub, which has its own user."""
        return handed_over(self.data_dir, _OURS)


def load_settings(path: Path) -> tuple[HubFile, Rulebook]:
    """The settings in a file and the rulebook they name, or BadFile with every problem of both."""
    settings = load_toml(HubFile, path, "the hub's settings", _rulebook_problems)
    return settings, find_rulebook(settings.rulebook)


def _rulebook_problems(data: dict[str, Any]) -> list[FileProblem]:
    named = data.get("rulebook")
    if not isinstance(named, str) or not named:
        return []
    try:
        find_rulebook(named)
    except BadRulebook as error:
        return [FileProblem(None, f"rulebook {named}", str(p)) for p in error.problems]
    return []
