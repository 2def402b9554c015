"""The command `table-timer` as people and units start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from device.cannot_start import EXIT_NO_BUTTONS, EXIT_NOT_SAVED
from device.cli import main
from device.config import TableTimerFile
from device.journal import Journal
from device.simulator.server import listen
from hub.cli import main as timer_hub
from shared.settings_text import settings_text
from tests.device.virtual import NO_HUB
from tests.waiting import GENEROUS_S, wait_until

COMMAND = [sys.executable, "-m", "device.cli"]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "table-timer.toml"
    path.write_text(
        f'device = "t07"\ntable = 7\nstate_dir = "{tmp_path}/state"\nallow_volatile = true\n'
        '[buttons]\npins = "mock"\n[display]\ndriver = "none"\n[hub]\nhost = "127.0.0.1"\nport = 1\n'
    )
    return path


def test_the_version_is_that_of_the_package() -> None:
    assert call("--version").output == f"table-timer, version {version('puzzle-table-timer')}\n"


def test_the_settings_in_effect_are_printed_as_a_file_that_says_the_same(config: Path) -> None:
    result = call("config", "check", "--config", str(config))
    assert result.exit_code == 0
    told = tomllib.loads(result.output)
    written = tomllib.loads(config.read_text())
    assert (told["language"], told["hub"]["base"]) == ("es", "puzzle/1")
    assert TableTimerFile.model_validate(told) == TableTimerFile.model_validate(written)


def test_a_password_is_not_shown() -> None:
    settings = TableTimerFile.model_validate(
        {"device": "t01", "table": 1, "hub": {"username": "t01", "password": "geheim"}}
    )
    text = settings_text(settings)
    assert "geheim" not in text
    assert "# password is set, and not shown" in text
    assert 'username = "t01"' in text


def test_all_problems_of_the_settings_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('device = "all"\ntabel = 3\n[hub]\nbase = "a/#"\nport = 0\n')
    result = call("config", "check", "--config", str(path))
    assert result.exit_code == 1
    for part in ("line 1: device:", "table: is missing", "tabel: is no key", "hub.base:", "hub.port:"):
        assert part in result.output


def test_a_category_the_rulebook_has_not_is_told(config: Path) -> None:
    config.write_text('categories = ["adulto", "gigante"]\n' + config.read_text())
    result = call("config", "check", "--config", str(config))
    assert result.exit_code == 1
    assert "gigante: not in the rulebook" in result.output


@pytest.mark.parametrize("command", [("run",), ("config", "check")])
def test_settings_that_are_not_there_are_told_in_one_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    result = call(*command, "--config", str(tmp_path / "none.toml"))
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert "cannot be read" in result.output


def test_without_real_pins_the_table_says_why_it_does_not_start(config: Path) -> None:
    """B05, B08: one sentence and a code of its own, never another library."""
    config.write_text(config.read_text().replace("mock", "lgpio"))
    result = call("run", "--config", str(config))
    assert result.exit_code == EXIT_NO_BUTTONS
    assert result.output.count("\n") == 1
    assert "lgpio" in result.output or "GPIO" in result.output


def test_a_journal_another_process_writes_is_told_in_one_line(config: Path, tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "state", "t07", lambda: "t07-other")
    result = call("run", "--config", str(config))
    journal.close()
    assert result.exit_code == 1
    assert "another process writes the journal" in result.output


def test_a_folder_that_cannot_be_made_is_told_in_one_line(config: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    result = call("run", "--config", str(config))
    assert result.exit_code == EXIT_NOT_SAVED
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_table_runs_until_it_is_told_to_stop(config: Path, tmp_path: Path, end: signal.Signals) -> None:
    with subprocess.Popen([*COMMAND, "run", "--config", str(config)]) as table:
        wait_until(lambda: list((tmp_path / "state").glob("*.journal")))
        wait_until(lambda: _catches_sigterm(table.pid))
        table.send_signal(end)
        assert table.wait(GENEROUS_S) == 0


def _catches_sigterm(pid: int) -> bool:
    """Whether the process has set its handlers: Python itself sets none for SIGTERM."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
    return bool(caught & 1 << (signal.SIGTERM - 1))


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--hub=nowhere", "write HOST:PORT"),
        ("--category=gigante", "gigante: not in the rulebook"),
        ("--rulebook=none.toml", "cannot be read"),
        ("--device-prefix=T_", "small letters"),
        ("--base=a/#", "topic base"),
        ("--hub-page=javascript:alert(1)", "begins with http://"),
    ],
)
def test_what_virtual_tables_cannot_work_with_is_told_before_they_start(
    tmp_path: Path, option: str, sentence: str
) -> None:
    result = call("simulate", "--port=0", f"--data={tmp_path / 'data'}", option)
    assert result.exit_code == 1
    assert sentence in result.output
    assert not (tmp_path / "data").exists()


def test_a_taken_port_is_told_in_one_line_and_nothing_is_started(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        result = call("simulate", f"--port={port}", f"--data={tmp_path}")
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert f"port {port} is taken" in result.output
    assert not list(tmp_path.glob("t0*"))


def test_virtual_tables_end_with_the_stdin_of_whoever_started_them(tmp_path: Path) -> None:
    command = [*COMMAND, "simulate", "--tables=1", "--port=0", f"--data={tmp_path}", f"--hub={NO_HUB}"]
    with subprocess.Popen(
        [*command, "--until-eof", "--autoplay", "--speed=60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as simulation:
        assert simulation.stdout is not None
        assert simulation.stdin is not None
        assert simulation.stdout.readline().startswith(b"ready http://127.0.0.1:")
        simulation.stdin.close()
        assert simulation.wait(GENEROUS_S) == 0


def test_virtual_tables_start_wherever_one_stands(tmp_path: Path) -> None:
    """A folder called `device` in the working directory is not ours."""
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / "__init__.py").write_text("raise SystemExit(9)\n")
    command = [sys.executable, "-P", "-m", "device.cli", "simulate", "--tables=1", "--port=0", "--data=data"]
    with subprocess.Popen(
        [*command, f"--hub={NO_HUB}"], stdout=subprocess.PIPE, cwd=tmp_path, env=dict(os.environ)
    ) as simulation:
        assert simulation.stdout is not None
        assert simulation.stdout.readline().startswith(b"ready")
        simulation.send_signal(signal.SIGTERM)
        assert simulation.wait(GENEROUS_S) == 0
    assert (tmp_path / "data" / "t01").is_dir()


@pytest.mark.parametrize("program", [main, timer_hub], ids=["table-timer", "timer-hub"])
def test_without_a_name_the_settings_are_those_of_the_installed_program(program: click.Group) -> None:
    for command in program.commands.values():
        for option in command.params:
            if option.name == "path":
                default = option.get_default(click.Context(command))
                assert default in (Path("/etc/table-timer/table-timer.toml"), Path("/etc/timer-hub/hub.toml"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files that another user cannot read")
def test_settings_that_only_root_can_read_are_told_in_a_sentence_not_by_the_parser_of_commands() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        path = Path(folder) / "table-timer.toml"
        path.write_text("")
        path.chmod(0o600)
        for module, words in (("device.cli", ["run"]), ("hub.cli", ["run"]), ("hub.cli", ["backup"])):
            nobody = ["setpriv", "--reuid=65501", "--regid=65501", "--clear-groups"]
            command = [*nobody, sys.executable, "-P", "-m", module, *words, "--config", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert (done.returncode, done.stderr) == (
                1,
                f"Error: {path}: cannot be read (Permission denied)\n",
            )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for others")
def test_what_root_makes_in_the_folder_of_the_service_is_the_services(config: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "photo").write_text("not ours")
    os.chown(state, 65501, 65502)
    command = [*COMMAND, "run", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as table:
        wait_until(lambda: any(state.glob("*.journal")) and _catches_sigterm(table.pid))
        table.send_signal(signal.SIGTERM)
        assert table.wait(GENEROUS_S) == 0
    owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in state.iterdir()}
    assert owners.pop("photo") == (0, 0)
    assert set(owners.values()) == {(65501, 65502)}, owners
