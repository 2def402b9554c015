"""The lock files by which the installer installs: complete for every machine, hashed, and what we ask for."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MACHINES = [(python, kind) for python in ("3.11", "3.13") for kind in ("x86_64", "aarch64", "armv7l")]
FILES = sorted(ROOT.glob("lock-*.txt"))
ENTRY = re.compile(
    r"^(?P<what>[^\s#-][^\\]*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)


def asked_for(role: str) -> list[str]:
    """What the project asks for by itself."""
    extras = PROJECT["project"]["optional-dependencies"]
    match role:
        case "build":
            return list(PROJECT["build-system"]["requires"])
        case "lgpio":
            return [re.sub(";.*", "", line) for line in extras["pi"] if line.startswith("lgpio")]
        case _:
            return [*PROJECT["project"]["dependencies"], *extras[role]]


def locked(path: Path, machine: tuple[str, str]) -> dict[str, Requirement]:
    """What is installed on a machine, by name."""
    found = [Requirement(match["what"]) for match in ENTRY.finditer(path.read_text(encoding="utf-8"))]
    here = environment(machine)
    return {canonicalize_name(r.name): r for r in found if r.marker is None or r.marker.evaluate(here)}


def environment(machine: tuple[str, str], extra: str = "") -> dict[str, str]:
    python, kind = machine
    known = {name: str(value) for name, value in default_environment().items()}
    return known | {
        "python_version": python,
        "python_full_version": f"{python}.2",
        "platform_machine": kind,
        "extra": extra,
    }


def version_of(requirement: Requirement) -> str:
    (pin,) = requirement.specifier
    assert pin.operator == "==", requirement
    return pin.version


@pytest.mark.parametrize("role", ["device", "hub", "build", "lgpio"])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_lock_file_names_a_version_of_all_that_is_asked_for(role: str, machine: tuple[str, str]) -> None:
    """D09: what is installed today is installed in a year too."""
    has = locked(ROOT / f"lock-{role}.txt", machine)
    for line in asked_for(role):
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate(environment(machine)):
            found = has.get(canonicalize_name(wanted.name))
            assert found, f"{line} is not in lock-{role}.txt: make lock"
            assert wanted.specifier.contains(version_of(found)), f"{found} is not {line}: make lock"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("machine", MACHINES)
def test_a_lock_file_names_all_that_its_packages_need(path: Path, machine: tuple[str, str]) -> None:
    has = locked(path, machine)
    for requirement in has.values():
        try:
            lines = requires(requirement.name) or []
        except PackageNotFoundError:  # a package of a machine of another kind
            continue
        for needed in map(Requirement, lines):
            if needed.marker is None or needed.marker.evaluate(environment(machine)):
                assert canonicalize_name(needed.name) in has, f"{requirement.name} needs {needed}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_lock_file_holds_versions_and_hashes_and_no_place_to_get_them_from(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    left = ENTRY.sub("", text)
    assert all(line.startswith("#") for line in left.splitlines() if line), left
    assert not re.search(r"https?:|file:|index|find-links|/", text.replace("==", ""))


def test_device_and_hub_have_the_same_version_of_what_both_need() -> None:
    device, hub = (locked(ROOT / f"lock-{role}.txt", ("3.13", "aarch64")) for role in ("device", "hub"))
    for name in device.keys() & hub.keys():
        assert version_of(device[name]) == version_of(hub[name]), name
