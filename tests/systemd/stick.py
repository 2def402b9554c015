"""A folder as on a USB stick: the installer, what lies beside it, and all Python packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from hatchling.builders.wheel import WheelBuilder

from tests.systemd.machine import ROOT

FETCHED_S: Final = 300.0


def make_stick(python: str, folder: Path) -> Path:
    """The folder, for a Python of another version than this one, too."""
    shutil.copytree(ROOT / "systemd", folder)
    wheels = folder / "wheels"
    wheels.mkdir()
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(wheels), versions=["standard"])
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # there is no wheel of this one
    subprocess.run(
        [*pip, "wheel", "--no-deps", "-w", str(wheels), "font-roboto"], check=True, timeout=FETCHED_S
    )
    platforms = [
        f"--platform={kind}"
        for kind in ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")
    ]
    fetch = [*pip, "download", "--only-binary=:all:", f"--python-version={python}", *platforms]
    fetch += ["--find-links", str(wheels), "-d", str(wheels)]
    subprocess.run([*fetch, f"{wheel}[device,hub]"], check=True, timeout=FETCHED_S)
    if python == "3.11":  # later ones have no wheel of it
        subprocess.run([*fetch, "--no-deps", "lgpio>=0.2.2"], check=True, timeout=FETCHED_S)
    return folder
