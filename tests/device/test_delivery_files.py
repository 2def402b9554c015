"""Cursor and session number survive a start, and a bad file is no obstacle."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.delivery_files import Cursor, CursorFile, SessionFile


def test_cursors_are_loaded_as_they_were_saved(tmp_path: Path) -> None:
    file = CursorFile(tmp_path / "delivery.json")
    assert file.load() == {}
    cursors = {log: Cursor(log, 7, "e") for log in "LM"}
    file.save(cursors.values())
    assert CursorFile(tmp_path / "delivery.json").load() == cursors


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[{}]", b"{}", b'[{"log":"L","seq":-1,"epoch":"e"}]', b"7", b"[" * 9999]
)
def test_a_spoiled_cursor_file_is_no_cursor(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "delivery.json"
    path.write_bytes(content)
    assert CursorFile(path).load() == {}


def test_the_session_number_grows_over_starts(tmp_path: Path) -> None:
    path = tmp_path / "session"
    first = SessionFile(path)
    assert [first.advance(), first.advance()] == [1, 2]
    assert SessionFile(path).advance() == 3


def test_a_spoiled_session_file_starts_again(tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(b"\x00\x00")
    assert [SessionFile(path).advance(), SessionFile(path).advance()] == [1, 2]


def test_the_session_number_grows_without_a_disk(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "missing" / "session")
    assert [file.advance(), file.advance()] == [1, 2]
