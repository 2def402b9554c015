"""A backup onto a stick while the hub works, a stick that is pulled or full, a reader that never ends."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from hub.backup import back_up, damage_of
from hub.cli import main
from hub.store import Store
from hub.view import View
from shared.core.events import Event, EventType
from shared.rulebook import shipped_rulebook
from tests.hub.test_store import event, sent

BOOK = "castrillo-2023"
RESULTS = 100
MOST_SIDE_BYTES = 16_000_000


def now_ms() -> int:
    return 1_777_000_000_000


def typed(*words: object) -> str:
    """What a command says; it must succeed."""
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def settings(folder: Path) -> Path:
    """A hub of its own."""
    folder.mkdir()
    path = folder / "hub.toml"
    path.write_text(f'rulebook = "{BOOK}"\ndata_dir = "{folder}"\n')
    return path


def results() -> Iterator[Event]:
    """So many finished runs, each of a table of its own."""
    for n in range(1, RESULTS + 1):
        begun = {"entrant": f"e{n}", "category": "adulto", "table": n}
        acts = [
            (EventType.RUN_STARTED, 0, begun),
            (EventType.RUN_FINISHED, 2_000_000 + n * 1_000, {}),
            (EventType.FINISH_ACCEPTED, 2_001_000 + n * 1_000, {}),
        ]
        for seq, (kind, mono_ms, data) in enumerate(acts, start=1):
            device, log, run = f"t{n:03}", f"L{n:03}", f"R{n}"
            yield Event(device, log, seq, kind, boot="B", mono_ms=mono_ms, run=run, data=data)


def standings(path: Path) -> dict[str, Any]:
    """Revision and all lines, as a hub on this database tells them."""
    store = Store.open(path, now_ms)
    view = View(shipped_rulebook(BOOK), hand=lambda: 0.0, wall=now_ms)
    view.apply(list(store.events_in_order()))
    store.close()
    return view.standings()


def test_a_backup_of_a_hundred_results_that_are_only_in_the_log_is_the_same_tournament(
    tmp_path: Path,
) -> None:
    """E04: while the hub has it open; a copy of the main file would lack them all."""
    here, spare = settings(tmp_path / "here"), settings(tmp_path / "spare")
    (tmp_path / "usb").mkdir()
    database = tmp_path / "here" / "hub.sqlite3"
    hub = Store.open(database, now_ms)
    hub.append_batch([sent(found, device=found.device) for found in results()])
    plain = tmp_path / "copy.sqlite3"
    plain.write_bytes(database.read_bytes())
    assert damage_of(plain) is not None, "there is something to lose"

    typed("backup", tmp_path / "usb", "--config", here)
    (made,) = (tmp_path / "usb").iterdir()
    typed("restore", made, "--config", spare)
    hub.close()
    before, after = standings(database), standings(tmp_path / "spare" / "hub.sqlite3")
    assert before == after
    assert before["revision"] == 3 * RESULTS
    (adults,) = (c["standings"] for c in before["categories"] if c["id"] == "adulto")
    assert [line["rank"] for line in adults] == list(range(1, RESULTS + 1))
    connection = sqlite3.connect(tmp_path / "spare" / "hub.sqlite3")
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    connection.close()


_ON_A_FULL_STICK = """
import resource, signal, sys
from pathlib import Path
from typing import Any
from hub.backup import BackupFailed, back_up
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))  # the stick ends in the middle of the copy
try:
    back_up(Path(sys.argv[1]), Path(sys.argv[2]))
except BackupFailed as error:
    print(error)
"""


def test_a_stick_that_ends_in_the_middle_of_a_backup_keeps_the_one_before(tmp_path: Path) -> None:
    """E04."""
    database, target = tmp_path / "hub.sqlite3", tmp_path / "stick.sqlite3"
    hub = Store.open(database, now_ms)
    hub.append_batch([sent(event(1))])
    back_up(database, target)
    whole = target.read_bytes()
    hub.append_batch([sent(*(event(seq) for seq in range(2, 2_000)))])
    command = [sys.executable, "-c", _ON_A_FULL_STICK, str(database), str(target)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    hub.close()
    assert "stick.sqlite3" in said.stdout
    assert target.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.glob("stick*")) == ["stick.sqlite3"]


def test_a_reader_that_never_ends_does_not_let_the_side_file_grow(tmp_path: Path) -> None:
    """E06: what a page reads it reads in pieces; no piece holds the database for longer than it takes."""
    database = tmp_path / "hub.sqlite3"
    hub = Store.open(database, now_ms)
    hub.append_batch([sent(event(1))])
    readers = [hub.events_in_order() for _ in range(5)]
    for reader in readers:
        assert next(reader).seq == 1
    side = database.with_name("hub.sqlite3-wal")
    for first in range(2, 40_000, 1_000):
        hub.append_batch([sent(*(event(seq, text="x" * 300) for seq in range(first, first + 1_000)))])
        assert side.stat().st_size < MOST_SIDE_BYTES
    assert all(next(reader).seq == 2 for reader in readers)
    hub.close()
