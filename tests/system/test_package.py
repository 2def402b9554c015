"""The wheel that is built from this tree, installed elsewhere, and a fresh clone: both start."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.system.test_demo import demo, get
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(built)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A venv with the wheel; its dependencies are those of the venv that runs the tests."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
    )
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel)]
    subprocess.run([*pip, "--disable-pip-version-check"], check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    yield venv
    shutil.rmtree(venv)


def test_each_top_level_name_in_the_wheel_has_one_owner_and_all_data_is_there(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"device", "hub", "shared"}
    for data in (
        "shared/rulebooks/torneo-puzzles-2026.toml",
        "shared/rulebooks/castrillo-2023.toml",
        "shared/locales/es/LC_MESSAGES/messages.mo",
        "hub/web/templates/base.html",
        "hub/web/static/pages.css",
        "device/simulator/templates/table.html",
    ):
        assert data in names
    assert any(name.startswith("hub/migrations/versions/") for name in names)


def test_the_modules_come_from_the_wheel_and_not_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = "import device, hub, shared; print(device.__file__, hub.__file__, shared.__file__)"
    line = [str(installed / "bin" / "python"), "-P", "-c", code]
    said = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert all(path.startswith(str(installed)) for path in said.split())


def test_the_installed_wheel_scores_and_knows_its_version_outside_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    for command in ("timer-hub", "table-timer"):
        line = [str(installed / "bin" / command), "--version"]
        said = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        assert "0.1.0" in said
    vectors = ROOT / "tests" / "vectors" / "castrillo-01.jsonl"
    line = [
        str(installed / "bin" / "timer-hub"),
        "score",
        "castrillo-2023",
        str(vectors),
        "--format",
        "table",
    ]
    said = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "parejas" in said


def test_the_installed_wheel_runs_the_demo_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "bin" / "timer-hub"), "demo"]
    with demo(tmp_path, "--tables", "1", command=command) as port:
        wait_until(lambda: "Lucía" in get(port + 1, "/tables/1/screen.txt"))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_make_demo_starts_in_a_fresh_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    subprocess.run(["make", "-s", ".venv/.demo"], cwd=clone, check=True, timeout=800)
    command = [str(clone / ".venv" / "bin" / "timer-hub"), "demo"]
    with demo(tmp_path, "--tables", "1", command=command) as port:
        wait_until(lambda: "Lucía" in get(port + 1, "/tables/1/screen.txt"))
