"""The static files, each under an address that changes with its content: browsers may keep it for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "static"
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as served."""

    file: str
    """`live.3f2a9c81.js`: the name with its content's hash."""
    content: bytes
    media_type: str


class Assets:
    """All files of a folder, read once."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._by_name: Mapping[str, Asset] = {
            path.name: _read(path) for path in sorted(folder.iterdir()) if path.suffix in MEDIA_TYPES
        }
        self._by_file = {asset.file: asset for asset in self._by_name.values()}
        self.version = hashlib.sha256(" ".join(self._by_file).encode()).hexdigest()[:12]
        """Changes when any file does: a page older than its hub loads itself anew."""

    def url(self, name: str) -> str:
        """Where a file is served; KeyError for one that does not exist."""
        return f"/static/{self._by_name[name].file}"

    def named(self, name: str) -> Asset:
        """A file by its plain name; KeyError for one that does not exist."""
        return self._by_name[name]

    def served_as(self, file: str) -> Asset | None:
        """A file by its name in addresses."""
        return self._by_file.get(file)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Asset(f"{path.stem}.{digest}{path.suffix}", content, MEDIA_TYPES[path.suffix])
