"""A process that is kept running as systemd would, and can be killed, ended and held down."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from shared.clock import monotonic

RESTART_S: Final = 1.0


class Service:
    """One command; what it says on standard error is kept in a file."""

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.said = folder / f"{name}.log"
        self.falls: list[int] = []
        """Exit codes with which it ended although nobody had ended it."""
        self._command = list(command)
        self._folder = folder
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._again_at_s: float | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def start(self) -> None:
        """Start it, once what ran before has ended."""
        if self._process is not None:
            self._process.wait()
        with self.said.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._again_at_s = None

    def kill(self) -> None:
        """SIGKILL, and stay down."""
        process, self._process, self._again_at_s = self._process, None, None
        if process is not None:
            process.kill()
            process.wait()

    def end(self, timeout_s: float = 20.0) -> bool:
        """SIGTERM, and stay down; False when it had to be killed."""
        process, self._process, self._again_at_s = self._process, None, None
        if process is None:
            return True
        process.terminate()
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False
        return True

    def tend(self) -> None:
        """Start it again if it has ended by itself."""
        if self._process is None or self._process.poll() is None:
            return
        if self._again_at_s is None:
            self.falls.append(self._process.returncode)
            self._again_at_s = monotonic() + RESTART_S
        elif monotonic() >= self._again_at_s:
            self.start()
