"""Table and hub installed into Debian 12 and 13 from a folder, booted without a network."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.systemd.machine import Machine, booted, empty_partition, make_root, unreachable, why_not
from tests.systemd.stick import make_stick
from tests.waiting import wait_until

REASON = why_not() or ("" if platform.machine() == "x86_64" else "the packages are fetched for x86_64")

pytestmark = [
    pytest.mark.container,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(bool(REASON), reason=REASON),
]

UNITS = ("table-timer", "timer-hub", "timer-hub-broker")
CONFIG = "dtparam=audio=on\n[cm4]\notg_mode=1\n"
"""What stands in the config.txt of a Raspberry Pi before."""
LEFT = (
    "find /etc /opt /usr/local /var/lib /root -xdev"
    " \\( -path /var/lib/systemd -o -path /var/lib/apt -o -path /var/lib/mosquitto -o -path /var/lib/chrony"
    " -o -path /etc/.updated -o -path /etc/.pwd.lock -o -name '*-' \\) -prune -o -print | sort;"
    " getent passwd; getent group"
)
BUNDLE = """
timer-hub provision table 7 --out /root/bundles --host 127.0.0.1 && systemctl reload timer-hub-broker
cp /root/bundles/t07-*/* FOLDER/
printf '[buttons]\\npins = "mock"\\n[display]\\ndriver = "none"\\n' >>FOLDER/table-timer.toml
chmod a+r FOLDER/table-timer.toml  # as everything is on the first partition of a card
"""
# a container hides the boot id of the machine; only inside a unit everybody reads the same one
INSIDE = "nsenter --mount --target $(systemctl show --property=MainPID --value timer-hub)"
ASK = """/opt/puzzle-table-timer/hub/bin/python -c '
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen("http://127.0.0.1:8000/" + sys.argv[1])
except urllib.error.HTTPError as error:
    answer = error  # not healthy, and says why
print(answer.read().decode())' """


@dataclass(frozen=True)
class Place:
    """A machine to be, and what is put into it."""

    stick: Path
    root: Path
    settings: str
    """The folder of a table's settings: on a Raspberry Pi the boot partition."""


ON_A_PI = "/boot/firmware"
ELSEWHERE = "/etc/table-timer"


@pytest.fixture(
    params=[("bookworm", "3.11", ELSEWHERE), ("trixie", "3.13", ON_A_PI)], ids=["debian12", "debian13"]
)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    suite, python, settings = request.param
    if reason := unreachable(suite):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp(suite)
    make_root(suite, folder / "root")
    if settings == ON_A_PI:
        boot = folder / "root" / ON_A_PI.lstrip("/")
        boot.mkdir(parents=True, exist_ok=True)
        (boot / "config.txt").write_text(CONFIG)
    return Place(make_stick(python, folder / "stick"), folder / "root", settings)


def health(machine: Machine) -> dict[str, object]:
    told: dict[str, object] = json.loads(machine.tell(ASK + "healthz"))
    return told


def test_from_nothing_to_a_running_table_and_back_to_nothing(place: Place, tmp_path: Path) -> None:
    """One test, because each step stands on the one before: install, run, hang, update, restart, remove.

    E08, E10, D09: in any order and without a network, again and again, and nobody gives up.
    """
    stick, root = place.stick, place.root
    with (
        empty_partition(tmp_path / "partition") as partition,
        empty_partition(tmp_path / "second") as second,
    ):
        with booted(root, stick, tmp_path / "console", partition, second) as machine:
            before = machine.tell(LEFT)
            _installs(machine, place.settings)
            _works(machine)
            _answers_the_hub(machine)
            _watchdog_bites(machine)
            _crashes_in_a_row_end_in_safe_mode(machine)
            _what_root_leaves_behind_is_healed(machine, place.settings)
            _time_follows_the_hub_that_the_settings_name(machine, place.settings)
            _is_updated_and_keeps_its_data(machine, place.settings)
            _a_version_that_does_not_start_is_taken_back(machine)
            _a_version_that_does_not_take_the_settings_is_not_installed(machine)
            _no_partition_that_holds_anything_is_taken(machine, partition)
            _journals_move_to_a_partition_of_their_own(machine, partition, second)
        with booted(root, stick, tmp_path / "console", partition, second) as machine:
            assert _where_journals_are(machine) == str(second)
            _starts_in_any_order(machine)
            _nothing_is_changed_during_a_run(machine)
            _is_removed(machine, before, place.settings, second)


def _installs(machine: Machine, settings: str) -> None:
    assert "timer-hub 0.1.0 is installed" in machine.tell("/stick/install.sh hub")
    machine.wait_active("timer-hub", "timer-hub-broker")
    told = machine.tell("/stick/install.sh device")
    assert "table: is missing" in told
    assert machine.show("table-timer", "UnitFileState") == "enabled"
    machine.tell(BUNDLE.replace("FOLDER", settings))
    if settings == ON_A_PI:
        assert "i2c_arm_baudrate=400000" in machine.tell(f"cat {ON_A_PI}/config.txt")
        assert machine.tell("readlink /etc/table-timer/table-timer.toml") == f"{ON_A_PI}/table-timer.toml"
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


def _answers_the_hub(machine: Machine) -> None:
    """Through the real broker with its rules, from a table in its hardened unit."""
    ask = f"{INSIDE} timer-hub identify 7"
    wait_until(lambda: "shows its number for 10 seconds" in machine.tell(ask, check=False))
    told = machine.tell(f"{INSIDE} timer-hub selftest 7", check=False)
    for part in (
        "display: none",
        "buttons: none is pressed",
        "the broker at 127.0.0.1:8883 answers",
        "disk: ",
    ):
        assert part in told
    checked = machine.tell(f"{INSIDE} timer-hub check-hall --quick", check=False)
    assert "FAULT plan: there is none" in checked
    assert "ok    certificate: " in checked
    assert "ok    table 7: t07-" in checked
    assert "NOT READY" in checked


def _watchdog_bites(machine: Machine) -> None:
    """E10: a hung table is started again within 15 s; so is a hung hub, and a killed one of any kind."""
    for unit in ("table-timer", "timer-hub"):
        before = machine.show(unit, "MainPID")
        machine.tell(f"kill -STOP {before}")
        wait_until(lambda unit=unit, before=before: machine.show(unit, "MainPID") not in (before, "0"))  # type: ignore[misc]
        assert "watchdog" in machine.tell(f"journalctl -u {unit} --no-pager").lower()
        machine.wait_active(unit)


def _crashes_in_a_row_end_in_safe_mode(machine: Machine) -> None:
    """E10: nobody gives up; a table does without hub and plan, until it is restarted by hand."""
    for _ in range(7):  # more than the five that systemd lets pass by itself
        for unit in UNITS:
            machine.tell(f"kill -KILL {machine.show(unit, 'MainPID')}")
        machine.wait_active(*UNITS)
    assert machine.show("table-timer", "StatusText") == "table 7, safe mode: no run"
    machine.tell("systemctl restart table-timer")
    machine.wait_active("table-timer")
    assert machine.show("table-timer", "StatusText") == "table 7: no run"


def _is_updated_and_keeps_its_data(machine: Machine, settings: str) -> None:
    files = f"sha256sum {settings}/table-timer.toml {settings}/ca.crt"
    files += " /etc/timer-hub/hub.toml /etc/timer-hub/broker/ca.crt"
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
    assert "sourcedir /run/chrony-dhcp" in clock  # where the table says which hub it follows
    assert "local stratum 10" in clock
    wait_until(lambda: health(machine)["ok"] is True)


def _what_root_leaves_behind_is_healed(machine: Machine, settings: str) -> None:
    """Whatever was typed with sudo, and even by hand: hub and table can write and read what is theirs."""
    data = "/var/lib/timer-hub"
    machine.tell("timer-hub backup && systemctl stop timer-hub && timer-hub restore")
    assert machine.tell(f"find {data} ! -user timer-hub") == ""
    machine.tell(f"chown -R root: {data}/backups {data}/hub.sqlite3; systemctl start timer-hub")
    machine.wait_active("timer-hub")
    assert machine.tell(f"find {data} ! -user timer-hub") == ""
    wait_until(lambda: health(machine)["ok"] is True)
    if settings == ELSEWHERE:  # a boot partition knows no owners
        machine.tell(f"chown root: {settings}/*; chmod 600 {settings}/*; systemctl restart table-timer")
        machine.wait_active("table-timer")


def _time_follows_the_hub_that_the_settings_name(machine: Machine, settings: str) -> None:
    """Also when they were changed in another computer: the installer is not asked again."""
    sources = "cat /run/chrony-dhcp/table-timer.sources"
    wait_until(lambda: machine.tell(sources, check=False) == "server 127.0.0.1 iburst minpoll 4 maxpoll 6")
    for host, other in (("127.0.0.1", "localhost"), ("localhost", "127.0.0.1")):
        change = f"sed -i 's/^host = .*/host = \"{other}\"/' {settings}/table-timer.toml"
        machine.tell(f"{change}; systemctl restart table-timer")
        machine.wait_active("table-timer")
        assert host not in machine.tell(sources)
        assert f"server {other} iburst" in machine.tell(sources)


CHANGE = """
rm -rf /root/broken && cp -r /stick /root/broken
python3 - <<'END'
import pathlib, zipfile
(wheel,) = pathlib.Path("/root/broken/wheels").glob("puzzle_table_timer-*.whl")
with zipfile.ZipFile(wheel) as whole:
    files = {name: whole.read(name) for name in whole.namelist()}
files.update({NEW})
with zipfile.ZipFile(wheel, "w") as changed:
    for name, content in files.items():
        changed.writestr(name, content)
END
"""
"""A stick with another version on it."""
SPOILT = """{
    "device/app.py": b'raise RuntimeError("spoilt")\\n',
    "hub/app.py": files["hub/app.py"].replace(b"self._store = ", b"self._store = {}['spoilt'] if Store.open("
        b"parts.database, parts.wall) else ", 1),
    "hub/migrations/versions/v9999_newer.py": b"revision, down_revision = '9999', LAST\\n"
        b"def upgrade() -> None:\\n    pass\\n",
}"""
"""The table crashes; the hub brings its database to a newer shape, and crashes."""
PICKY = """{
    f"{role}/config.py": files[f"{role}/config.py"].replace(
        b"File(Table):\\n", b"File(Table):\\n    unheard_of: int\\n"
    )
    for role in ("device", "hub")
}"""
"""Both want something in their settings that was never there."""


def _a_version_that_does_not_start_is_taken_back(machine: Machine) -> None:
    versions = Path(__file__).parents[2] / "hub" / "migrations" / "versions"
    last = sorted(versions.glob("v*.py"))[-1].name[1:5]
    machine.tell(CHANGE.replace("{NEW}", SPOILT.replace("LAST", f"'{last}'")))
    units = "sha256sum /etc/systemd/system/*t*imer* /etc/tmpfiles.d/* /etc/udev/rules.d/*; stat -c %a /"
    files = machine.tell(units)
    machine.tell("sed -i s/^Nice=.*/Nice=19/ /root/broken/device/*.service")
    for role, unit in (("device", "table-timer"), ("hub", "timer-hub")):
        program = machine.tell(f"readlink /opt/puzzle-table-timer/{role}")
        told = machine.tell(f"! /root/broken/install.sh {role}")
        assert ("the one of before is put back" in told) is (role == "hub"), told
        assert machine.tell(units) == files
        assert "did not start within 30 s; the version of before is back" in told
        assert machine.tell(f"readlink /opt/puzzle-table-timer/{role}") == program
        machine.wait_active(unit)
        assert "spoilt" in machine.tell(f"journalctl -u {unit} --no-pager")
    assert machine.show("table-timer", "StatusText") == "table 7: no run", (
        "its crashes were not this version's"
    )
    assert machine.tell("ls /opt/puzzle-table-timer | wc -l") == "4"
    machine.tell("rm -r /root/broken")
    wait_until(lambda: health(machine)["ok"] is True)
    assert machine.tell("find /var/lib/timer-hub ! -user timer-hub") == ""
    machine.tell("systemctl stop timer-hub && timer-hub restore && systemctl start timer-hub")
    machine.wait_active("timer-hub")


def _a_version_that_does_not_take_the_settings_is_not_installed(machine: Machine) -> None:
    machine.tell(CHANGE.replace("{NEW}", PICKY))
    for role, unit in (("device", "table-timer"), ("hub", "timer-hub")):
        was = f"readlink /opt/puzzle-table-timer/{role}; systemctl show -p InvocationID {unit}"
        before = machine.tell(was)
        told = machine.tell(f"! /root/broken/install.sh {role}")
        assert "does not take the settings that the old one takes. Nothing was changed." in told
        assert "unheard_of: is missing" in told
        assert machine.tell(was) == before
    machine.tell("rm -r /root/broken")


A_PART_ON_IT = r"""python3 -c '
import sys
part = bytes([0, 0, 2, 0, 131, 0, 0, 0]) + (8).to_bytes(4, "little") + (999).to_bytes(4, "little")
sys.stdout.buffer.write(bytes(446) + part + bytes(48) + bytes([0x55, 0xAA]))'"""
"""The table of partitions of a disk with one on it."""


def _where_journals_are(machine: Machine) -> str:
    return machine.tell("findmnt --noheadings --output SOURCE /var/lib/table-timer", check=False)


def _no_partition_that_holds_anything_is_taken(machine: Machine, partition: Path) -> None:
    """Whatever is named by a typo: nothing of it is touched, and the installer says so before it does anything."""
    install = f"! /stick/install.sh device --data-partition {partition}"
    program = machine.tell("readlink /opt/puzzle-table-timer/device")
    machine.tell(f"mkfs.ext4 -q {partition} && mount {partition} /mnt && echo wedding >/mnt/photo")
    assert "is in use, as /mnt" in machine.tell(install)
    machine.tell("umount /mnt")
    assert "is not empty: photo" in machine.tell(install)
    machine.tell(f"mount {partition} /mnt && grep -q wedding /mnt/photo && umount /mnt")
    for make, holds in (
        (f"mkswap -q {partition}", "holds swap"),
        (f"wipefs -qa {partition}; {A_PART_ON_IT} >{partition}", "is a whole disk"),
    ):
        machine.tell(make)
        before = machine.tell(f"sha256sum {partition}")
        assert holds in machine.tell(install)
        assert machine.tell(f"sha256sum {partition}") == before
    assert machine.tell("readlink /opt/puzzle-table-timer/device") == program
    assert _where_journals_are(machine) == ""
    machine.tell(f"wipefs -qa {partition}")


def _journals_move_to_a_partition_of_their_own(machine: Machine, partition: Path, second: Path) -> None:
    """And to another one, and not back over newer ones."""
    kept = machine.tell("cd /var/lib/table-timer && ls *.journal")
    for device in (partition, second, second):
        told = machine.tell(f"/stick/install.sh device --data-partition {device}")
        assert f"journals are kept on {device}" in told
        machine.wait_active("table-timer")
        assert _where_journals_are(machine) == str(device)
        assert machine.tell("cd /var/lib/table-timer && ls *.journal") == kept
        assert machine.tell("stat -c '%U %a' /var/lib/table-timer") == "table-timer 750"
    newest = machine.tell("cd /var/lib/table-timer && ls -t *.journal | sed -n 1p")
    machine.tell(f"mount {partition} /mnt && echo >>/mnt/{newest} && umount /mnt")
    assert "holds another " in machine.tell(f"! /stick/install.sh device --data-partition {partition}")
    assert _where_journals_are(machine) == str(second)


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
    start = f"{INSIDE} timer-hub start 1 --in 6s"
    wait_until(lambda: "heat 1 starts" in machine.tell(start, check=False))
    wait_until(lambda: machine.show("table-timer", "StatusText") == "table 7: a run is on")
    wait_until(lambda: machine.show("timer-hub", "StatusText") == "1 run is on")
    program = machine.tell("readlink /opt/puzzle-table-timer/device")
    for role in ("device", "hub"):
        for more in ("", "--uninstall --yes"):
            assert "wait until it is over" in machine.tell(f"/stick/install.sh {role} {more}", check=False)
    assert machine.tell("readlink /opt/puzzle-table-timer/device") == program


def _is_removed(machine: Machine, before: str, settings: str, partition: Path) -> None:
    """The hub first: what it made for both is removed by the table, which goes last."""
    machine.tell("echo wedding >/var/lib/table-timer/photo")
    for role in ("hub", "device"):
        assert "--uninstall --yes" in machine.tell(f"/stick/install.sh {role} --uninstall", check=False)
        told = machine.tell(f"/stick/install.sh {role} --uninstall --yes --force")
        assert ("did not make it: photo" in told) is (role == "device")
    assert machine.tell(f"mount {partition} /mnt && ls /mnt && umount /mnt") == "lost+found\nphoto"
    machine.tell("rm -r /root/bundles")
    assert machine.tell(LEFT) == before
    if settings == ON_A_PI:
        assert machine.tell(f"ls {ON_A_PI}") == "config.txt"
        assert machine.tell(f"cat {ON_A_PI}/config.txt") == CONFIG.strip()
    assert machine.tell("systemctl list-units --all --no-legend 'timer-hub*' 'table-timer*'") == ""
