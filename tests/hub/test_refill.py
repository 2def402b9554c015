"""The hub from the tables' journals, and the archive that can be scored years later."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from hub.archive import rulebook_text, write_archive
from hub.arrivals import Cursor
from hub.cli import main
from hub.hub_lock import HubLock
from hub.refill import refill
from hub.score import score
from hub.store import PlanRow, Store
from hub.store_schema import StoreUnusable
from shared.core.events import Event, event_from_json
from shared.rulebook import shipped_rulebook
from tests.hub.test_store import event, now_ms, sent

VECTORS = Path(__file__).parent.parent / "vectors"
BOOK = "torneo-puzzles-2026"


def journal(folder: Path, *events: Event) -> Path:
    """A table's journal file, as it lies on its card."""
    path = folder / f"{events[0].log}.journal"
    lines = [json.dumps(e.as_json()).encode() for e in events]
    path.write_bytes(b"".join(f"{zlib.crc32(line):08x} ".encode() + line + b"\n" for line in lines))
    return path


def stored(path: Path) -> list[Event]:
    store = Store.open(path, now_ms)
    events = list(store.events_in_order())
    store.close()
    return events


def test_an_empty_hub_is_filled_from_journals_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    files = [
        journal(tmp_path, *(event(seq) for seq in range(1, 1_201))),
        journal(tmp_path, *(event(seq, "M", "t02") for seq in (1, 2))),
    ]
    first, second = refill(files, path, now_ms), refill(files, path, now_ms)
    assert [(x.device, x.log, x.new, x.known) for x in first.logs] == [
        ("t01", "L", 1200, 0),
        ("t02", "M", 2, 0),
    ]
    assert [(x.new, x.known) for x in second.logs] == [(0, 1200), (0, 2)]
    assert len(stored(path)) == 1_202


def test_a_journal_goes_on_where_the_hub_stopped(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    store = Store.open(path, now_ms)
    store.append_batch([sent(event(1), event(2))])
    store.close()
    refill([journal(tmp_path, *(event(seq) for seq in range(1, 5)))], path, now_ms)
    assert [e.seq for e in stored(path)] == [1, 2, 3, 4]
    store = Store.open(path, now_ms)
    [deed] = store.audit.deeds(None, 9)
    store.close()
    assert (deed.by, deed.deed, deed.about) == ("timer-hub refill", "refilled", "L.journal")
    assert deed.became == "2"


def test_behind_a_hole_nothing_is_taken_unless_it_is_known_that_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    file = journal(tmp_path, event(1), event(4), event(5))
    (log,) = refill([file], path, now_ms).logs
    assert (log.new, log.stopped_at) == (1, 2)
    (log,) = refill([file], path, now_ms, over_gaps=True).logs
    assert (log.new, log.stopped_at) == (3, None)
    assert [(e.seq, str(e.type)) for e in stored(path)][1] == (2, "records_missing")
    store = Store.open(path, now_ms)
    assert store.cursors() == [Cursor("t01", "L", 5)]
    store.close()


def test_the_report_says_what_only_a_backup_can_bring_back(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    text = "\n".join(refill([journal(tmp_path, event(1))], path, now_ms).lines())
    assert "Only a backup" in text
    for word in ("rulings", "plan: none here", "seats: none here", "logins"):
        assert word in text


def test_a_damaged_line_is_told(tmp_path: Path) -> None:
    file = journal(tmp_path, event(1), event(2), event(3))
    file.write_bytes(file.read_bytes().replace(b'"seq": 2', b'"seq": 9'))
    refilled = refill([file], tmp_path / "hub.sqlite3", now_ms)
    assert [p.code for p in refilled.problems] == ["unreadable_event"]
    assert refilled.logs[0].stopped_at == 2


def test_nothing_is_filled_in_under_a_running_hub(tmp_path: Path) -> None:
    lock = HubLock(tmp_path / "hub.sqlite3")
    with pytest.raises(StoreUnusable, match="another hub runs"):
        refill([journal(tmp_path, event(1))], tmp_path / "hub.sqlite3", now_ms)
    lock.release()


def archived(folder: Path, name: str) -> tuple[Path, list[Path]]:
    """A hub that has a worked example's log, archived; the archive, and the example."""
    logs = sorted(VECTORS.glob(f"{name}.jsonl"))
    events = [
        event_from_json(json.loads(line)) for log in logs for line in log.read_text().splitlines() if line
    ]
    store = Store.open(folder / "hub.sqlite3", now_ms)
    store.append_batch([sent(found, device=found.device) for found in events if found.device != "hub"])
    store.replace_plan([PlanRow("1", 1, 1, "e1", "adulto", "=Ñandú, «Ana»", "resident")])
    target = folder / "t.zip"
    write_archive(target, store, shipped_rulebook(BOOK), rulebook_text(BOOK))
    store.close()
    return target, logs


@pytest.mark.parametrize("name", [f"torneo-0{n}" for n in range(1, 9)])
def test_an_archive_scores_as_the_logs_it_was_made_from(tmp_path: Path, name: str) -> None:
    target, _ = archived(tmp_path, name)
    store = Store.open(tmp_path / "hub.sqlite3", now_ms)
    events = list(store.events_in_order())
    store.close()
    plain = tmp_path / "all.jsonl"
    plain.write_text("".join(json.dumps(e.as_json()) + "\n" for e in events))
    book = shipped_rulebook(BOOK)
    assert score(book, [target], None, "json").text == score(book, [plain], None, "json").text
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        assert archive.read("standings.json").decode() == score(book, [plain], None, "json").text
        assert "Ñandú" in archive.read("plan.csv").decode()
    assert {"README.txt", "rulebook.toml", "plan.csv", "standings.json"} < set(names)


def test_the_archive_is_scored_with_its_own_rules_and_its_unpacked_files_too(tmp_path: Path) -> None:
    target, _ = archived(tmp_path, "torneo-01")
    run = CliRunner()
    packed = run.invoke(main, ["score", str(target), str(target)])
    assert packed.exit_code == 0, packed.output
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "out")
    files = [str(p) for p in sorted((tmp_path / "out" / "logs").iterdir())]
    plan = ["--plan", str(tmp_path / "out" / "plan.csv")]
    unpacked = run.invoke(main, ["score", str(tmp_path / "out" / "rulebook.toml"), *files, *plan])
    assert unpacked.exit_code == 0, unpacked.output
    assert packed.stdout == unpacked.stdout


def test_a_damaged_archive_is_told_in_one_sentence(tmp_path: Path) -> None:
    target, _ = archived(tmp_path, "torneo-01")
    with zipfile.ZipFile(target) as archive:
        starts = {info.filename: info.header_offset for info in archive.infolist()}
    for name in ("rulebook.toml", "plan.csv", next(n for n in starts if n.startswith("logs/"))):
        raw = bytearray(target.read_bytes())
        raw[starts[name] + 60 : starts[name] + 90] = bytes(30)
        spoiled = tmp_path / "spoiled.zip"
        spoiled.write_bytes(raw)
        told = CliRunner().invoke(main, ["score", str(spoiled), str(spoiled)])
        assert told.exit_code == 1, name
        assert isinstance(told.exception, SystemExit), name
        assert "damaged" in told.output, name
