"""Real brokers for tests: mosquitto on a port of its own, stoppable, killable and startable again."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.waiting import wait_until

MOSQUITTO: Final = "/usr/sbin/mosquitto"


def free_port() -> int:
    """A port of 127.0.0.1 nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether something takes connections on this port of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Mosquitto:
    """A mosquitto process without persistence: a restart forgets everything, like a power cut."""

    def __init__(self, folder: Path, more: Sequence[str] = ("allow_anonymous true",)) -> None:
        self.port = free_port()
        self._config = folder / f"mosquitto-{self.port}.conf"
        lines = [
            f"listener {self.port} 127.0.0.1",
            "user root",
            "persistence false",
            "set_tcp_nodelay true",
            "max_queued_messages 0",
            *more,
        ]
        self._config.write_text("\n".join(lines) + "\n")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it takes connections."""
        self._process = process = subprocess.Popen(
            [MOSQUITTO, "-c", str(self._config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: answers(self.port) or process.poll() is not None)
        assert process.poll() is None, f"mosquitto ended with {process.returncode}"

    def kill(self) -> None:
        """SIGKILL: no goodbye to anybody."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End the process if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()


@contextlib.contextmanager
def mosquitto(folder: Path, more: Sequence[str] = ("allow_anonymous true",)) -> Iterator[Mosquitto]:
    """A running mosquitto for the length of a `with` block."""
    broker = Mosquitto(folder, more)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()
