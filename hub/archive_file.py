"""What is in the zip file of an archived tournament, and how it is read."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

RULEBOOK: Final = "rulebook.toml"
PLAN: Final = "plan.csv"
STANDINGS: Final = "standings.json"
LOGS: Final = "logs/"
_EVENTS: Final = (".jsonl", ".journal")


def is_archive(path: Path) -> bool:
    """Whether a file is a zip file; False where there is none."""
    return path.is_file() and zipfile.is_zipfile(path)


def member(path: Path, name: str) -> bytes | None:
    """One file of an archive; None where it has none of this name. Raises OSError, zipfile.BadZipFile."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(name) if name in archive.namelist() else None


def event_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The logs in an archive, by name. Raises OSError, zipfile.BadZipFile."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(_EVENTS):
                yield name, archive.read(name)
