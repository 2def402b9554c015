"""A rulebook is read whole or refused whole; each key of the schema has the case that runs it.

Long because each key of the schema has its case here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hub.cli import main
from shared.core.eligibility import Person, why_not
from shared.core.model import Mark, Status
from shared.core.result import Result
from shared.core.tournament import Tournament
from shared.duration import clock_text, seconds_from
from shared.rulebook import (
    BadRulebook,
    Rulebook,
    parse_rulebook,
    shipped_names,
    shipped_rulebook,
    template,
)
from shared.rulebook_schema import RulebookFile
from shared.toml_lines import line_of
from tests.builders import HOUR, MINUTE, TableLog, hub, log

DOCS = Path(__file__).parent.parent.parent / "docs"
HEAD = '[tournament]\nname = "T"\n'


def book(*lines: str) -> Rulebook:
    """A rulebook of one category with these lines."""
    given = "\n".join(lines)
    more = "" if "limit" in given else 'limit = "1h"\n'
    return parse_rulebook(f'{HEAD}[[category]]\nid = "c"\nname = "C"\n{more}{given}\n'.encode())


def result_of(rules: Rulebook, played: TableLog) -> Result:
    tournament = Tournament(rules.categories)
    for event in played.events:
        tournament.apply(event)
    (result,) = tournament.results()
    return result


JOINED = 'unfinished = { count = "joined", group = 3 }'
LOOSE = 'unfinished = { count = "loose", group = 10, per_piece = "10s" }'

# Each key with the case that runs it ---------------------------------------------------------------


def test_islands_of_any_size_are_a_value() -> None:
    rules = book("pieces = 100", 'unfinished = { count = "joined", group = 4 }')
    assert rules.categories["c"].count.group == 4
    result = result_of(rules, log("c").start().count(HOUR + 1, 60))
    assert (result.status, result.pieces, result.official_s) == (Status.UNFINISHED, 60, None)


def test_only_the_largest_area_counts_where_the_rules_say_so() -> None:
    rules = book("pieces = 100", 'unfinished = { count = "largest" }')
    small = log("c", "r1", entrant="a").start().count(HOUR + 1, 40)
    large = log("c", "r2", name="l2", entrant="b").start().count(HOUR + 1, 70)
    tournament = Tournament(rules.categories)
    for event in [*small.events, *large.events]:
        tournament.apply(event)
    assert [(s.rank, s.result.entrant) for s in tournament.standings()[0].standings] == [(1, "b"), (2, "a")]


def test_where_only_complete_counts_the_unfinished_are_not_ranked_and_nothing_is_counted() -> None:
    rules = book("pieces = 100", 'unfinished = { count = "nothing" }')
    result = result_of(rules, log("c").start().count(HOUR + 1, 40))
    assert (result.status, result.pieces, result.marks) == (Status.UNFINISHED, None, ())
    assert result.problems[0].detail["reason"] == "nothing_to_count"


def test_missing_pieces_at_the_claim_cost_seconds_up_to_a_cap() -> None:
    rules = book("pieces = 100", JOINED, 'missing = { per_piece = "10s", most = 3 }')
    two = result_of(rules, log("c").start().finish(20 * MINUTE).accept(21 * MINUTE, missing=2))
    many = result_of(rules, log("c").start().finish(20 * MINUTE).accept(21 * MINUTE, missing=9))
    none = result_of(rules, log("c").start().finish(20 * MINUTE).accept(21 * MINUTE))
    assert [r.official_s for r in (two, many, none)] == [1220, 1230, 1200]
    assert [r.penalty_s for r in (two, many, none)] == [0, 0, 0]
    assert [r.raw_s for r in (two, many, none)] == [1200, 1200, 1200]


def test_missing_pieces_are_nothing_where_the_rules_do_not_ask() -> None:
    result = result_of(
        book("pieces = 100", JOINED), log("c").start().finish(MINUTE).accept(2 * MINUTE, missing=9)
    )
    assert result.official_s == 60


def test_several_puzzles_are_claimed_and_accepted_in_order_while_the_clock_runs_on() -> None:
    rules = book("puzzles = [100, 200]", JOINED)
    played = log("c").start().finish(20 * MINUTE).accept(21 * MINUTE).finish(50 * MINUTE)
    on_the_way = result_of(rules, log("c").start().finish(20 * MINUTE))
    assert (on_the_way.status, on_the_way.marks) == (Status.RUNNING, (Mark.UNACCEPTED,))
    claimed = result_of(rules, played)
    assert (claimed.status, claimed.raw_s, claimed.marks) == (Status.FINISHED, 3000, (Mark.UNACCEPTED,))
    assert result_of(rules, played.accept(51 * MINUTE)).marks == ()


def test_of_several_puzzles_the_completed_ones_count_whole_as_joined() -> None:
    rules = book("puzzles = [100, 200]", JOINED)
    played = log("c").start().finish(20 * MINUTE).accept(21 * MINUTE).count(HOUR + 1, 30)
    assert result_of(rules, played).pieces == 130


def test_of_several_puzzles_the_ones_not_begun_count_whole_as_loose() -> None:
    rules = book("puzzles = [100, 200]", LOOSE)
    result = result_of(rules, log("c").start().count(HOUR + 1, 30))
    assert (result.pieces, result.official_s) == (230, 3600 + 2300)


def test_a_claim_of_a_first_puzzle_may_be_rejected_or_its_acceptance_undone() -> None:
    rules = book("puzzles = [100, 200]", JOINED)
    rejected = log("c").start().finish(20 * MINUTE).reject(21 * MINUTE).count(HOUR + 1, 99)
    assert result_of(rules, rejected).pieces == 99
    undone = log("c").start().finish(20 * MINUTE).accept(21 * MINUTE)
    undone.undo(22 * MINUTE).accept(23 * MINUTE).count(HOUR + 1, 1)
    assert result_of(rules, undone).pieces == 101


def test_a_count_may_not_exceed_the_puzzle_on_the_table() -> None:
    rules = book("puzzles = [100, 200]", JOINED)
    played = log("c").start().finish(MINUTE).accept(2 * MINUTE).count(HOUR + 1, 201).count(HOUR + 2, 200)
    assert result_of(rules, played).pieces == 300


def test_a_ruling_on_the_pieces_of_a_run_with_several_puzzles_does_not_say_which_and_changes_nothing() -> (
    None
):
    rules = book("puzzles = [100, 200]", JOINED)
    tournament = Tournament(rules.categories)
    for event in [*log("c").start().count(HOUR + 1, 50).events, *hub().puzzle(60).pieces(99).events]:
        tournament.apply(event)
    (result,) = tournament.results()
    assert (result.pieces, [p.code for p in result.problems]) == (99, ["which_puzzle"])


def test_one_scale_mixes_finishers_and_unfinished() -> None:
    line = 'unfinished = { count = "loose", group = 10, per_piece = "10s", order = "one_scale" }'
    rules = book("pieces = 100", line, 'assists = { count = 3, total = "10m" }')
    slow = log("c", "r1", entrant="a").start().assist(MINUTE).end_assist(10 * MINUTE).finish(HOUR)
    quick = log("c", "r2", name="l2", entrant="b").start().count(HOUR + 1, 2)
    tournament = Tournament(rules.categories)
    for event in [*slow.events, *quick.events]:
        tournament.apply(event)
    lines = tournament.standings()[0].standings
    assert [(s.rank, s.result.entrant, s.result.official_s) for s in lines] == [
        (1, "b", 3620),
        (2, "a", 4140),
    ]


def test_guests_are_timed_and_not_ranked_and_further_rankings_number_their_places_anew() -> None:
    rules = book(
        "pieces = 100",
        JOINED,
        'guests = "guest"',
        '[[category.ranking]]\nid = "local"\nname = "Local"\nflag = "resident"',
    )
    tournament = Tournament(rules.categories)
    times = {"a": 10, "b": 20, "c": 20, "d": 30, "e": 5}
    for n, (entrant, minutes) in enumerate(times.items()):
        played = log("c", f"r{n}", name=f"l{n}", entrant=entrant).start().finish(minutes * MINUTE)
        for event in played.accept(HOUR).events:
            tournament.apply(event)
    resident = frozenset({"resident"})
    tournament.flags = {("c", entrant): resident for entrant in "bcd"}
    tournament.flags |= {("c", "e"): resident | {"guest"}}
    (standings,) = tournament.standings()
    assert [(s.rank, s.result.entrant) for s in standings.standings] == [
        (1, "a"), (2, "b"), (2, "c"), (4, "d"), (None, "e"),
    ]  # fmt: skip
    assert standings.standings[-1].result.marks == (Mark.OUT_OF_COMPETITION,)
    ((ranking, lines),) = standings.further
    assert ranking == "local"
    assert [(s.rank, s.result.entrant) for s in lines] == [(1, "b"), (1, "c"), (3, "d")]


# Who may compete -----------------------------------------------------------------------------------


def codes(rulebook: str, category: str, *people: Person) -> list[str]:
    who = shipped_rulebook(rulebook).categories[category].who
    assert who is not None
    return [str(problem.code) for problem in why_not(people, who)]


def aged(*ages: int) -> list[Person]:
    return [Person(age, 2026 - age) for age in ages]


def born(*years: int) -> list[Person]:
    return [Person(2023 - year, year) for year in years]


@pytest.mark.parametrize(
    ("category", "ages", "expected"),
    [
        ("infantil-5-7", (5, 7), []),
        ("infantil-5-7", (7, 8), ["wrong_age"]),
        ("infantil-9-10", (8, 8), ["wrong_age", "wrong_age"]),
        ("infantil-9-10", (9,), ["wrong_number_of_people"]),
        ("infantil-11-14", (11, 14), []),
        ("adulto", (18,), []),
        ("adulto", (17,), ["wrong_age"]),
        ("grupal-infantil", (5, 8, 14, 9), []),
        ("grupal-infantil", (5, 8, 15, 9), ["wrong_age"]),
        ("grupal-familiar", (40, 41, 70, 19, 8, 14), []),
        ("grupal-familiar", (40, 41, 70, 19, 15, 14), ["too_few_among"]),
        ("grupal-familiar", (40, 41, 8, 9, 10), ["wrong_number_of_people"]),
        ("grupal-adulto", (18, 30, 40, 50), []),
        ("grupal-adulto", (18, 30, 40, 50, 17, 20, 22), ["wrong_number_of_people", "wrong_age"]),
    ],
)
def test_who_fits_a_category_of_the_torneo(category: str, ages: tuple[int, ...], expected: list[str]) -> None:
    assert codes("torneo-puzzles-2026", category, *aged(*ages)) == expected


@pytest.mark.parametrize(
    ("category", "years", "expected"),
    [
        ("infantil-a", (2017,), []),
        ("infantil-a", (2016,), ["wrong_birth_year"]),
        ("infantil-c", (2011,), []),
        ("adulto", (2010,), []),
        ("adulto", (2011,), ["wrong_birth_year"]),
        ("parejas", (2010, 2018), []),
        ("parejas", (2011, 2012), ["too_few_among"]),
    ],
)
def test_the_birth_year_decides_in_castrillo(
    category: str, years: tuple[int, ...], expected: list[str]
) -> None:
    assert codes("castrillo-2023", category, *born(*years)) == expected


def test_a_flag_can_be_asked_of_some() -> None:
    rules = book("pieces = 9", JOINED, 'who = { people = "2-3", among = [{ least = 1, flag = "resident" }] }')
    who = rules.categories["c"].who
    assert who is not None
    local = Person(30, 1996, frozenset({"resident"}))
    assert why_not([local, Person(30, 1996)], who) == []
    (problem,) = why_not(aged(30, 30), who)
    assert problem.detail == {"found": 0, "least": 1, "wanted": "resident"}


# The files -----------------------------------------------------------------------------------------


def test_the_shipped_rulebooks_hold_every_category_of_the_texts() -> None:
    assert shipped_names() == ["castrillo-2023", "torneo-puzzles-2026"]
    torneo = shipped_rulebook("torneo-puzzles-2026").categories
    castrillo = shipped_rulebook("castrillo-2023").categories
    assert {c: (r.pieces, r.limit_ms // MINUTE) for c, r in torneo.items()} == {
        "infantil-5-7": (20, 60), "infantil-9-10": (50, 60), "infantil-11-14": (100, 60), "adulto": (200, 120),
        "grupal-infantil": (150, 120), "grupal-familiar": (300, 120), "grupal-adulto": (500, 120),
    }  # fmt: skip
    assert {c: (r.pieces, r.limit_ms // MINUTE) for c, r in castrillo.items()} == {
        "infantil-a": (100, 120), "infantil-b": (200, 120), "infantil-c": (300, 120), "adulto": (500, 150),
        "parejas": (500, 180),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["castrillo-2023", "torneo-puzzles-2026"])
def test_every_open_point_is_a_question_in_both_languages(name: str) -> None:
    source = (Path(__file__).parent.parent.parent / "shared" / "rulebooks" / f"{name}.toml").read_text()
    asked = shipped_rulebook(name).confirm
    assert all(set(c.question) == {"es", "en"} for c in asked)
    assert source.count("(★)") >= len(asked) - 1 > 0, "each has its comment at the value"


def test_a_new_rulebook_can_be_checked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    made = CliRunner().invoke(main, ["rulebook", "new", str(path)])
    assert made.exit_code == 0
    assert path.read_text() == template()
    checked = CliRunner().invoke(main, ["rulebook", "check", str(path)])
    assert (checked.exit_code, "My puzzle tournament" in checked.output) == (0, True)
    again = CliRunner().invoke(main, ["rulebook", "new", str(path)])
    assert (again.exit_code, "is there already" in again.output) == (1, True)


def test_checking_a_shipped_rulebook_prints_what_to_confirm() -> None:
    said = CliRunner().invoke(main, ["rulebook", "check", "torneo-puzzles-2026"]).output
    assert "Por favor, confirma con la organización:" in said
    assert "¿Los 2 minutos de mirar la imagen" in said


CATEGORY = f'{HEAD}[[category]]\nid = "c"\nname = "C"\npieces = 9\nlimit = "1h"\n{JOINED}\n'


RANKING = '[[category.ranking]]\nid = "r"\nname = "R"\nflag = "r"\n'
ESCAPE = """[category.escape]
steps = 5
limit = "2h"
tickets = 3
hint_tickets = 1
solution_tickets = 2
help_wait = "5m"
bought_ticket = "10m"
redeemed_ticket = "3m"
redeem_solved = 10
redeem_stuck = [0, 2]
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["tournament: is missing", "category: is missing"]),
        (CATEGORY + "colour = 1\n", ["line 9: category[1].colour: is no key of a rulebook"]),
        (CATEGORY.replace('"1h"', '"soon"'), ['line 7: category[1].limit: "soon" is no duration; write']),
        (CATEGORY.replace('"1h"', '"0s"'), ["line 7: category[1].limit"]),
        (CATEGORY.replace('"1h"', "60"), ["line 7", "a duration is text"]),
        (CATEGORY.replace('id = "c"', 'id = "C c"'), ['"C c" is no id']),
        (
            CATEGORY + CATEGORY.removeprefix(HEAD),
            ['line 10: category[2].id: another category has the id "c"'],
        ),
        (CATEGORY.replace("pieces = 9", ""), ["write pieces = 500 for one puzzle"]),
        (
            CATEGORY.replace("pieces = 9", "pieces = 9\npuzzles = [1, 2]"),
            ["write pieces = 500 for one puzzle"],
        ),
        (CATEGORY.replace("pieces = 9", 'pieces = "9"'), ["must be a whole number, without quotes"]),
        (
            CATEGORY.replace(JOINED, LOOSE.replace(', per_piece = "10s"', "")),
            ["loose pieces need what each costs"],
        ),
        (CATEGORY.replace(", group = 3", ""), ["group is missing"]),
        (CATEGORY.replace("3 }", '3, order = "one_scale" }'), ["one scale needs loose pieces"]),
        (CATEGORY.replace("3 }", '3, per_piece = "1s" }'), ["only loose pieces cost time"]),
        (CATEGORY.replace('"joined"', '"largest"'), ["knows no groups"]),
        (CATEGORY + 'who = { people = "6-4" }\n', ['"6-4" runs backwards: write "4-6"']),
        (CATEGORY + 'who = { people = "many" }\n', ["a range is text"]),
        (CATEGORY + 'who = { people = "2", among = [{ least = 1 }] }\n', ["among whom?"]),
        (CATEGORY + "[category.escape]\nsteps = 2\n", ["category[1].escape.limit: is missing"]),
        (HEAD.replace('"T"', "T"), ["not TOML"]),
        (HEAD + 'time_zone = "Mars"\n', ["line 3: tournament.time_zone: 'Mars' is no time zone"]),
        ("[" * 5000, ["not TOML"]),
        ("a = " + "[" * 5000, ["nests too deep"]),
        (
            CATEGORY + "colour = 1\n" + CATEGORY.removeprefix(HEAD),
            ["is no key", "another category has the id"],
        ),
        (
            CATEGORY.replace("3 }", '3, per_piece = "1s", order = "one_scale" }'),
            ["leave per_piece out", "one scale"],
        ),
        (CATEGORY.replace("group = 3", "group = 10"), ["a group of 10 is more than the puzzle's 9 pieces"]),
        (CATEGORY + 'who = { people = "0" }\n', ["nobody is no entrant"]),
        (
            CATEGORY + 'who = { people = "1", among = [{ least = 2, flag = "x" }] }\n',
            ["more than the people"],
        ),
        (
            CATEGORY + '[[confirm]]\nkey = "x.limit"\nquestion = "?"\n',
            ["begins with no category of this file"],
        ),
        (CATEGORY + RANKING + RANKING, ["another ranking of the category has the id"]),
        (CATEGORY + 'guests = "r"\n' + RANKING, ["always empty"]),
        (
            CATEGORY + ESCAPE,
            ["longer than the limit", "one number for each of the 5 steps", "more tickets are redeemed"],
        ),
    ],
)
def test_every_problem_says_where_it_is_and_what_to_write(text: str, told: list[str]) -> None:
    with pytest.raises(BadRulebook) as caught:
        parse_rulebook(text.encode())
    assert all(part in str(caught.value) for part in told), str(caught.value)


def test_a_file_in_another_encoding_is_told_with_its_line() -> None:
    with pytest.raises(BadRulebook, match="line 2: not UTF-8"):
        parse_rulebook('[tournament]\nname = "ñ"\n'.encode("latin-1"))


def test_all_problems_come_at_once() -> None:
    bad = CATEGORY.replace('"1h"', '"soon"').replace("pieces = 9", 'pieces = "9"') + "colour = 1\n"
    with pytest.raises(BadRulebook) as caught:
        parse_rulebook(bad.encode())
    assert len(caught.value.problems) == 3


@given(
    st.text(max_size=200)
    | st.sampled_from([CATEGORY, template()]).flatmap(lambda t: st.sampled_from(_cut(t)))
)
def test_no_text_makes_anything_but_a_rulebook_or_its_problems(text: str) -> None:
    with suppress(BadRulebook):
        parse_rulebook(text.encode("utf-8", "surrogatepass"))


def _cut(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    dropped = ["".join(lines[:n] + lines[n + 1 :]) for n in range(len(lines))]
    return dropped + [text[:n] for n in range(0, len(text), 37)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2m", 120), ("1h30m", 5400), ("90s", 90), ("1:30:00", 5400), ("2:05", 125), ("1H 5m", 3900), ("0s", 0)],
)
def test_durations_are_written_as_people_write_them(text: str, seconds: int) -> None:
    assert seconds_from(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "90", "1.5h", "-2m", "2m1h", "1:60", "1:2:3", "٢m", "2 minutes"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        seconds_from(text)


@given(st.integers(0, 100 * 3600))
def test_a_time_reads_back_as_it_was_written(seconds: int) -> None:
    assert seconds_from(clock_text(seconds)) == seconds


def test_negative_times_carry_their_sign() -> None:
    assert clock_text(-75) == "-1:15"


def test_a_key_is_found_on_its_line_also_in_the_second_table_of_its_name() -> None:
    text = '[a]\nx = 1\n[[c]]\nid = 1\n[c.sub]\ny = 2\n[[c]]\nid = 2\n"q" = { z = 1 }\n'
    paths: list[tuple[tuple[int | str, ...], int]] = [
        (("a", "x"), 2), (("c", 0, "id"), 4), (("c", 0, "sub", "y"), 6), (("c", 1, "id"), 8), (("c", 1, "q", "z"), 9),
    ]  # fmt: skip
    assert [line_of(text, path) for path, _ in paths] == [line for _, line in paths]
    assert line_of(text, ("nothing",)) is None


# The documentation ---------------------------------------------------------------------------------


def _keys(model: type[BaseModel]) -> Iterator[tuple[type[BaseModel], str]]:
    for name, info in model.model_fields.items():
        yield model, name
        for inner in _models(info.annotation):
            yield from _keys(inner)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def test_every_key_of_a_rulebook_is_documented_and_nothing_else_is() -> None:
    documented = set(re.findall(r"^\| `([a-z_]+)`", (DOCS / "rulebook.md").read_text(), re.MULTILINE))
    assert documented == {name for _, name in _keys(RulebookFile)}
