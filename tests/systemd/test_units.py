"""What is installed on a machine: units, templates and the installer itself."""

from __future__ import annotations

import configparser
import os
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
def test_what_is_written_for_a_shell_is_clean_for_shellcheck() -> None:
    assert said("shellcheck", *sorted(SYSTEMD.rglob("*.sh"))) == ""


def of_the_installer(script: str) -> str:
    """What a script says that calls functions of the installer."""
    return said("bash", "-c", f". {SYSTEMD}/install.sh; {script}")


@pytest.mark.parametrize(
    ("has", "advice"),
    [
        ("raspi-config overlayroot-chroot", "sudo raspi-config nonint disable_overlayfs && sudo reboot"),
        ("overlayroot-chroot", "sudo overlayroot-chroot sed -i 's/^overlayroot=/#&/' /etc/overlayroot.conf"),
        ("nothing", "switch that off as you switched it on"),
    ],
)
def test_nothing_is_installed_on_a_root_that_is_laid_over_in_memory(has: str, advice: str) -> None:
    """Whatever lays it over: what raspi-config wrote into the command line, or overlayroot.conf."""
    machine = (
        f'findmnt() {{ echo overlay; }}; running() {{ :; }}; command() {{ [[ " {has} " = *" $2 "* ]]; }}; '
    )
    told = of_the_installer(machine + "refuse_on_an_overlay; echo not refused")
    assert told.startswith("Error: the root of this machine is only read")
    assert advice in told
    assert "not refused" not in told
    plain = machine.replace("echo overlay", "echo ext4")
    assert of_the_installer(plain + "refuse_on_an_overlay; echo goes on") == "goes on\n"


def test_a_folder_that_table_and_hub_use_is_removed_by_whoever_goes_last(tmp_path: Path) -> None:
    folder = tmp_path / "conf.d"
    folder.mkdir()
    for name in ("hub", "table"):
        (folder / name).write_text("")
    script = """
        rmdir() {{ command rmdir "$2"; }} # not further up than this test
        note() {{ printf '%s\\n' "$*"; }}
        other={other}; rm {folder}/{mine}; leave_folder {folder}
    """
    first = of_the_installer(script.format(other="../tmp", mine="hub", folder=folder))
    assert first == f"folder {folder}\n", "the note goes to the other one"
    assert of_the_installer(script.format(other="no-such-role", mine="table", folder=folder)) == ""
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into partitions")
def test_the_device_of_the_running_root_is_never_taken_for_journals() -> None:
    device = said("findmnt", "--noheadings", "--output", "SOURCE", "/").strip()
    if not Path(device).is_block_device():
        pytest.skip(f"the root of this machine is on {device}")
    needs = "set_names() { data=/var/lib/table-timer; }; need_packages() { :; }; set_names; "
    told = of_the_installer(f"{needs} partition={device}; check_partition; echo taken")
    assert "is in use" in told
    assert "taken" not in told


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
