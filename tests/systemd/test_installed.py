"""Table and hub installed into Debian 12 and 13 from a folder, booted without a network."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from tests.systemd.machine import Machine, booted, make_root, why_not
from tests.systemd.stick import make_stick
from tests.waiting import wait_until

REASON = why_not() or ("" if platform.machine() == "x86_64" else "the packages are fetched for x86_64")

pytestmark = [
    pytest.mark.container,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(bool(REASON), reason=REASON),
]

UNITS = ("table-timer", "timer-hub", "timer-hub-broker")
LEFT = (
    "find /etc /opt /usr/local /var/lib /root -xdev"
    " \\( -path /var/lib/systemd -o -path /var/lib/apt -o -path /var/lib/mosquitto -o -path /var/lib/chrony"
    " -o -path /etc/.updated -o -path /etc/.pwd.lock -o -name '*-' \\) -prune -o -print | sort;"
    " getent passwd; getent group"
)
BUNDLE = """
timer-hub provision table 7 --out /root/bundles --host 127.0.0.1 && systemctl reload timer-hub-broker
cp /root/bundles/t07-*/* /etc/table-timer/
printf '[buttons]\\npins = "mock"\\n[display]\\ndriver = "none"\\n' >>/etc/table-timer/table-timer.toml
"""
ASK = """/opt/puzzle-table-timer/hub/bin/python -c '
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen("http://127.0.0.1:8000/" + sys.argv[1])
except urllib.error.HTTPError as error:
    answer = error  # not healthy, and says why
print(answer.read().decode())' """


@pytest.fixture(params=[("bookworm", "3.11"), ("trixie", "3.13")], ids=["debian12", "debian13"])
def stick_and_root(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    suite, python = request.param
    folder = tmp_path_factory.mktemp(suite)
    make_root(suite, folder / "root")
    return make_stick(python, folder / "stick"), folder / "root"


def health(machine: Machine) -> dict[str, object]:
    told: dict[str, object] = json.loads(machine.tell(ASK + "healthz"))
    return told


def test_from_nothing_to_a_running_table_and_back_to_nothing(
    stick_and_root: tuple[Path, Path], tmp_path: Path
) -> None:
    """One test, because each step stands on the one before: install, run, hang, update, power cut, remove."""
    stick, root = stick_and_root
    with booted(root, stick, tmp_path / "console") as machine:
        before = machine.tell(LEFT)
        _installs(machine)
        _works(machine)
        _watchdog_bites(machine)
        _is_updated_and_keeps_its_data(machine)
    with booted(root, stick, tmp_path / "console") as machine:
        _starts_in_any_order(machine)
        _nothing_is_changed_during_a_run(machine)
        _is_removed(machine, before)


def _installs(machine: Machine) -> None:
    assert "timer-hub 0.1.0 is installed" in machine.tell("/stick/install.sh hub")
    machine.wait_active("timer-hub", "timer-hub-broker")
    told = machine.tell("/stick/install.sh device")
    assert "table: is missing" in told
    assert machine.show("table-timer", "UnitFileState") == "enabled"
    machine.tell(BUNDLE)
    machine.wait_active("table-timer")  # by itself: it is tried again every second


def _works(machine: Machine) -> None:
    assert machine.show("table-timer", "StatusText") == "table 7: no run"
    assert machine.show("timer-hub", "StatusText") == "no run"
    wait_until(lambda: " as t07-" in machine.tell("journalctl -u timer-hub-broker --no-pager"))
    wait_until(lambda: health(machine)["ok"] is True)
    for unit in UNITS:
        assert machine.tell(f"systemd-analyze verify /etc/systemd/system/{unit}.service") == ""
        pid = machine.show(unit, "MainPID")
        assert machine.tell(f"ps -o user:32= -p {pid}") == unit
    assert machine.tell("id -Gn table-timer") == "table-timer gpio i2c"
    assert machine.tell("readlink /proc/$(systemctl show --property=MainPID --value table-timer)/cwd") == (
        "/run/table-timer"
    )
    modes = machine.tell("stat -c '%U %a' /var/lib/table-timer /var/lib/timer-hub /etc/timer-hub/hub.toml")
    assert modes.split("\n") == ["table-timer 750", "timer-hub 750", "root 640"]
    assert machine.tell("systemctl --failed --no-legend --plain") == ""


def _watchdog_bites(machine: Machine) -> None:
    """E10: a hung table is started again within 15 s; so is a hung hub, and a killed one of any kind."""
    for unit in ("table-timer", "timer-hub"):
        before = machine.show(unit, "MainPID")
        machine.tell(f"kill -STOP {before}")
        wait_until(lambda unit=unit, before=before: machine.show(unit, "MainPID") not in (before, "0"))  # type: ignore[misc]
        assert "watchdog" in machine.tell(f"journalctl -u {unit} --no-pager").lower()
        machine.wait_active(unit)
    for _ in range(7):  # more than the five that systemd lets pass by itself
        for unit in UNITS:
            machine.tell(f"kill -KILL {machine.show(unit, 'MainPID')}")
        machine.wait_active(*UNITS)


def _is_updated_and_keeps_its_data(machine: Machine) -> None:
    files = "sha256sum /etc/table-timer/table-timer.toml /etc/timer-hub/hub.toml /etc/timer-hub/broker/ca.crt"
    kept = machine.tell(
        f"{files}; ls /var/lib/table-timer/*.journal; stat -c %i /var/lib/timer-hub/hub.sqlite3"
    )
    program = machine.tell("readlink /opt/puzzle-table-timer/device")
    machine.tell("/stick/install.sh device && /stick/install.sh hub")
    assert machine.tell("readlink /opt/puzzle-table-timer/device") != program
    assert machine.tell("ls /opt/puzzle-table-timer | wc -l") == "4"  # two programs and the links to them
    machine.wait_active(*UNITS)
    again = machine.tell(
        f"{files}; ls /var/lib/table-timer/*.journal; stat -c %i /var/lib/timer-hub/hub.sqlite3"
    )
    assert again == kept
    clock = machine.tell("chronyd -p")
    assert "server 127.0.0.1 iburst" in clock  # the host of the bundle, which was not there the first time
    assert "local stratum 10" in clock
    wait_until(lambda: health(machine)["ok"] is True)


def _starts_in_any_order(machine: Machine) -> None:
    """E08, D09: after a boot without any network, and with the broker last."""
    machine.wait_active(*UNITS)
    machine.tell("systemctl stop timer-hub-broker table-timer timer-hub")
    for unit in ("table-timer", "timer-hub", "timer-hub-broker"):
        machine.tell(f"systemctl start {unit}")
    machine.wait_active(*UNITS)
    wait_until(lambda: health(machine)["ok"] is True)


def _nothing_is_changed_during_a_run(machine: Machine) -> None:
    plan = "heat,order,table,entrant,category,public_name\n1,1,7,e1,adulto,Ana\n"
    machine.tell(f"printf '{plan}' >/root/plan.csv && timer-hub load /root/plan.csv && rm /root/plan.csv")
    # a container hides the boot id of the machine; only inside a unit everybody reads the same one
    inside = "nsenter --mount --target $(systemctl show --property=MainPID --value timer-hub)"
    start = f"{inside} timer-hub start 1 --in 6s"
    wait_until(lambda: "heat 1 starts" in machine.tell(start, check=False))
    wait_until(lambda: machine.show("table-timer", "StatusText") == "table 7: a run is on")
    wait_until(lambda: machine.show("timer-hub", "StatusText") == "1 run is on")
    program = machine.tell("readlink /opt/puzzle-table-timer/device")
    for role in ("device", "hub"):
        for more in ("", "--uninstall --yes"):
            assert "wait until it is over" in machine.tell(f"/stick/install.sh {role} {more}", check=False)
    assert machine.tell("readlink /opt/puzzle-table-timer/device") == program


def _is_removed(machine: Machine, before: str) -> None:
    for role in ("device", "hub"):
        assert "--uninstall --yes" in machine.tell(f"/stick/install.sh {role} --uninstall", check=False)
        machine.tell(f"/stick/install.sh {role} --uninstall --yes --force")
    machine.tell("rm -r /root/bundles")
    assert machine.tell(LEFT) == before
    assert machine.tell("systemctl list-units --all --no-legend 'timer-hub*' 'table-timer*'") == ""
