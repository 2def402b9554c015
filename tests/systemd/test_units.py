"""What is installed on a machine: units, templates and the installer itself."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from device.config import load_settings as load_table_timer
from hub.config import load_settings as load_hub
from shared.checked_toml import BadFile

SYSTEMD = Path(__file__).parent.parent.parent / "systemd"
UNITS = sorted(SYSTEMD.glob("*/*.service"))
MOST_EXPOSED = 2.0

analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there: apt install systemd"
)
every_unit = pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])


def read(unit: Path) -> configparser.ConfigParser:
    """A unit; of keys that stand several times the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit.read_text())
    return parser


def installed(unit: Path, folder: Path) -> Path:
    """The unit with a program that is there on any machine."""
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.M)
    copy = folder / unit.name
    copy.write_text(text)
    return copy


def said(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_there_are_units_for_table_hub_and_broker() -> None:
    assert [unit.name for unit in UNITS] == [
        "table-timer.service",
        "timer-hub-broker.service",
        "timer-hub.service",
    ]


@analyze
@every_unit
def test_systemd_finds_nothing_to_say_about_a_unit(unit: Path, tmp_path: Path) -> None:
    """Its exit code alone tells nothing: an unknown key is only printed."""
    assert said("systemd-analyze", "verify", installed(unit, tmp_path)) == ""


@analyze
@every_unit
def test_a_unit_is_hardly_exposed(unit: Path, tmp_path: Path) -> None:
    told = said("systemd-analyze", "security", "--offline=true", "--no-pager", installed(unit, tmp_path))
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", told)
    assert level is not None, told
    assert float(level[1]) <= MOST_EXPOSED


@every_unit
def test_a_unit_is_started_again_for_ever_and_waits_for_nobody(unit: Path) -> None:
    """E08, D09: neither network nor start limit."""
    parser = read(unit)
    assert parser["Unit"]["StartLimitIntervalSec"] == "0"
    assert not {"After", "Requires", "Wants", "BindsTo"} & set(parser["Unit"])
    service = parser["Service"]
    assert (service["Type"], service["Restart"], service["RestartSec"]) == ("notify", "always", "1")


@pytest.mark.parametrize("name", ["device/table-timer.service", "hub/timer-hub.service"])
def test_the_watchdog_of_a_program_bites_before_that_of_a_raspberry_pi(name: str) -> None:
    """E10."""
    assert int(read(SYSTEMD / name)["Service"]["WatchdogSec"]) == 10
    manager = configparser.ConfigParser()
    manager.read(SYSTEMD / "watchdog.conf")
    assert manager["Manager"]["RuntimeWatchdogSec"] == manager["Manager"]["RebootWatchdogSec"] == "14"


def test_lgpio_can_write_its_pipes_where_the_table_timer_runs() -> None:
    """B08."""
    service = read(SYSTEMD / "device" / "table-timer.service")["Service"]
    assert service["WorkingDirectory"] == f"%t/{service['RuntimeDirectory']}"
    assert {"gpio", "i2c"} <= set(service["SupplementaryGroups"].split())


@pytest.mark.parametrize("role", ["device", "hub"])
def test_wifi_neither_saves_power_nor_gives_up(role: str) -> None:
    """E11: after a channel change or an access point that was away for an hour it connects by itself."""
    wifi = configparser.ConfigParser()
    wifi.read(SYSTEMD / "wifi.conf")
    assert (wifi["connection"]["wifi.powersave"], wifi["main"]["autoconnect-retries-default"]) == ("2", "0")
    assert (
        f"wifi.conf /etc/NetworkManager/conf.d/{'table-timer' if role == 'device' else 'timer-hub'}.conf"
        in (SYSTEMD / "install.sh").read_text()
    )


@analyze
def test_the_partition_for_journals_is_mounted_by_a_unit_and_holds_a_table_up_for_half_a_minute_at_most(
    tmp_path: Path,
) -> None:
    """Not in fstab, which a root laid over in memory takes along."""
    text = (SYSTEMD / "device" / "data.mount").read_text()
    mount = tmp_path / r"var-lib-table\x2dtimer.mount"
    mount.write_text(
        text.replace("@WHAT@", "/dev/disk/by-uuid/0-1").replace("@FSCK@", r"dev-disk-by\x2duuid-0\x2d1")
    )
    assert said("systemd-analyze", "verify", mount) == ""
    assert "JobTimeoutSec=30" in text
    assert "fstab" not in re.sub("^#.*$", "", (SYSTEMD / "install.sh").read_text(), flags=re.M)


@every_unit
def test_a_unit_runs_as_a_user_that_is_made_for_it(unit: Path) -> None:
    (people,) = unit.parent.glob("*.sysusers.conf")
    assert f"u {read(unit)['Service']['User']} -" in people.read_text()


def test_the_installer_knows_every_file_that_lies_beside_it() -> None:
    script = (SYSTEMD / "install.sh").read_text()
    files = [path.relative_to(SYSTEMD) for path in SYSTEMD.rglob("*") if path.is_file()]
    assert [str(path) for path in files if path.name != "install.sh" and str(path) not in script] == []
    named = re.findall(
        r"\b(?:device|hub)/[a-z][\w.-]*\.(?:conf|service|rules|toml|txt)\b|^\w+\.conf\b", script, re.M
    )
    assert [name for name in named if not (SYSTEMD / name).is_file()] == []


@pytest.mark.skipif(
    shutil.which("shellcheck") is None, reason="shellcheck is not there: apt install shellcheck"
)
def test_the_installer_is_clean_for_shellcheck() -> None:
    assert said("shellcheck", SYSTEMD / "install.sh") == ""


@pytest.mark.parametrize("arguments", [(), ("table",), ("hub", "--nonsense")])
def test_the_installer_tells_how_it_is_used(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([SYSTEMD / "install.sh", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "install.sh device|hub" in done.stderr


def test_a_new_table_timer_lacks_its_table_number_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "table-timer.toml"
    text = (SYSTEMD / "device" / "table-timer.toml").read_text().replace("@DEVICE@", "t-0123ab")
    path.write_text(text)
    with pytest.raises(BadFile) as caught:
        load_table_timer(path)
    assert [problem.key for problem in caught.value.problems] == ["table"]
    path.write_text(text.replace("# table =", "table = 7").replace("# username", "username"))
    settings = load_table_timer(path)
    assert (settings.table, settings.hub.username) == (7, "t-0123ab")


def test_a_new_hub_can_run_at_once(tmp_path: Path) -> None:
    path = tmp_path / "hub.toml"
    path.write_text((SYSTEMD / "hub" / "hub.toml").read_text().replace("@PASSWORD@", "secret"))
    settings, _ = load_hub(path)
    assert settings.broker.username == "hub"
    assert not settings.web.open
