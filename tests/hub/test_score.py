"""Scoring event files from the command line."""

from __future__ import annotations

import csv
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hub.cli import main

VECTORS = Path(__file__).parent.parent / "vectors"


def score(*args: object) -> Result:
    return CliRunner().invoke(main, ["score", *map(str, args)])


def line(**more: Any) -> dict[str, Any]:
    base = {"v": 1, "device": "t1", "log": "l", "boot": "b", "run": "r"}
    return base | more


START = line(
    seq=1, type="run_started", mono_ms=0, entrant="=e1", category="adulto", table=3, wall_ms=1_778_320_800_000
)
FINISH = line(seq=2, type="run_finished", mono_ms=2_720_000)
ACCEPT = line(seq=3, type="finish_accepted", mono_ms=2_730_000)


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{json.dumps(x) if isinstance(x, dict) else x}\n" for x in lines))
    return path


def adulto(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = next(
        c["standings"] for c in json.loads(result.output)["categories"] if c["id"] == "adulto"
    )
    return found


def test_the_standings_come_as_json_in_the_shape_of_the_api(tmp_path: Path) -> None:
    events = written(tmp_path / "a.jsonl", START, FINISH, ACCEPT)
    assert adulto(score("torneo-puzzles-2026", events)) == [
        {
            "rank": 1, "entrant": "=e1", "table": 3, "status": "FINISHED", "official_s": 2600,
            "official": "43:20", "raw_s": 2600, "assist_s": 0, "penalty_s": 0, "stage_s": None,
            "pieces": None, "marks": [], "problems": [],
        }
    ]  # fmt: skip


def test_events_may_come_in_any_order_and_number_of_files_and_twice(tmp_path: Path) -> None:
    one = written(tmp_path / "a.jsonl", ACCEPT, FINISH)
    two = written(tmp_path / "b.jsonl", FINISH, START)
    assert adulto(score("torneo-puzzles-2026", one, two))[0]["official_s"] == 2600


def test_a_time_after_each_start_shows_the_runs_as_they_were(tmp_path: Path) -> None:
    events = written(tmp_path / "a.jsonl", START)
    assert adulto(score("torneo-puzzles-2026", events, "--at", "45m"))[0]["status"] == "RUNNING"
    assert adulto(score("torneo-puzzles-2026", events))[0]["status"] == "UNFINISHED"


def test_a_date_and_time_is_read_in_the_tournaments_zone(tmp_path: Path) -> None:
    events = written(tmp_path / "a.jsonl", START)
    before = adulto(score("torneo-puzzles-2026", events, "--at", "2026-05-09T14:01:59"))
    after = adulto(score("torneo-puzzles-2026", events, "--at", "2026-05-09T12:02:00Z"))
    assert (before[0]["status"], after[0]["status"]) == ("RUNNING", "UNFINISHED")


def test_a_table_for_people_and_a_csv_for_spreadsheets_hold_the_same(tmp_path: Path) -> None:
    events = written(tmp_path / "a.jsonl", START, FINISH, ACCEPT)
    table = score("torneo-puzzles-2026", events, "--format", "table").output
    assert "1     =e1      FINISHED  43:20" in table
    rows = list(csv.DictReader(io.StringIO(score("torneo-puzzles-2026", events, "--format", "csv").output)))
    assert rows[0]["entrant"] == "'=e1", "a name is no formula"
    assert rows[0]["official_s"] == "2600"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"v":2}', "field v must be 1"),
        ('{"v":1,"device":"t","log":"l","seq":0,"type":"x"}', "seq must be an integer >= 1"),
        (
            '{"v":1,"device":"t","log":"l","seq":1,"type":"run_started","boot":"b","mono_ms":1,"run":"r"}',
            "entrant",
        ),
        ("\x00\x01", "not JSON"),
    ],
)
def test_a_line_that_is_no_event_is_a_problem_with_its_place_and_the_rest_counts(
    tmp_path: Path, bad: str, why: str
) -> None:
    events = written(tmp_path / "a.jsonl", bad, START, FINISH, ACCEPT)
    result = score("torneo-puzzles-2026", events)
    assert adulto(result)[0]["official_s"] == 2600
    (problem,) = json.loads(result.output)["problems"]
    assert (problem["code"], problem["line"]) == ("unreadable_event", 1)
    assert why in problem["why"]


def test_the_journal_of_a_table_is_scored_as_it_lies_on_its_card(tmp_path: Path) -> None:
    lines = [json.dumps(x) for x in (START, FINISH, ACCEPT)]
    journal = written(tmp_path / "l.journal", *(f"{zlib.crc32(x.encode()):08x} {x}" for x in lines))
    assert adulto(score("torneo-puzzles-2026", journal))[0]["official_s"] == 2600
    damaged = written(tmp_path / "d.journal", f"00000000 {lines[0]}", *lines[1:])
    (problem, *_) = json.loads(score("torneo-puzzles-2026", damaged).output)["problems"]
    assert "checksum" in problem["why"]


def test_a_table_for_people_tells_the_problems_beside_it_and_nothing_readable_is_an_error(
    tmp_path: Path,
) -> None:
    told = score("torneo-puzzles-2026", written(tmp_path / "a.jsonl", START, "{"), "--format", "table")
    assert (told.exit_code, "unreadable_event" in told.stderr) == (0, True)
    nothing = score("torneo-puzzles-2026", written(tmp_path / "b.jsonl", "nonsense"), "--format", "table")
    assert (nothing.exit_code, "no event in these files" in nothing.stderr) == (1, True)


def test_a_time_that_is_only_a_bound_says_so_to_people(tmp_path: Path) -> None:
    boot = line(seq=2, type="boot_started", boot="b2", mono_ms=0, previous_boot="b", alive_ms=1_000_000)
    finish = line(seq=3, type="run_finished", boot="b2", mono_ms=500_000)
    events = written(tmp_path / "a.jsonl", START, boot, finish)
    assert "≥ 23:00" in score("torneo-puzzles-2026", events, "--format", "table").output


def test_the_bound_that_people_read_is_the_least_that_it_can_have_been(tmp_path: Path) -> None:
    # paused when the plug was pulled, resumed in a boot that never met the hub: 1 to 5 min of pause
    anchor = {"type": "clock_anchored", "mono_ms": 0, "base": "h", "error_ms": 5}
    events = [
        START,
        line(seq=2, hub_ms=0, **anchor),
        line(seq=3, type="pause_started", mono_ms=1_200_000),
        line(seq=4, type="boot_started", boot="b2", mono_ms=0, previous_boot="b", alive_ms=1_260_000),
        line(seq=5, type="pause_ended", boot="b2", mono_ms=0),
        line(seq=6, type="boot_started", boot="b3", mono_ms=0, previous_boot="b2", alive_ms=0),
        line(seq=7, boot="b3", hub_ms=3_600_000, **anchor),
        line(seq=8, type="run_finished", boot="b3", mono_ms=0),
    ]
    written(tmp_path / "a.jsonl", *events)
    [judged] = adulto(score("torneo-puzzles-2026", tmp_path / "a.jsonl"))
    assert judged["official"] == "57:00"
    told = score("torneo-puzzles-2026", tmp_path / "a.jsonl", "--format", "table").output
    assert "≥ 53:00" in told
    assert "≥ 57:00" not in told


def test_acts_after_the_instant_asked_for_have_not_happened(tmp_path: Path) -> None:
    events = written(tmp_path / "a.jsonl", START, FINISH, ACCEPT)
    assert adulto(score("torneo-puzzles-2026", events, "--at", "45m"))[0]["status"] == "RUNNING"
    assert adulto(score("torneo-puzzles-2026", events, "--at", "46m"))[0]["status"] == "FINISHED"


def test_flags_of_the_plan_make_guests_and_further_rankings(tmp_path: Path) -> None:
    start = START | {"category": "parejas", "entrant": "p1"}
    steps = [line(seq=n, type="step_solved", mono_ms=n * 300_000) for n in range(2, 7)]
    finish = line(seq=7, type="run_finished", mono_ms=3_600_000)
    events = written(tmp_path / "a.jsonl", start, *steps, finish)
    plan = tmp_path / "plan.csv"
    plan.write_text("heat,order,table,entrant,category,public_name,flags\n1,1,1,p1,parejas,A y B,local\n")
    data = json.loads(score("castrillo-2023", events, "--plan", plan).output)
    (local,) = data["categories"][-1]["rankings"]
    assert (local["id"], local["standings"][0]["rank"]) == ("local", 1)


def test_missing_seqs_and_unknown_types_are_told(tmp_path: Path) -> None:
    events = written(tmp_path / "a.jsonl", START, line(seq=4, type="moon_landed", mono_ms=1))
    codes = [p["code"] for p in json.loads(score("torneo-puzzles-2026", events).output)["problems"]]
    assert codes == ["seqs_missing", "unknown_type"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope.toml", "x"], "cannot be read"),
        (["torneo-puzzles-2026", "nope.jsonl"], "cannot be read"),
        (["torneo-puzzles-2026", str(VECTORS), "--at", "1m"], "cannot be read"),
        (["torneo-puzzles-2026", str(VECTORS / "torneo-01.jsonl"), "--at", "noon"], "is no time"),
        (["torneo-puzzles-2026", str(VECTORS / "torneo-01.jsonl"), "--plan", "nope.csv"], "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_one_clear_sentence(args: list[str], said: str) -> None:
    result = score(*args)
    assert result.exit_code == 1
    assert said in result.output
    assert "Traceback" not in result.output
