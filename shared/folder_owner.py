"""Files that root has made in a folder of another user are given to that user, who could not write them else.

Whoever types a command with sudo makes such files beside a service that runs as a user of its own.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


@contextlib.contextmanager
def handed_over(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Before and after what is done inside, however that ends."""
    names = tuple(names)
    hand_over(folder, names)
    try:
        yield
    finally:
        hand_over(folder, names)


def hand_over(folder: Path, names: Iterable[str]) -> None:
    """Give what root owns in a folder, of these names and all beneath them, to the folder's owner.

    Nothing is done by anybody but root; what cannot be given stays as it is.
    """
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        owner = folder.stat()
        if owner.st_uid == 0:
            return
        for name in names:
            for path in folder.glob(name):
                _give(path.name, folder, owner)


def _give(name: str, folder: Path, owner: os.stat_result) -> None:
    """Through descriptors of the folders: whoever owns them could else lead root to other places meanwhile."""
    with contextlib.suppress(OSError):
        above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _give_in(above, name, owner)
            if stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
                for _, folders, files, fd in os.fwalk(name, dir_fd=above, follow_symlinks=False):
                    for each in (*folders, *files):
                        _give_in(fd, each, owner)
        finally:
            os.close(above)


def _give_in(fd: int, name: str, owner: os.stat_result) -> None:
    with contextlib.suppress(OSError):
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        linked = found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode)  # it may lie elsewhere, too
        if found.st_uid == 0 and not linked:
            os.chown(name, owner.st_uid, owner.st_gid, dir_fd=fd, follow_symlinks=False)
