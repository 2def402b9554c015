"""What a newcomer does first: the demo starts, answers, says what is wrong in one line, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.brokers import free_port
from tests.waiting import wait_until

COMMAND = [sys.executable, "-P", "-m", "hub.cli", "demo"]


def two_free_ports() -> int:
    """A port that is free, and the next one too."""
    while True:
        port = free_port()
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
        return port


@contextmanager
def demo(folder: Path, *options: str, command: list[str] | None = None) -> Iterator[int]:
    """A running demo; gives its port. It must end at SIGINT with exit code 0 and leave no process behind."""
    port = two_free_ports()
    line = [*(command or COMMAND), "--port", str(port), *options]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(4)]
        assert f"http://127.0.0.1:{port}/" in said[0], said
        assert said[3].startswith("Ctrl-C"), said
        started = descendants(process.pid)
        assert started, "broker and tables are processes of their own"
        yield port
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 0
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def descendants(pid: int) -> set[int]:
    """All processes that a process has started, and those they started."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.parametrize("broker", ["embedded", "mosquitto"])
def test_the_demo_shows_a_dozen_entrants_at_its_tables_and_ends_at_ctrl_c(
    tmp_path: Path, broker: str
) -> None:
    with demo(tmp_path, "--tables", "2", "--broker", broker) as port:
        assert "Torneo" in get(port, "/")
        wait_until(lambda: "Lucía Á." in get(port + 1, "/tables/1/screen.txt"))
        assert f"http://127.0.0.1:{port + 1}/tables/1" in get(port, "/tables")
        assert {t["online"] for t in json.loads(get(port, "/api/v1/tables"))["tables"]} <= {True, False}
    assert list(tmp_path.iterdir()) == [], "nothing is left where one stood"


def test_a_scripted_judge_plays_a_whole_heat_with_the_right_results(tmp_path: Path) -> None:
    with demo(
        tmp_path, "--tables", "2", "--autoplay", "--speed", "600", "--data", str(tmp_path / "d")
    ) as port:

        def first_heat_is_judged() -> bool:
            standings = json.loads(get(port, "/api/v1/standings"))["categories"]
            lines = [x for c in standings for x in c["standings"]]
            done = [x for x in lines if x["rank"] is not None and not x["marks"]]
            return {"demo-001", "demo-002"} <= {x["entrant"] for x in done}

        wait_until(first_heat_is_judged, 90)
    assert (tmp_path / "d" / "hub.sqlite3").exists()


def test_a_kept_demo_goes_on_with_its_standings(tmp_path: Path) -> None:
    kept = ("--tables", "1", "--data", str(tmp_path / "d"))
    with demo(tmp_path, *kept) as port:
        wait_until(lambda: "Lucía" in get(port + 1, "/tables/1/screen.txt"))
        request = urllib.request.Request(f"http://127.0.0.1:{port + 1}/tables/1/buttons/start", b"{}")

        def started() -> bool:
            """Pressed again while the display says that it was too soon."""
            urllib.request.urlopen(request, timeout=10).close()
            return "demo-001" in get(port, "/api/v1/standings")

        wait_until(started)
    with demo(tmp_path, *kept) as port:
        assert "demo-001" in get(port, "/api/v1/standings")


@pytest.mark.parametrize("offset", [0, 1])
def test_a_taken_port_is_one_clear_line(tmp_path: Path, offset: int) -> None:
    port = two_free_ports()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port + offset))
        taken.listen()
        ended = subprocess.run(
            [*COMMAND, "--port", str(port)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert f"port {port + offset} is taken" in ended.stderr


def test_a_second_demo_on_the_same_data_is_refused(tmp_path: Path) -> None:
    kept = ["--tables", "1", "--data", str(tmp_path / "d")]
    with demo(tmp_path, *kept):
        line = [*COMMAND, "--port", str(two_free_ports()), *kept]
        second = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (second.returncode, "another hub runs on" in second.stderr) == (1, True)


def test_a_broker_that_ends_is_started_again_and_the_tables_come_back(tmp_path: Path) -> None:
    with demo(tmp_path, "--tables", "1", "--broker", "mosquitto") as port:
        wait_until(lambda: json.loads(get(port, "/healthz"))["connected"])
        os.kill(broker_of(port), signal.SIGKILL)
        wait_until(lambda: _health(port).get("connected") is False)
        assert json.loads(get(port, "/api/v1/tables"))["tables"][0]["online"] is False
        wait_until(lambda: _health(port).get("connected"))
        wait_until(lambda: "sin red" not in get(port + 1, "/tables/1/screen.txt"))


def broker_of(port: int) -> int:
    """The process id of the mosquitto that the demo at this port started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                starter = Path(f"/proc/{parent}/cmdline").read_bytes().decode(errors="replace").split("\0")
                if "timer-hub-mosquitto-" in command and str(port) in starter:
                    return int(entry.name)
    raise AssertionError(f"no broker of the demo at {port}")


def _health(port: int) -> dict[str, object]:
    try:
        found: dict[str, object] = json.loads(get(port, "/healthz"))
    except urllib.error.HTTPError as error:  # 503: it says why
        found = json.loads(error.read())
    return found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--broker", "nonsense"], "write embedded, mosquitto, or HOST:PORT"),
        (["--tables", "0"], "0 is not in the range"),
        (["--speed", "fast"], "not a valid float"),
        (["--speed", "nan"], "must be a number"),
        (["--data", "/proc/x"], "No such file or directory"),
        (["--broker", "127.0.0.1:99999"], "write embedded, mosquitto, or HOST:PORT"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(tmp_path: Path, options: list[str], said: str) -> None:
    line = [*COMMAND, "--port", str(two_free_ports()), *options]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode != 0
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
