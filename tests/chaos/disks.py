"""Disks small enough to be filled: file systems in memory that only this run's processes can see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

_STEPS: Final = (1 << 20, 1 << 16, 1 << 12, 1)
_INSIDE: Final = "CHAOS_OWN_MOUNTS"


def enter_own_mounts(module: str, arguments: list[str]) -> bool:  # noqa: RET503 - exec does not return
    """Run this program again where it may mount: there True; False, and nothing changed, where it may not.

    As root in a mount namespace, else in a user namespace too. The mounts go with the last process.
    """
    if os.environ.get(_INSIDE):
        return True
    if not may_mount():
        return False
    os.environ[_INSIDE] = "1"
    space = own_mounts()
    os.execvp(space[0], [*space, sys.executable, "-m", module, *arguments])


def own_mounts() -> list[str]:
    """What begins a command that may mount file systems for itself: as root, and for anybody else."""
    return ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]


def may_mount() -> bool:
    """Whether that works on this machine."""
    try:
        command = [*own_mounts(), "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class SmallDisk:
    """A folder of its own file system, which can be filled to the last byte."""

    def __init__(self, folder: Path, size_mb: int, *, own: bool) -> None:
        """`own`: mount one; else the folder is an ordinary one that is never filled."""
        folder.mkdir(parents=True)
        self._ballast = folder / "ballast"
        self._full = False
        if own:
            size = f"size={size_mb}m"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True)

    def fill(self) -> None:
        """Leave nothing free."""
        self._full = True
        self.tend()

    def free(self) -> None:
        """Give it all back."""
        self._full = False
        self._ballast.unlink(missing_ok=True)

    def tend(self) -> None:
        """Take what was given up meanwhile: a full disk stays full."""
        if not self._full:
            return
        with self._ballast.open("ab") as file:
            for step in _STEPS:
                while _grown(file.fileno(), step):
                    pass


def _grown(fd: int, by: int) -> bool:
    try:
        os.posix_fallocate(fd, os.fstat(fd).st_size, by)
    except OSError:
        return False
    return by > 1  # a last byte is in the last page or nowhere
