"""D05. What devices send and nobody can read: one's junk takes nothing from another, nothing acked is lost."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.projection import Projection
from hub.store import Store
from hub.store_aside import ASIDE_BYTES, ASIDE_ROWS
from shared.rulebook import shipped_rulebook
from shared.wire import MAX_PAYLOAD, Ack, Unreadable
from tests.hub.test_store import event, now_ms, sent, unreadable
from tests.hub.web_office import hall


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store.open(path, now_ms)
    yield opened
    opened.close()


def junk(first: int, count: int, size: int = 20) -> list[Unreadable]:
    return [Unreadable("not JSON", str(n).encode().ljust(size)) for n in range(first, first + count)]


def kept(path: Path, device: str) -> tuple[int, int]:
    with sqlite3.connect(path) as connection:
        query = "select count(*), coalesce(sum(length(payload)), 0) from quarantine where device = ?"
        rows = connection.execute(query, (device,)).fetchone()
    connection.close()
    return tuple(rows)


def test_of_one_device_a_bounded_number_of_things_is_kept_and_the_rest_counted(
    store: Store, path: Path
) -> None:
    store.append_batch([sent(*junk(0, ASIDE_ROWS + 50))])
    assert kept(path, "t01") == (ASIDE_ROWS, ASIDE_ROWS * 20)
    assert store.sends_junk() == {"t01": 50}
    store.append_batch([sent(*junk(0, 10))])
    assert store.sends_junk() == {"t01": 50}, "what is kept was not left out"


def test_of_one_device_a_bounded_number_of_bytes_is_kept(store: Store, path: Path) -> None:
    store.append_batch([sent(*junk(0, 100, MAX_PAYLOAD))])
    rows, size = kept(path, "t01")
    assert (rows, size) == (ASIDE_BYTES // MAX_PAYLOAD, ASIDE_BYTES)
    assert store.sends_junk() == {"t01": 100 - rows}


def test_what_another_device_sends_is_kept_however_much_one_sent(store: Store, path: Path) -> None:
    store.append_batch([sent(*junk(0, ASIDE_ROWS * 2))])
    store.append_batch([sent(unreadable(1, "M"), device="t02")])
    assert kept(path, "t02") == (1, 5)
    assert list(store.sends_junk()) == ["t01"]


def test_an_unreadable_event_that_is_acknowledged_leaves_its_identity_when_the_share_is_full(
    store: Store, path: Path
) -> None:
    store.append_batch([sent(*junk(0, ASIDE_ROWS))])
    committed = store.append_batch([sent(event(1), unreadable(2), event(3))])
    assert committed.acks == [("t01", Ack("L", 3, store.epoch))]
    with sqlite3.connect(path) as connection:
        query = "select log, seq, reason, payload, digest from quarantine where log = 'L'"
        (row,) = connection.execute(query).fetchall()
    connection.close()
    identity = ("puzzle/1/t01/up/event", "t01", "L", 2, "spoiled")
    digest = hashlib.sha256(repr(identity).encode() + b"bytes").hexdigest()
    assert row == ("L", 2, "spoiled", b"", digest)


def test_a_full_share_is_still_full_after_a_restart(store: Store, path: Path) -> None:
    store.append_batch([sent(*junk(0, ASIDE_ROWS))])
    again = Store.open(path, now_ms)
    assert again.sends_junk() == {"t01": 0}
    again.close()


def test_a_table_that_sends_junk_is_named_on_its_line() -> None:
    projection = Projection(shipped_rulebook("torneo-puzzles-2026"))
    projection.seats = {1: "t01", 2: "t02"}
    assert [line["problems"] for line in projection.tables(0.0)] == [[], []]
    projection.junk = frozenset({"t02"})
    assert [[p["code"] for p in line["problems"]] for line in projection.tables(0.0)] == [[], ["sends_junk"]]


def test_the_tables_page_says_whose_name_to_look_after(tmp_path: Path) -> None:
    with hall(tmp_path) as here:
        here.store.set_seat(1, "t01")
        here.view.plan(here.view.read(lambda projection: projection.names), {1: "t01"})
        here.view.junk(frozenset({"t01"}))
        assert "mire quién usa su nombre" in here.here().get("/tables?once").text
