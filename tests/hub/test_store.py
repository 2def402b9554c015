"""The hub's database on a real SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine

from hub.arrivals import Cursor, Incoming
from hub.store import PlanRow, Store, StoreTrouble
from hub.store_schema import StoreUnusable, metadata
from shared.core.events import BadEvent, Event, EventType
from shared.wire import MAX_PAYLOAD, Ack, Unreadable


def now_ms() -> int:
    return 1_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "100% hub?.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store.open(path, now_ms)
    yield opened
    opened.close()


def event(seq: int, log: str = "L", device: str = "t01", kind: str = "pause_started", **data: Any) -> Event:
    run = None if kind == "records_missing" else "R"
    return Event(device, log, seq, EventType(kind), boot="B", mono_ms=seq, run=run, data=data)


def sent(*items: Event | Unreadable, device: str = "t01") -> Incoming:
    return Incoming(f"puzzle/1/{device}/up/event", device, items)


def unreadable(seq: int | None, log: str | None = "L") -> Unreadable:
    return Unreadable("spoiled", b"bytes", log, seq)


def test_events_in_order_are_committed_and_acknowledged(store: Store) -> None:
    committed = store.append_batch([sent(event(1), event(2)), sent(event(3))])
    assert committed.accepted == [event(1), event(2), event(3)]
    assert committed.acks == [("t01", Ack("L", 3, store.epoch))]
    assert (committed.duplicates, committed.gaps, committed.quarantined) == (0, 0, 0)
    assert store.cursors() == [Cursor("t01", "L", 3)]


def test_a_duplicate_is_acknowledged_again_and_stored_once(store: Store) -> None:
    store.append_batch([sent(event(1), event(2))])
    committed = store.append_batch([sent(event(1), event(2))])
    assert (committed.accepted, committed.duplicates) == ([], 2)
    assert committed.acks == [("t01", Ack("L", 2, store.epoch))]
    assert list(store.events_in_order()) == [event(1), event(2)]


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ([], [3], [(0, True)]),
        ([1], [3, 4], [(1, True)]),
        ([1], [2, 4], [(2, False), (2, True)]),
        ([1], [1, 3], [(1, False), (1, True)]),
        ([1], [3, 2], [(2, False), (2, True)]),
    ],
)
def test_a_gap_is_not_stored_and_asked_for(
    store: Store, first: list[int], then: list[int], told: list[tuple[int, bool]]
) -> None:
    store.append_batch([sent(event(seq)) for seq in first])
    committed = store.append_batch([sent(event(seq)) for seq in then])
    assert [(ack.seq, ack.gap) for _, ack in committed.acks] == told
    stored = [e.seq for e in store.events_in_order()]
    assert stored == list(range(1, len(stored) + 1))


def test_a_spoiled_event_that_is_next_moves_the_cursor_so_that_delivery_goes_on(store: Store) -> None:
    committed = store.append_batch([sent(event(1), unreadable(2), event(3))])
    assert (committed.accepted, committed.quarantined) == ([event(1), event(3)], 1)
    assert committed.acks == [("t01", Ack("L", 3, store.epoch))]
    assert store.quarantine_count() == 1


def test_a_spoiled_event_out_of_its_turn_waits_like_any_other(store: Store) -> None:
    committed = store.append_batch([sent(unreadable(2))])
    assert (committed.quarantined, committed.gaps) == (0, 1)


def test_what_names_no_event_is_kept_aside_once_however_often_it_comes(store: Store) -> None:
    for _ in range(3):
        committed = store.append_batch([sent(unreadable(None)), sent(unreadable(3, None))])
        assert (committed.acks, committed.quarantined) == ([], 2)
    assert store.quarantine_count() == 2


def test_quarantine_keeps_at_most_a_payload(store: Store, path: Path) -> None:
    store.append_batch([sent(Unreadable("too large", b"x" * 1_000_000))])
    with sqlite3.connect(path) as connection:
        row = connection.execute("select received_ms, device, reason, length(payload) from quarantine")
        assert row.fetchall() == [(1_000, "t01", "too large", MAX_PAYLOAD)]
    connection.close()


def test_records_missing_move_the_cursor_to_their_end(store: Store) -> None:
    missing = event(1, kind="records_missing", to=7)
    committed = store.append_batch([sent(missing, event(8))])
    assert committed.accepted == [missing, event(8)]
    assert store.cursors() == [Cursor("t01", "L", 8)]


def test_records_missing_that_end_before_they_begin_are_kept_aside(store: Store) -> None:
    committed = store.append_batch([sent(event(1), event(2, kind="records_missing", to=1), event(3))])
    assert (committed.accepted, committed.quarantined) == ([event(1), event(3)], 1)


def test_an_event_on_the_topic_of_another_device_takes_no_log_away(store: Store) -> None:
    committed = store.append_batch([sent(event(1), device="t02")])
    assert (committed.accepted, committed.acks, committed.quarantined) == ([], [], 1)
    assert store.append_batch([sent(event(1))]).accepted == [event(1)]
    committed = store.append_batch([sent(event(2, device="t02"), device="t02")])
    assert (committed.accepted, committed.acks, committed.quarantined) == ([], [], 1)
    assert store.cursors() == [Cursor("t01", "L", 1)]


def test_an_event_of_another_device_in_the_midst_of_a_log_does_not_stop_it(store: Store) -> None:
    committed = store.append_batch([sent(event(1), event(2, device="t09"), event(3))])
    assert (committed.accepted, committed.quarantined) == ([event(1), event(3)], 1)


def test_a_device_cannot_write_the_hubs_own_log(store: Store) -> None:
    forged = event(1, log=store.hub_log)
    assert store.append_batch([sent(forged)]).quarantined == 1
    assert store.cursors() == []


def test_the_hubs_own_events_follow_one_another(store: Store) -> None:
    data = {"seconds": 60, "reason": "r", "by": "ana"}
    first = store.record(EventType.PENALTY_GIVEN, data, wall_ms=5, run="R")
    second = store.record(EventType.PENALTY_GIVEN, data, wall_ms=6, run="R")
    assert (first.log, first.seq, second.seq) == (store.hub_log, 1, 2)
    assert list(store.events_in_order()) == [first, second]
    with pytest.raises(BadEvent, match="reason"):
        store.record(EventType.PENALTY_GIVEN, {"seconds": 60}, wall_ms=7, run="R")
    assert store.record(EventType.PENALTY_GIVEN, data, wall_ms=8, run="R").seq == 3


def test_a_new_epoch_begins_a_new_hub_log(store: Store) -> None:
    data = {"reason": "r", "by": "ana"}
    old = store.record(EventType.RUN_VOIDED, data, wall_ms=5, run="R")
    epoch = store.renew_epoch()
    new = store.record(EventType.RUN_VOIDED, data, wall_ms=5, run="R")
    assert (new.log, new.seq) == (f"hub-{epoch}", 1)
    assert new.log != old.log


def test_everything_is_there_after_a_restart(store: Store, path: Path) -> None:
    store.append_batch([sent(event(1)), sent(event(1, "M", "t02"), device="t02"), sent(event(2))])
    store.set_seat(7, "t01")
    store.close()
    again = Store.open(path, now_ms)
    assert again.epoch == store.epoch
    assert list(again.events_in_order()) == [event(1), event(1, "M", "t02"), event(2)]
    assert again.cursors() == [Cursor("t02", "M", 1), Cursor("t01", "L", 2)]
    assert again.seats() == {7: "t01"}
    again.close()


def test_a_replay_takes_more_events_than_a_page_in_order(store: Store) -> None:
    count = 2_500
    store.append_batch([sent(event(seq)) for seq in range(1, count + 1)])
    assert [e.seq for e in store.events_in_order()] == list(range(1, count + 1))


def test_an_event_of_a_kind_not_known_yet_is_kept_as_it_came(store: Store) -> None:
    future = Event("t01", "L", 1, "juggled", boot="B", mono_ms=1, data={"balls": [3, {"colour": "ñ"}]})
    store.append_batch([sent(future)])
    assert list(store.events_in_order()) == [future]


STREAM = st.lists(st.tuples(st.integers(1, 8), st.booleans(), st.sampled_from("LM")), max_size=40)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STREAM, max_size=5))
def test_however_a_log_arrives_it_is_stored_as_a_prefix_of_itself(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[int, bool, str]]]
) -> None:
    store = Store.open(tmp_path_factory.mktemp("store") / "hub.db", now_ms)
    spoiled: set[tuple[str, int]] = set()
    for batch in batches:
        items = [event(seq, log) if good else unreadable(seq, log) for seq, good, log in batch]
        before = {c.log: c.last_seq for c in store.cursors()}
        committed = store.append_batch([sent(item) for item in items])
        after = {c.log: c.last_seq for c in store.cursors()}
        taken = {e.key for e in committed.accepted}
        for log, last in after.items():
            fresh = {(log, seq) for seq in range(before.get(log, 0) + 1, last + 1)}
            spoiled |= fresh - taken
        assert all(ack.seq == after.get(ack.log, 0) for _, ack in committed.acks)
    for cursor in store.cursors():
        seqs = [e.seq for e in store.events_in_order() if e.log == cursor.log]
        wanted = [n for n in range(1, cursor.last_seq + 1) if (cursor.log, n) not in spoiled]
        assert seqs == wanted
    store.close()


def test_a_locked_database_is_trouble_that_passes(store: Store, path: Path) -> None:
    impatient = Store.open(path, now_ms, busy_ms=20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreTrouble, match="locked"):
        impatient.append_batch([sent(event(1))])
    assert list(impatient.events_in_order()) == []
    other.execute("rollback")
    other.close()
    assert impatient.append_batch([sent(event(1))]).accepted == [event(1)]
    impatient.close()


def test_readers_read_while_another_thread_writes(store: Store) -> None:
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            seen.append(sum(1 for _ in store.events_in_order()))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for seq in range(1, 101):
        store.append_batch([sent(event(seq))])
    done.set()
    for reader in readers:
        reader.join()
    assert max(seen, default=0) <= 100
    assert sum(1 for _ in store.events_in_order()) == 100


def test_a_file_that_is_no_database_is_refused_with_its_name(path: Path) -> None:
    path.write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(StoreUnusable, match="hub"):
        Store.open(path, now_ms)


def test_a_database_of_a_newer_hub_is_refused(store: Store, path: Path) -> None:
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    connection.close()
    with pytest.raises(StoreUnusable, match="another version"):
        Store.open(path, now_ms)


def test_the_migrations_make_the_tables_the_store_uses(store: Store, path: Path) -> None:
    store.close()
    raw = create_engine("sqlite://", creator=lambda: sqlite3.connect(path))
    with raw.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    raw.dispose()


def test_commits_are_durable(store: Store) -> None:
    with store._engine.connect() as connection:
        pragmas = [
            connection.exec_driver_sql(f"pragma {p}").scalar()
            for p in ("synchronous", "journal_mode", "foreign_keys", "busy_timeout")
        ]
    assert pragmas == [2, "wal", 1, 5_000]


def test_a_plan_replaces_the_whole_plan_before(store: Store) -> None:
    rows = [PlanRow("h1", 2, 1, "ana", "adultos", "Ana"), PlanRow("h1", 1, 2, None, "adultos", "?")]
    store.replace_plan(rows)
    assert store.plan_rows() == [rows[1], rows[0]]
    store.replace_plan([])
    assert store.plan_rows() == []


def test_a_device_has_one_seat_and_a_seat_one_device(store: Store) -> None:
    store.set_seat(1, "t01")
    store.set_seat(2, "t02")
    store.set_seat(2, "t01")
    assert store.seats() == {2: "t01"}
    assert (store.seat_of("t01"), store.seat_of("t02")) == (2, None)
    store.set_seat(2, None)
    assert store.seats() == {}
