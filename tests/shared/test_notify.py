"""What systemd hears of a table: ready once, then a sign of life from the main loop, and silence when it stands."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.notify import EVERY_S, Notify
from tests.waiting import GENEROUS_S

#: Far longer than between two signs of life, far shorter than the 10 s a unit waits for one.
SILENCE_S = 4 * EVERY_S


@contextmanager
def heard(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(address)
        listening.settimeout(GENEROUS_S)
        yield listening


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with heard(str(tmp_path / "notify")) as listening:
        yield listening


def said(systemd: socket.socket) -> str:
    return systemd.recv(1000).decode()


def until(systemd: socket.socket, wanted: str) -> None:
    while said(systemd) != wanted:
        pass


def silent_at_last(systemd: socket.socket) -> bool:
    """Whether nothing is heard for a while, after what was on its way."""
    systemd.settimeout(SILENCE_S)
    try:
        for _ in range(5):
            said(systemd)
    except TimeoutError:
        return True
    finally:
        systemd.settimeout(GENEROUS_S)
    return False


@contextmanager
def table(folder: Path, display: str = 'driver = "none"') -> Iterator[subprocess.Popen[bytes]]:
    """A table whose broker and hub are not there."""
    config = folder / "table-timer.toml"
    config.write_text(
        f'device = "t07"\ntable = 7\nstate_dir = "{folder}/state"\nallow_volatile = true\n'
        f'[buttons]\npins = "mock"\n[display]\n{display}\n[hub]\nhost = "127.0.0.1"\nport = 1\n'
    )
    environment = os.environ | {"NOTIFY_SOCKET": str(folder / "notify")}
    command = [sys.executable, "-m", "device.cli", "run", "--config", str(config)]
    with subprocess.Popen(command, env=environment) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


@pytest.mark.parametrize("display", ['driver = "none"', 'driver = "ssd1306"\nport = 19'])
def test_a_table_without_display_broker_and_hub_is_ready_and_stays_alive(
    tmp_path: Path, systemd: socket.socket, display: str
) -> None:
    """E10: only what a table cannot do without may stop the feeding."""
    with table(tmp_path, display) as process:
        assert said(systemd) == "READY=1\nSTATUS=table 7: no run"
        for _ in range(3):
            assert said(systemd) == "WATCHDOG=1"
        process.terminate()
        until(systemd, "STOPPING=1")
        assert process.wait(GENEROUS_S) == 0


def test_a_table_that_stands_still_is_silent_until_it_goes_on(tmp_path: Path, systemd: socket.socket) -> None:
    """E10: SIGSTOP of the main loop; the watchdog restarts what it no longer hears."""
    with table(tmp_path) as process:
        until(systemd, "WATCHDOG=1")
        process.send_signal(signal.SIGSTOP)
        assert silent_at_last(systemd)
        process.send_signal(signal.SIGCONT)
        assert said(systemd) == "WATCHDOG=1"


def test_signs_of_life_come_at_most_once_a_second(systemd: socket.socket, tmp_path: Path) -> None:
    notify = Notify({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    for pass_ in range(100):
        notify.alive(1000.0 + pass_ * EVERY_S / 20)
    notify.status("done")
    notify.status("done")
    assert [said(systemd) for _ in range(6)] == ["WATCHDOG=1"] * 5 + ["STATUS=done"]


def test_a_name_in_the_abstract_space_is_understood() -> None:
    with heard(f"\0table-timer-{os.getpid()}") as listening:
        Notify({"NOTIFY_SOCKET": f"@table-timer-{os.getpid()}"}).ready()
        assert said(listening) == "READY=1"


@pytest.mark.parametrize("address", ["", "/nowhere/at/all", "@nobody-listens-here"])
def test_nobody_listening_disturbs_nothing(address: str) -> None:
    Notify({"NOTIFY_SOCKET": address}).alive(1.0)
    Notify({}).ready("as usual")
