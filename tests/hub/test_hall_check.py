"""The check before the first heat names each thing that is not ready, and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hub.certificates import days_left, make_ca, make_server
from hub.hall_check import HubFacts, PlanFacts, check_hub, check_plan, check_table, summary
from hub.table_answer import Answer

GOOD = HubFacts("0.1.0", {"ok": True, "message": ""}, 300.0, 4_000, 20_000, open_pages=True, organiser=True)
PLAN = PlanFacts("2026-09-26", "2026-09-26", {1: 3, 2: 3})
TABLE: dict[str, Any] = {
    "table": 7,
    "device": "t07",
    "online": True,
    "unsent": 0,
    "problems": [],
    "condition": {"software": "0.1.0", "display": "ok", "clock_error_ms": 2},
}
WELL = Answer(
    "c1",
    "selftest",
    "done",
    findings=(
        {"part": "disk", "ok": True, "code": "disk_writes", "ms": 14},
        {"part": "network", "ok": True, "code": "network_answers", "ms": 4},
    ),
)


def faults(*lines: Any) -> list[str]:
    return [f"{line.about}: {line.text}" for line in lines if not line.ok]


def test_where_all_is_well_it_says_so() -> None:
    lines = [*check_hub(GOOD), *check_plan(PLAN, {1: "t01", 2: "t02"})]
    lines.append(check_table(TABLE, WELL, True, "0.1.0", []))
    assert faults(*lines) == []
    assert lines[-1].text == "t07, version 0.1.0, clock ±2 ms, broker 4 ms, card 14 ms"
    assert summary(lines).text == "PASS: hub, plan and 1 tables are ready"


@pytest.mark.parametrize(
    ("changed", "about", "todo"),
    [
        ({"health": None}, "hub", "systemctl status timer-hub"),
        (
            {"health": {"ok": False, "message": "The hub's disk is full: make room on it."}},
            "hub",
            "make room",
        ),
        ({"health": {"ok": False}}, "hub", "journalctl"),
        ({"backup_age_s": None}, "backup", "timer-hub backup"),
        ({"backup_age_s": 3_600.0}, "backup", "60 min old"),
        ({"certificate_days": 29}, "certificate", "timer-hub provision hub"),
        ({"free_mb": 100}, "room", "make room"),
        ({"open_pages": False}, "pages", "open = true"),
        ({"organiser": False}, "organiser", "sudo timer-hub password NAME"),
    ],
)
def test_each_fault_of_the_hub_is_one_line_that_says_what_to_do(
    changed: dict[str, Any], about: str, todo: str
) -> None:
    (fault,) = faults(*check_hub(replace(GOOD, **changed)))
    assert fault.startswith(f"{about}: ")
    assert todo in fault


def test_a_plan_of_another_day_or_for_a_table_nobody_stands_on_is_a_fault() -> None:
    assert faults(*check_plan(PlanFacts(None, "2026-09-26"), {})) == [
        "plan: there is none: timer-hub load plan.csv --day TODAY"
    ]
    told = faults(*check_plan(replace(PLAN, day="2026-09-19"), {1: "t01"}))
    assert "today is 2026-09-26" in told[0]
    assert told[1] == "table 2: runs are planned there, but no table timer stands on it"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"online": False}, "is not online"),
        ({"unsent": 3}, "3 events are not sent yet"),
        ({"condition": None}, "its clock is not compared"),
        ({"condition": TABLE["condition"] | {"software": "0.0.9"}}, "its program is 0.0.9, the hub's 0.1.0"),
        ({"condition": TABLE["condition"] | {"clock_error_ms": 180}}, "known to 180 ms only"),
        (
            {"condition": TABLE["condition"] | {"display": "[Errno 121] Remote I/O error"}},
            "display: [Errno 121]",
        ),
    ],
)
def test_each_fault_of_a_table_is_named(changed: dict[str, Any], words: str) -> None:
    line = check_table(TABLE | changed, WELL, True, "0.1.0", [])
    assert not line.ok
    assert words in line.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "no answer to the self-test"),
        (Answer("c1", "selftest", "run_on"), "a run is on there"),
        (Answer("c1", "selftest", "busy"), "no self-test: busy"),
        (
            Answer(
                "c1", "selftest", "faults", findings=({"part": "disk", "ok": False, "text": "read-only"},)
            ),
            "disk: read-only",
        ),
        (
            Answer("c1", "selftest", "done", findings=({"part": "network", "ok": True, "ms": 900},)),
            "the broker answers in 900 ms: too slow",
        ),
    ],
)
def test_a_self_test_that_is_not_well_is_a_fault(answer: Answer | None, words: str) -> None:
    line = check_table(TABLE, answer, True, "0.1.0", [])
    assert not line.ok
    assert words in line.text


def test_without_a_self_test_nothing_is_expected_of_it() -> None:
    assert check_table(TABLE, None, False, "0.1.0", []).ok


def test_what_the_hub_says_of_a_table_is_told_once() -> None:
    """E11: a weak supply stands in the hub's words and in the self-test."""
    weak = "the table's supply is too weak: change cable or supply"
    line = check_table(TABLE, WELL, True, "0.1.0", [weak, weak])
    assert line.text.count(weak) == 1
    assert summary([line]).text == "NOT READY: 1 of 1 lines are faults; 0 tables are ready"


def test_the_days_of_a_certificate_are_counted() -> None:
    server = make_server(make_ca(), ["timer-hub"])
    assert days_left(server.certificate, 2_145_000_000_000) in range(1_000)
    assert days_left(server.certificate, 2_200_000_000_000) < 0
