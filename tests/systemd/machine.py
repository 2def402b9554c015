"""A Debian root in a folder, booted with its own systemd in a container without a network."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.waiting import wait_until

ROOT: Final = Path(__file__).parent.parent.parent
PACKAGES: Final = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "python3",
    "python3-venv",
    "mosquitto",
    "chrony",
    "procps",
    "e2fsprogs",
    "avahi-daemon",
    "libnss-mdns",
)
BUILT_S: Final = 600.0
BOOTED_S: Final = 60.0
TOLD_S: Final = 240.0
ASKED_S: Final = 20.0


def why_not() -> str:
    """Why no machine can be made here; empty when it can."""
    if os.geteuid() != 0:
        return "only root can boot a container"
    for program, package in (("mmdebstrap", "mmdebstrap"), ("systemd-nspawn", "systemd-container")):
        if shutil.which(program) is None:
            return f"{program} is not there: apt install {package}"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    return "this machine lets nobody mount" if done.returncode else ""


def unreachable(suite: str) -> str:
    """Why a suite of Debian cannot be fetched now; empty when it can."""
    address = f"{mirror().rstrip('/')}/dists/{suite}/InRelease"
    with tempfile.TemporaryDirectory() as folder:  # by apt's own means: it knows of proxies
        command = ["/usr/lib/apt/apt-helper", "download-file", address, f"{folder}/InRelease"]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=ASKED_S)
        except subprocess.TimeoutExpired:
            return f"no network: {address} does not answer"
    return f"no network: {address}" if done.returncode else ""


def mirror() -> str:
    """Where this machine's own apt gets Debian from."""
    form = ["apt-get", "indextargets", "--format", "$(REPO_URI)|$(ORIGIN)|$(LABEL)", "Created-By: Packages"]
    listed = subprocess.run(form, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.removesuffix("|Debian|Debian") for line in listed if line.endswith("|Debian|Debian")]
    return found[0] if found else "http://deb.debian.org/debian"


def make_root(suite: str, folder: Path) -> None:
    """A small Debian with what the installer would fetch by apt."""
    without = [f"path-exclude=/usr/share/{what}/*" for what in ("doc", "man", "locale")]
    options = [f"--dpkgopt={option}" for option in ("force-unsafe-io", *without)]
    command = ["mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(PACKAGES)}", *options]
    subprocess.run([*command, suite, str(folder), mirror()], check=True, timeout=BUILT_S)
    (folder / "etc" / "hostname").write_text("hall\n")


class Machine:
    """A booted root."""

    def __init__(self, leader: int) -> None:
        self._leader = leader

    def tell(self, script: str, *, check: bool = True) -> str:
        """What a shell in it says to a script; AssertionError when it fails and `check` is on."""
        inside = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root"]
        command = ["nsenter", "-t", str(self._leader), "-a", *inside, "LANG=C.UTF-8", "bash", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TOLD_S)
        told = done.stdout + done.stderr
        assert not check or done.returncode == 0, f"{script}\n{told}\n{self._journal()}"
        return told.strip()

    def show(self, unit: str, name: str) -> str:
        """A property of a unit."""
        return self.tell(f"systemctl show --property={name} --value {unit}")

    def wait_active(self, *units: str) -> None:
        """Wait until units have said that they are ready."""
        for unit in units:
            try:
                wait_until(lambda unit=unit: self.show(unit, "ActiveState") == "active")  # type: ignore[misc]
            except AssertionError:
                raise AssertionError(f"{unit} is not active\n{self._journal()}") from None

    def _journal(self) -> str:
        command = ["nsenter", "-t", str(self._leader), "-a", "journalctl", "--no-pager", "-n", "60"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@contextmanager
def empty_partition(file: Path) -> Iterator[Path]:
    """A block device with nothing on it, until it is let go of at the end."""
    with file.open("wb") as image:
        image.truncate(64 * 1024 * 1024)
    command = ["losetup", "--find", "--show", str(file)]
    device = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=False)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def booted(root: Path, stick: Path, log: Path, *partitions: Path) -> Iterator[Machine]:
    """The root with its systemd as its first process, a folder at /stick and block devices; off again afterwards."""
    command = ["systemd-nspawn", "--quiet", "--directory", str(root), "--register=no", "--keep-unit"]
    command += ["--private-network", f"--bind-ro={stick}:/stick", *(f"--bind={each}" for each in partitions)]
    command += ["--boot", "--console=pipe"]
    environment = os.environ | {"UNIFIED_CGROUP_HIERARCHY": "yes"}
    with (
        log.open("wb") as told,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT, env=environment
        ) as nspawn,
    ):
        try:
            yield _leader(nspawn, log)
        finally:
            for leader in _children(nspawn.pid) if nspawn.poll() is None else []:
                os.kill(leader, signal.SIGRTMIN + 4)  # power off
            try:
                nspawn.wait(BOOTED_S)
            except subprocess.TimeoutExpired:
                nspawn.kill()


def _leader(nspawn: subprocess.Popen[bytes], log: Path) -> Machine:
    def up() -> bool:
        assert nspawn.poll() is None, log.read_text(errors="replace")
        children = _children(nspawn.pid)
        state = Machine(children[0]).tell("systemctl is-system-running", check=False) if children else ""
        return state in ("running", "degraded")

    wait_until(up, BOOTED_S)
    return Machine(_children(nspawn.pid)[0])
