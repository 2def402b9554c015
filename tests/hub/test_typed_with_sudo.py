"""Commands typed with sudo leave nothing behind that the hub, or the person, could not use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from hub.cli import main
from shared.folder_owner import hand_over

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for others")

HUB = (65_501, 65_502)
"""User and group of the hub; nobody has to be called so."""
PLAN = "heat,order,table,entrant,category,public_name\n1,1,7,e1,adulto,Ana\n"


@pytest.fixture
def settings() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)  # for others to come through
        (folder / "data").mkdir()
        os.chown(folder / "data", *HUB)
        path = folder / "hub.toml"
        path.write_text(f'rulebook = "torneo-puzzles-2026"\ndata_dir = "{folder}/data"\n')
        yield path


def typed(settings: Path, *words: object) -> str:
    done = CliRunner().invoke(main, [*map(str, words), "--config", str(settings)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def of_others(folder: Path) -> Iterator[str]:
    for path in (folder, *folder.rglob("*")):
        found = path.lstat()
        if (found.st_uid, found.st_gid) != HUB:
            yield str(path.relative_to(folder))


def test_all_that_commands_make_belongs_to_the_hub_and_what_root_had_left_there_too(settings: Path) -> None:
    data = settings.parent / "data"
    (settings.parent / "plan.csv").write_text(PLAN)
    for words in (
        ["load", settings.parent / "plan.csv"],
        ["backup"],
        ["restore"],
        ["password", "Marta", "--password", "pieza de esquina"],
        ["seat", 7, "t07"],
        ["start", 1],
        ["forget", "e1"],
    ):
        typed(settings, *words)
        assert list(of_others(data)) == [], words
    assert {path.name for path in data.iterdir()} >= {"hub.sqlite3", "backups", "replaced-000001"}
    for path in (data / "backups", data / "hub.sqlite3"):
        os.chown(path, 0, 0)
    typed(settings, "seat", 8, "t08")
    assert list(of_others(data)) == []


def test_nothing_is_given_away_that_is_not_the_hubs(settings: Path) -> None:
    data, secret = settings.parent / "data", settings.parent / "secret"
    secret.write_text("root's own")
    (data / "backups").mkdir()
    (data / "backups" / "linked").symlink_to(secret)
    (data / "backups" / "also").hardlink_to(secret)
    (data / "photos").mkdir()
    (data / "hub.sqlite3").symlink_to(secret)
    hand_over(data, ["hub.sqlite3*", "backups"])
    assert (secret.stat().st_uid, (data / "photos").stat().st_uid) == (0, 0)
    assert (data / "backups").stat().st_uid == HUB[0]


def test_a_hub_that_cannot_write_its_database_says_whose_it_is_and_what_to_type(settings: Path) -> None:
    (settings.parent / "plan.csv").write_text(PLAN)
    typed(settings, "load", settings.parent / "plan.csv")
    database = settings.parent / "data" / "hub.sqlite3"
    os.chown(database, 0, 0)
    database.chmod(0o644)
    user, group = HUB
    as_hub = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]
    command = [*as_hub, sys.executable, "-P", "-m", "hub.cli", "run", "--config", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"{database} belongs to root and cannot be written by the hub: sudo chown -R" in done.stderr


def test_a_bundle_belongs_to_the_person_who_typed_sudo(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(settings, "provision", "hub")
    monkeypatch.setenv("SUDO_UID", str(HUB[0]))
    monkeypatch.setenv("SUDO_GID", str(HUB[1]))
    out = settings.parent / "some" / "bundles"
    told = typed(settings, "provision", "table", 7, "--out", out)
    assert list(of_others(out.parent)) == []
    (bundle,) = out.iterdir()
    assert bundle.stat().st_mode & 0o777 == 0o700
    assert f"cp {bundle}/* " in told
    assert f":{bundle}/*' " in told
