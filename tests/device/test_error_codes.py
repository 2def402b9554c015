"""Numbers on the display: each has its place in the documents, and each problem has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from device.buttons import NoButtons
from device.cannot_start import error_code, why_settings
from device.config import TableTimerFile, load_settings
from device.error_codes import ErrorCode, settings_codes
from device.journal import JournalBusy, NotSaved
from hub.web.problem_words import problem_words
from shared.checked_toml import BadFile, FileProblem
from shared.texts import translator

PAGE = (Path(__file__).parent.parent.parent / "docs" / "error-codes.md").read_text()


def test_the_page_has_each_number_once_and_no_other() -> None:
    assert re.findall(r"^\| (E\d\d) \|", PAGE, re.M) == [str(code) for code in ErrorCode]


def test_the_page_has_each_problem_of_a_table_with_the_words_of_the_hub() -> None:
    told = re.findall(r"^\| `(\w+)` \| (.+?) \|", PAGE, re.M)
    assert len(told) >= 10
    for code, words in told:
        example = {"code": code, "number": "E…", "why": "…", "button": "…"}
        assert words == problem_words(example, translator("en")).removeprefix(" ")
    assert {"supply_weak", "supply_was_weak", "board_hot", "board_slowed", "storage_little_room"} <= {
        code for code, _ in told
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NoButtons("x"), ErrorCode.NO_BUTTONS),
        (NotSaved("x"), ErrorCode.NOT_SAVED),
        (JournalBusy("x"), ErrorCode.JOURNAL_BUSY),
        (OSError(5, "x"), ErrorCode.OTHER),
    ],
)
def test_each_reason_not_to_start_has_a_number(error: Exception, code: ErrorCode) -> None:
    assert error_code(error) is code


def test_every_key_of_the_settings_that_people_often_get_wrong_has_a_number() -> None:
    keys = set(TableTimerFile.model_fields) - {"language", "state_dir", "allow_volatile"}
    for key in keys:
        assert settings_codes([FileProblem(None, key, "")]) != (ErrorCode.SETTINGS_OTHER,)


def test_all_that_is_wrong_with_the_settings_is_on_the_display_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('device = "all"\ntabel = 3\n[hub]\nport = 0\n[buttons]\nstart = 2\n')
    with pytest.raises(BadFile) as caught:
        load_settings(path)
    assert why_settings(caught.value.problems, "es").lines == ("E11 E12 E13 E15 E19",)
    path.write_text("no TOML")
    with pytest.raises(BadFile) as caught:
        load_settings(path)
    assert why_settings(caught.value.problems, "es").lines == ("E10",)
