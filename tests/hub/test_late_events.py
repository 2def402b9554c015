"""E07. Events that a hub had gone past without them, and that come after all; and the rulings of an archive."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.archive import rulebook_text, write_archive
from hub.cli import main
from hub.logs import UnreadableLog
from hub.projection import Projection
from hub.refill import refill
from hub.restore import restore
from hub.score import score
from hub.store import Store
from shared.core.events import Event, EventType, event_from_json
from shared.rulebook import shipped_rulebook
from tests.hub.test_refill import BOOK, VECTORS, journal, stored
from tests.hub.test_store import event, now_ms, sent, unreadable


def marks(path: Path) -> list[tuple[int, int]]:
    return [(e.seq, e.data["to"]) for e in stored(path) if e.type == EventType.RECORDS_MISSING]


def problems_of(events: list[Event]) -> list[str]:
    projection = Projection(shipped_rulebook(BOOK))
    for each in events:
        projection.apply(each)
    return [problem.code for problem in projection.tournament.problems]


def test_what_was_given_up_comes_in_from_the_whole_journal_and_is_missing_no_more(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    whole = [event(seq) for seq in range(1, 10)]
    bad = journal(tmp_path, *whole[:2], *whole[6:])
    refill([bad], path, now_ms, over_gaps=True)
    assert marks(path) == [(3, 6)]
    assert "records_missing" in problems_of(stored(path))
    (log,) = refill([journal(tmp_path, *whole)], path, now_ms).logs
    assert (log.new, log.late, log.known, log.stopped_at) == (4, 4, 5, None)
    assert sorted(e.seq for e in stored(path)) == list(range(1, 10))
    assert (marks(path), "records_missing" in problems_of(stored(path))) == ([], False)
    (log,) = refill([journal(tmp_path, *whole)], path, now_ms).logs
    assert (log.new, log.known) == (0, 9)


@pytest.mark.parametrize(
    ("found", "left"), [([2], [(3, 6)]), ([2, 3, 5], [(4, 6)]), ([5], [(2, 6)]), ([2, 3, 4, 5, 6], [])]
)
def test_a_mark_stands_on_the_first_seq_that_is_still_missing(
    tmp_path: Path, found: list[int], left: list[tuple[int, int]]
) -> None:
    path = tmp_path / "hub.sqlite3"
    refill([journal(tmp_path, event(1), event(2, kind="records_missing", to=6), event(7))], path, now_ms)
    (log,) = refill([journal(tmp_path, *(event(seq) for seq in found))], path, now_ms).logs
    assert (log.new, log.known) == (len(found), 0)
    assert marks(path) == left


def test_files_of_one_log_complete_one_another(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    holed = journal(tmp_path, event(1), event(2, kind="records_missing", to=4), event(5))
    other = tmp_path / "older"
    other.mkdir()
    refilled = refill([holed, journal(other, event(1), event(2), event(3))], path, now_ms)
    assert (refilled.logs[0].new, refilled.logs[0].stopped_at, refilled.problems) == (5, None, [])
    assert [e.seq for e in stored(path)] == [1, 2, 3, 4, 5]
    assert marks(path) == [(4, 4)]


def test_a_mark_that_begins_where_the_hub_has_events_takes_it_past_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    refill([journal(tmp_path, *(event(seq) for seq in (1, 2, 3)))], path, now_ms)
    holed = journal(tmp_path, event(1), event(2, kind="records_missing", to=6), event(7))
    (log,) = refill([holed], path, now_ms).logs
    assert (log.stopped_at, marks(path)) == (None, [(4, 6)])
    assert [e.seq for e in stored(path)] == [1, 2, 3, 4, 7]


def test_an_event_that_came_spoiled_over_the_wire_comes_in_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    store = Store.open(path, now_ms)
    store.append_batch([sent(event(1), unreadable(2), event(3))])
    store.close()
    (log,) = refill([journal(tmp_path, *(event(seq) for seq in (1, 2, 3, 4)))], path, now_ms).logs
    assert (log.new, log.late, log.known) == (2, 1, 2)


def test_over_the_wire_a_log_only_goes_on(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "hub.sqlite3", now_ms)
    store.append_batch([sent(event(1), event(2, kind="records_missing", to=4), event(5))])
    committed = store.append_batch([sent(event(3))])
    assert (committed.accepted, committed.duplicates) == ([], 1)
    store.close()


def test_nobody_fills_the_gaps_of_another_devices_log(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    refill([journal(tmp_path, event(1), event(2, kind="records_missing", to=4), event(5))], path, now_ms)
    (log,) = refill([journal(tmp_path, event(3, device="t02"))], path, now_ms).logs
    assert (log.new, marks(path)) == (0, [(2, 4)])


@pytest.mark.parametrize("name", ["torneo-02", "torneo-05", "torneo-07", "castrillo-03"])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_hub_that_got_the_rest_late_stands_as_one_that_was_fed_whole_logs(
    tmp_path_factory: pytest.TempPathFactory, name: str, seed: int
) -> None:
    chance, folder = random.Random(seed), tmp_path_factory.mktemp("late")
    lines = (VECTORS / f"{name}.jsonl").read_text().splitlines()
    events = [event_from_json(json.loads(line)) for line in lines if line]
    logs: dict[str, list[Event]] = {}
    for each in events:
        if each.device != "hub":
            logs.setdefault(each.log, []).append(each)
    bad = [e for log in logs.values() for e in log if chance.random() < 0.7 or e is log[-1]]
    whole = [journal(folder, *log) for log in logs.values()]
    spoiled = folder / "spoiled.jsonl"
    spoiled.write_text("".join(json.dumps(e.as_json()) + "\n" for e in bad))
    late, fresh = folder / "late" / "hub.sqlite3", folder / "fresh" / "hub.sqlite3"
    refill([spoiled], late, now_ms, over_gaps=True)
    refill(chance.sample(whole, len(whole)), late, now_ms)
    refill(whole, fresh, now_ms)
    assert standings_of(late) == standings_of(fresh)


def standings_of(path: Path) -> tuple[Any, Any]:
    """What the live view shows after a start, and what `timer-hub score` says of the same events."""
    projection = Projection(shipped_rulebook(BOOK))
    events = stored(path)
    for each in events:
        projection.apply(each)
    plain = path.with_suffix(".jsonl")
    plain.write_text("".join(json.dumps(e.as_json()) + "\n" for e in events))
    return projection.standings(), json.loads(score(shipped_rulebook(BOOK), [plain], None, "json").text)


def an_archive(folder: Path) -> tuple[Path, Path]:
    """A hub with a judge's rulings, archived; its database and the archive."""
    path = folder / "first" / "hub.sqlite3"
    path.parent.mkdir()
    store = Store.open(path, now_ms)
    store.append_batch([sent(event(1), event(2))])
    for seconds in (30, 60):
        data = {"seconds": seconds, "reason": "r", "by": "ana"}
        store.record(EventType.PENALTY_GIVEN, data, wall_ms=5, run="R")
    target = folder / "t.zip"
    write_archive(target, store, shipped_rulebook(BOOK), rulebook_text(BOOK))
    store.close()
    return path, target


def test_an_archive_brings_its_rulings_into_a_database_that_has_none_of_their_log(tmp_path: Path) -> None:
    first, target = an_archive(tmp_path)
    path = tmp_path / "hub.sqlite3"
    text = "\n".join(refill([target], path, now_ms).lines())
    assert "2 rulings brought in" in text
    assert {e.key for e in stored(path)} == {e.key for e in stored(first)}
    again = refill([target], path, now_ms)
    assert [(log.brought, log.rulings) for log in again.hub_logs] == [(False, 0)]
    assert len(stored(path)) == 4


def test_rulings_that_are_not_brought_in_are_told(tmp_path: Path) -> None:
    first, target = an_archive(tmp_path)
    older = tmp_path / "older.sqlite3"
    store = Store.open(older, now_ms)
    store.close()
    restored = tmp_path / "second" / "hub.sqlite3"
    restore(older, restored, now_ms)
    store = Store.open(restored, now_ms)
    hub_log = [e for e in stored(first) if e.device == "hub"]
    assert store.bring_hub_log(hub_log[0].log, hub_log[:1])
    store.close()
    text = "\n".join(refill([target], restored, now_ms).lines())
    assert "1 rulings were not brought in: this database has another version of this log" in text


def test_a_ruling_on_a_tables_card_is_not_brought_in(tmp_path: Path) -> None:
    first, _ = an_archive(tmp_path)
    path = tmp_path / "hub.sqlite3"
    card = journal(tmp_path, *(e for e in stored(first) if e.device == "hub"))
    refilled = refill([card, journal(tmp_path, event(1))], path, now_ms)
    assert "rulings come from archives and backups only" in "\n".join(refilled.lines())
    assert [e.device for e in stored(path)] == ["t01"]


def test_rulings_given_again_meanwhile_are_hinted_at(tmp_path: Path) -> None:
    _, target = an_archive(tmp_path)
    path = tmp_path / "hub.sqlite3"
    store = Store.open(path, now_ms)
    data = {"seconds": 30, "reason": "r", "by": "ana"}
    store.record(EventType.PENALTY_GIVEN, data, wall_ms=9, run="R")
    store.close()
    assert "ruled twice" in "\n".join(refill([target], path, now_ms).lines())


def test_a_file_that_is_no_journal_ends_the_command_with_an_error_and_the_others_are_taken(
    tmp_path: Path,
) -> None:
    toml = tmp_path / "hub.toml"
    toml.write_text(f'rulebook = "{BOOK}"\ndata_dir = "{tmp_path}"\n')
    csv = tmp_path / "plan.csv"
    csv.write_text("heat,order\n1,1\n2,2\n")
    told = CliRunner().invoke(main, ["refill", str(csv), "--config", str(toml)])
    assert (told.exit_code, (tmp_path / "hub.sqlite3").exists()) == (1, False)
    assert "there is no event in" in told.output
    good = journal(tmp_path, event(1))
    told = CliRunner().invoke(main, ["refill", str(csv), str(good), "--config", str(toml)])
    assert (told.exit_code, len(stored(tmp_path / "hub.sqlite3"))) == (1, 1)
    assert f"nothing in {csv} is an event" in told.output
    assert told.output.count("unreadable_event") == 0


def test_no_event_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "new.journal").touch()
    with pytest.raises(UnreadableLog, match="there is no event"):
        refill([tmp_path / "new.journal"], tmp_path / "hub.sqlite3", now_ms)


def test_two_hundred_logs_of_one_table_are_taken_and_read_back_from_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "hub.sqlite3"
    files = [journal(tmp_path, *(event(seq, f"L{n}") for seq in (1, 2, 3))) for n in range(200)]
    refilled = refill(files, path, now_ms)
    assert sum(log.new for log in refilled.logs) == 600
    store = Store.open(path, now_ms)
    write_archive(tmp_path / "t.zip", store, shipped_rulebook(BOOK), rulebook_text(BOOK))
    store.close()
    again = refill([tmp_path / "t.zip"], tmp_path / "again.sqlite3", now_ms)
    assert (len(again.logs), sum(log.new for log in again.logs)) == (200, 600)


def test_no_archive_is_written_onto_a_device(tmp_path: Path) -> None:
    toml = tmp_path / "hub.toml"
    toml.write_text(f'rulebook = "{BOOK}"\ndata_dir = "{tmp_path}"\n')
    refill([journal(tmp_path, event(1))], tmp_path / "hub.sqlite3", now_ms)
    told = CliRunner().invoke(main, ["archive", "/dev/full", "--config", str(toml)])
    assert (told.exit_code, Path("/dev/full").is_file()) == (1, False)
    assert "is a device: name a file" in told.output
    told = CliRunner().invoke(main, ["archive", str(tmp_path / "t.zip"), "--config", str(toml)])
    assert (told.exit_code, "on the hub's own disk" in told.output) == (0, True)
