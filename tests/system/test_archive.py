"""The end of a tournament: an archive on another disk, what tables delete then, the same standings years later."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from device.journal import Journal
from tests.system.hall import Hall, a_hall
from tests.system.test_hall import finished, started
from tests.waiting import wait_until

MEMORY = Path("/dev/shm")


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Path]:
    """Where the hub runs: a folder of another file system than the stick's, which is where tests run."""
    if not MEMORY.is_dir() or MEMORY.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    with TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def with_closed_logs(hall: Hall, table: int, *logs: str) -> Path:
    """A table whose card holds logs of an earlier day; its folder."""
    device = f"t{table:02}"
    folder = hall.folder / "tables" / device
    names = iter([*logs, f"{device}-c"])
    journal = Journal.open(folder, device, lambda: next(names))
    for log in logs:
        for n in range(3):
            journal.append("pause_started", boot="b", mono_ms=n, wall_ms=None, run=f"run-{log}")
        journal.begin_new_log()
    journal.close()
    return folder


def typed(hall: Hall, *words: str) -> str:
    """What `timer-hub` says to these words."""
    command = [sys.executable, "-P", "-m", "hub.cli", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=hall.folder).stdout


def closed(folder: Path) -> list[str]:
    """The logs of the earlier day; there is another one that is open."""
    return sorted(path.stem for path in folder.glob("*-[ab].journal"))


def test_tables_delete_closed_logs_once_an_archive_on_another_disk_holds_them(
    tmp_path: Path, card: Path
) -> None:
    stick, config = tmp_path, str(card / "hub.toml")
    with a_hall(card, tables=2, speed=60) as hall:
        hall.load(["1,1,1,e1,adulto,Participante 1", "1,1,2,e2,adulto,Participante 2"])
        here, late = with_closed_logs(hall, 1, "t01-a"), with_closed_logs(hall, 2, "t02-a", "t02-b")
        hall.start_hub()
        hall.start_tables()
        hall.until_screen(1, "Participante 1")
        started(hall, 1)
        finished(hall, 1)
        line = hall.until_line("e1", marks=[])
        wait_until(lambda: all(t["online"] and t["unsent"] == 0 for t in hall.table_lines()))
        hall.power(2, on=False)
        assert closed(here) == ["t01-a"]

        said = typed(hall, "archive", str(stick / "t.zip"), "--config", config)
        assert "tables may now delete" in said
        wait_until(lambda: closed(here) == [])
        assert closed(late) == ["t02-a", "t02-b"]
        hall.power(2, on=True)  # it was off when the hub said so
        wait_until(lambda: closed(late) == [])

        assert len(list(here.glob("*.journal"))) == 1, "the open one stays"

        hall.timers.stop()
        before = hall.lines()
        assert before["e1"] == line
        with zipfile.ZipFile(stick / "t.zip") as archive:
            names = archive.namelist()
        for log in ("t01-a", "t02-a", "t02-b"):
            assert [name for name in names if name.endswith(f"{log}.jsonl")], log
        table = json.loads(typed(hall, "score", str(stick / "t.zip"), str(stick / "t.zip")))
    (adults,) = (c["standings"] for c in table["categories"] if c["id"] == "adulto")
    assert {line["entrant"]: line | {"name": before[line["entrant"]]["name"]} for line in adults} == before
