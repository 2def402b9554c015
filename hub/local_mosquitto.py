"""A mosquitto of our own on this machine, for a demo without the embedded broker: no files, nobody but us."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Final

from hub.embedded_broker import BrokerError

_CONFIG: Final = """\
listener {port} 127.0.0.1
allow_anonymous true
persistence false
set_tcp_nodelay true
max_inflight_messages 1000
max_queued_messages 0
"""
_STARTS_S: Final = 5.0


class LocalMosquitto:
    """A child process that serves MQTT 5 and 3.1.1 on 127.0.0.1."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether the child process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it and wait until it listens. Raises BrokerError."""
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        if program is None:
            raise BrokerError("mosquitto is not installed; install it with: sudo apt install mosquitto")
        self._folder = tempfile.TemporaryDirectory(prefix="timer-hub-mosquitto-")
        config = Path(self._folder.name) / "mosquitto.conf"
        config.write_text(_CONFIG.format(port=self.port))
        self._process = subprocess.Popen(
            [program, "-c", str(config), "-v"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        listening = threading.Event()
        said: list[str] = []
        reading = threading.Thread(target=self._read, args=(listening, said), daemon=True)
        reading.start()
        if not listening.wait(_STARTS_S) or self._process.poll() is not None:
            self.stop()
            raise BrokerError(f"mosquitto does not start: {said[-1] if said else 'it says nothing'}")

    def stop(self) -> None:
        """End it; may be called twice."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _read(self, listening: threading.Event, said: list[str]) -> None:
        process = self._process
        if process is None or process.stderr is None:
            return
        with process.stderr as log:
            for raw in log:  # read to its end: a full pipe would stop the broker
                line = raw.decode(errors="replace").strip()
                said[:] = [line]
                if "running" in line:
                    listening.set()
        listening.set()
