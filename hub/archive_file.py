"""What is in the zip file of an archived tournament, and how it is read."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
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


class BadArchive(ValueError):
    """A zip file that cannot be read; says which and why."""


def member(path: Path, name: str) -> bytes | None:
    """One file of an archive; None where it has none of this name. Raises BadArchive."""
    with _opened(path) as archive:
        return archive.read(name) if name in archive.namelist() else None


def event_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The logs in an archive, by name. Raises BadArchive."""
    with _opened(path) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(_EVENTS):
                yield name, archive.read(name)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise BadArchive(f"{path} cannot be read ({error.strerror})") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # the last two: packed in a way Python does not know, or with a password
        raise BadArchive(f"{path} is a damaged or foreign zip file ({error})") from error
