"""The settings of the hub: `hub.toml`, all problems at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from shared.checked_toml import BadFile, FileProblem, Name, Table, load_toml
from shared.rulebook import BadRulebook, Rulebook, find_rulebook
from shared.topics import DEFAULT_BASE

Port = Annotated[int, Field(ge=1, le=65535, strict=True)]


class WebTable(Table):
    """Where the pages are served; on this machine only unless `open`."""

    port: Port = 8000
    open: bool = False


class BrokerTable(Table):
    """The broker the tables speak to; `embedded` is for a demo and listens on this machine only."""

    kind: Literal["external", "embedded"] = "external"
    host: Name = "127.0.0.1"
    port: Port = 1883
    base: Name = DEFAULT_BASE
    username: Name | None = None
    password: Name | None = None


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


def load_settings(path: Path) -> tuple[HubFile, Rulebook]:
    """The settings in a file and the rulebook they name, or BadFile with every problem of both."""
    settings = load_toml(HubFile, path, "the hub's settings")
    try:
        return settings, find_rulebook(settings.rulebook)
    except BadRulebook as error:
        problems = [FileProblem(p.line, f"rulebook {settings.rulebook}", str(p)) for p in error.problems]
        raise BadFile(str(path), problems) from error
