"""Backups of a hub's database: whole beside a writer, checked, numbered, few; and what takes their place."""

from __future__ import annotations

import queue
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from hub.backup import BackupFailed, back_up, backups_in, backups_of, damage_of, keep_backup, newest_good
from hub.backup_keeper import BackupKeeper
from hub.hub_lock import HubLock
from hub.rescue import commands_for, flaw_of
from hub.restore import newest_usable, restore, unusable
from hub.store import PlanRow, Store, StoreDamaged
from hub.store_schema import MIGRATIONS, StoreUnusable
from shared.core.events import Event, EventType
from tests.hub.test_store import event, sent
from tests.waiting import GENEROUS_S, wait_until


def now_ms() -> int:
    return 1_777_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.sqlite3"


def filled(path: Path, count: int) -> Store:
    store = Store.open(path, now_ms)
    store.append_batch([sent(event(seq)) for seq in range(1, count + 1)])
    return store


def events_in(path: Path) -> int:
    connection = sqlite3.connect(path)
    count: int = connection.execute("select count(*) from events").fetchone()[0]
    connection.close()
    return count


def spoil(path: Path) -> None:
    """What a failing disk does: pages in the middle are something else."""
    raw = bytearray(path.read_bytes())
    raw[4096 : len(raw) - 512] = b"\x5a" * (len(raw) - 512 - 4096)
    path.write_bytes(raw)


def test_a_backup_beside_an_open_hub_has_what_is_only_in_the_write_ahead_log(
    path: Path, tmp_path: Path
) -> None:
    """E04."""
    store = filled(path, 100)
    plain = tmp_path / "plain.sqlite3"
    plain.write_bytes(path.read_bytes())
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        events_in(plain)  # the copy of the main file opens fine and has nothing
    back_up(path, tmp_path / "stick.sqlite3")
    assert events_in(tmp_path / "stick.sqlite3") == 100
    assert damage_of(tmp_path / "stick.sqlite3") is None
    assert sorted(p.name for p in tmp_path.iterdir() if "stick" in p.name) == ["stick.sqlite3"]
    store.close()


def test_a_backup_that_cannot_be_finished_leaves_the_one_before_it_whole(path: Path, tmp_path: Path) -> None:
    store = filled(path, 3)
    target = tmp_path / "stick.sqlite3"
    back_up(path, target)
    (tmp_path / "stick.sqlite3.part").mkdir()  # nothing can be written there
    with pytest.raises(BackupFailed):
        back_up(path, target)
    assert events_in(target) == 3
    store.close()


def test_backups_are_numbered_whatever_the_wall_clock_says_and_only_the_newest_stay(path: Path) -> None:
    store = filled(path, 1)
    clock = iter([3_000, 2_000, 1_000, 0])
    for why in ("Heat 1", "by the clock", "../../etc", "Heat 2"):
        keep_backup(path, why, lambda: next(clock), kept=3)
    names = [p.name for p in backups_in(backups_of(path))]
    assert names == [
        "000002-1970-01-01T00-00-02Z-by-the-clock.sqlite3",
        "000003-1970-01-01T00-00-01Z-etc.sqlite3",
        "000004-1970-01-01T00-00-00Z-heat-2.sqlite3",
    ]
    store.close()


def test_the_newest_good_backup_is_the_newest_that_is_whole(path: Path) -> None:
    store = filled(path, 200)
    good, bad = keep_backup(path, "a", now_ms), keep_backup(path, "b", now_ms)
    spoil(bad)
    assert newest_good(backups_of(path)) == good
    assert damage_of(bad) is not None
    store.close()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\0" * 84])
def test_a_file_that_is_no_hubs_database_is_no_backup(path: Path, tmp_path: Path, content: bytes) -> None:
    source = tmp_path / "source"
    source.write_bytes(content)
    assert damage_of(source) is not None
    with pytest.raises(BackupFailed, match="source"):
        restore(source, path, now_ms)
    assert not path.exists()


def test_a_restored_database_has_the_backups_content_and_a_new_epoch(path: Path) -> None:
    store = filled(path, 5)
    store.replace_plan([PlanRow("h1", 1, 1, "ana", "adultos", "Ana")])
    backup = keep_backup(path, "x", now_ms)
    store.append_batch([sent(event(6))])
    store.close()
    done = restore(backup, path, now_ms)
    assert (done.events, done.planned) == (5, 1)
    assert done.aside is not None
    assert events_in(done.aside / path.name) == 6
    again = Store.open(path, now_ms)
    assert again.epoch != store.epoch
    [deed, *_] = again.audit.deeds(None, 1)
    assert (deed.by, deed.deed, deed.about) == ("timer-hub restore", "restored", backup.name)
    assert again.append_batch([sent(event(6))]).accepted == [event(6)]
    again.close()


def test_nothing_is_restored_under_a_running_hub(path: Path) -> None:
    filled(path, 1).close()
    backup = keep_backup(path, "x", now_ms)
    lock = HubLock(path)
    with pytest.raises(StoreUnusable, match="another hub runs"):
        restore(backup, path, now_ms)
    lock.release()


def test_only_the_last_three_replaced_databases_are_kept(path: Path) -> None:
    filled(path, 1).close()
    backup = keep_backup(path, "x", now_ms)
    for _ in range(5):
        restore(backup, path, now_ms)
    assert [p.name for p in sorted(path.parent.glob("replaced-*"))] == [
        f"replaced-00000{n}" for n in (3, 4, 5)
    ]


def test_a_database_of_an_older_hub_is_backed_up_before_it_is_changed(path: Path) -> None:
    """E04."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    Store.open(path, now_ms).close()
    (backup,) = backups_in(backups_of(path))
    assert "before-0001-changes" in backup.name
    old = sqlite3.connect(backup)
    assert old.execute("select version_num from alembic_version").fetchone() == ("0001",)
    old.close()
    Store.open(path, now_ms).close()
    assert len(backups_in(backups_of(path))) == 1


def made_by_a_newer_hub(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("update alembic_version set version_num = '9999'")
    connection.commit()
    connection.close()


def test_a_database_of_a_newer_hub_is_told_without_a_backup_that_pushes_out_others(path: Path) -> None:
    filled(path, 1).close()
    good = keep_backup(path, "heat 1", now_ms)
    made_by_a_newer_hub(path)
    for _ in range(40):
        with pytest.raises(StoreUnusable, match="made by another version"):
            Store.open(path, now_ms)
    assert backups_in(backups_of(path)) == [good]


def test_of_backups_before_an_update_only_three_stay_and_they_push_out_no_others(path: Path) -> None:
    filled(path, 1).close()
    heats = [keep_backup(path, f"heat {n}", now_ms, kept=4) for n in range(4)]
    before = [keep_backup(path, "before 0001 changes", now_ms, kept=4) for _ in range(9)]
    assert backups_in(backups_of(path)) == [*heats, *before[-3:]]


def test_a_backup_of_a_newer_hub_is_left_out_and_refused_by_name(path: Path) -> None:
    filled(path, 1).close()
    good, newer = keep_backup(path, "heat 1", now_ms), keep_backup(path, "heat 2", now_ms)
    made_by_a_newer_hub(newer)
    assert newest_usable(path) == good
    assert unusable(path) == [newer]
    there = sorted(path.parent.iterdir())
    with pytest.raises(BackupFailed, match=f"{newer} was made by another version .*9999"):
        restore(newer, path, now_ms)
    assert sorted(path.parent.iterdir()) == there


def test_what_a_hub_with_a_damaged_database_tells_to_type_works_for_whoever_may_not_read_its_settings(
    path: Path, tmp_path: Path
) -> None:
    filled(path, 1).close()
    good, newer = keep_backup(path, "heat 1", now_ms), keep_backup(path, "heat 2", now_ms)
    made_by_a_newer_hub(newer)
    settings = tmp_path / "hub.toml"
    settings.write_text("")
    for mode, sudo in ((0o644, ""), (0o640, "sudo ")):
        settings.chmod(mode)
        assert commands_for(path, settings)[0] == f"{sudo}timer-hub restore {good} --config {settings}"


def test_a_damaged_database_is_told_from_one_that_is_new_locked_or_whole(path: Path) -> None:
    """E07."""
    assert damage_of(path, at_start=True) is None
    path.write_bytes(b"")
    assert damage_of(path, at_start=True) is None
    filled(path, 300).close()
    assert damage_of(path, at_start=True) is None
    spoil(path)
    assert damage_of(path, at_start=True) is not None


def test_an_event_that_a_failing_disk_has_changed_is_damage_and_no_traceback(path: Path) -> None:
    store = filled(path, 3)
    with sqlite3.connect(path) as connection:
        connection.execute("update events set payload = substr(payload, 5) where seq = 2")
    connection.close()
    with pytest.raises(StoreDamaged, match="event 2 is damaged"):
        list(store.events_in_order())
    store.close()


def started(heat: str, seq: int) -> Event:
    return Event(
        "t01", "L", seq, EventType.RUN_STARTED, boot="B", mono_ms=seq, run=f"R{seq}", data={"heat": heat}
    )


Keep = Callable[..., BackupKeeper]


def keeper(path: Path, every_s: float = 600.0) -> tuple[BackupKeeper, queue.SimpleQueue[BaseException]]:
    died: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
    return BackupKeeper(path, died.put, every_s=every_s, wall=now_ms), died


def test_the_hub_backs_itself_up_when_a_heat_begins_and_not_at_its_other_starts(path: Path) -> None:
    store = filled(path, 1)
    keeping, died = keeper(path)
    keeping.knows([started("1", 1)])
    keeping.start()
    keeping.saw([started("1", 2)])
    keeping.saw([started("2", 3), started("2", 4)])
    wait_until(lambda: keeping.made == 1)
    keeping.saw([started("2", 5)])
    keeping.saw([started("3", 6)])
    wait_until(lambda: keeping.made == 2)
    keeping.stop()
    assert [p.name.rpartition("Z-")[2] for p in backups_in(backups_of(path))] == [
        "heat-2.sqlite3",
        "heat-3.sqlite3",
    ]
    assert died.empty()
    store.close()


def test_the_hub_backs_itself_up_by_the_clock_only_when_something_came(path: Path) -> None:
    store = filled(path, 1)
    keeping, _ = keeper(path, every_s=0.05)
    keeping.start()
    keeping.saw([event(2)])
    wait_until(lambda: keeping.made == 1)
    keeping.saw([event(3)])
    wait_until(lambda: keeping.made == 2)
    keeping.stop()
    assert len(backups_in(backups_of(path))) == 2
    store.close()


def test_a_backup_that_fails_is_told_and_tried_again(path: Path) -> None:
    store = filled(path, 1)
    backups_of(path).write_bytes(b"in the way")
    keeping, died = keeper(path, every_s=0.05)
    keeping.start()
    keeping.saw([started("1", 2)])
    wait_until(lambda: keeping.trouble)
    assert "no backup" in keeping.trouble
    assert keeping.code == "failing"
    backups_of(path).unlink()
    wait_until(lambda: keeping.made == 1, GENEROUS_S)
    assert (keeping.trouble, keeping.code) == ("", "ok")
    keeping.stop()
    assert died.empty()
    store.close()


def test_a_database_on_a_disk_that_cannot_be_read_is_not_called_damaged(path: Path) -> None:
    path.mkdir()
    assert damage_of(path, at_start=True) is None


def gone(path: Path, how: str) -> Path:
    """A hub with a backup whose database is missing, empty, or has nothing in it; the backup."""
    filled(path, 3).close()
    good = keep_backup(path, "good", now_ms)
    path.unlink()
    if how == "emptied":
        path.touch()
    elif how == "without tables":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 1")
        connection.close()
    return good


@pytest.mark.parametrize("how", ["missing", "emptied", "without tables"])
def test_a_database_that_is_gone_beside_its_backups_is_not_begun_anew_without_a_word(
    path: Path, how: str
) -> None:
    """E07."""
    good = gone(path, how)
    assert "1 backups of it" in (flaw_of(path) or "")
    restored, anew, _ = commands_for(path, Path("hub.toml"))
    assert restored == f"timer-hub restore {good} --config hub.toml"
    assert anew.startswith(f"mv {backups_of(path)} {backups_of(path)}-old")
    with pytest.raises(StoreUnusable, match="timer-hub restore"):
        Store.open(path, now_ms)
    restore(good, path, now_ms)
    assert (flaw_of(path), events_in(path)) == (None, 3)


def test_moving_the_backups_away_says_that_a_new_hub_is_meant(path: Path) -> None:
    gone(path, "emptied")
    backups_of(path).rename(backups_of(path).with_name("backups-old"))
    assert flaw_of(path) is None
    Store.open(path, now_ms).close()


def test_a_first_start_in_an_empty_folder_needs_no_word(path: Path) -> None:
    assert flaw_of(path) is None
    backups_of(path).mkdir()
    assert flaw_of(path) is None
    Store.open(path, now_ms).close()


@pytest.mark.parametrize("name", ["/dev/full", "/dev/null", "/dev/shm/any.sqlite3", "/proc/any.sqlite3"])
def test_no_backup_is_written_onto_a_device_or_where_there_is_no_disk(path: Path, name: str) -> None:
    filled(path, 1).close()
    with pytest.raises(BackupFailed, match="name a file"):
        back_up(path, Path(name))
    assert not Path(name).is_file()


def test_no_backup_takes_the_place_of_a_folder(path: Path, tmp_path: Path) -> None:
    filled(path, 1).close()
    (tmp_path / "stick").mkdir()
    with pytest.raises(BackupFailed, match="is a folder"):
        back_up(path, tmp_path / "stick")
