"""The check of a hall before the first heat: what the hub and every table must be, each in a line (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hub.table_answer import Answer

CLOCK_MS: Final = 100
"""A common start is promised within ten milliseconds on a good network; beyond this the network is not good."""
ROUND_TRIP_MS: Final = 250
BACKUP_S: Final = 15 * 60
CERTIFICATE_DAYS: Final = 30
ROOM_MB: Final = 500


@dataclass(frozen=True, slots=True)
class Line:
    """What came out of one check."""

    about: str
    ok: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'FAULT'} {self.about}: {self.text}"


@dataclass(frozen=True, slots=True)
class HubFacts:
    """What the hub's own machine tells."""

    version: str
    health: Mapping[str, Any] | None
    """The answer of `/healthz`; None when the hub does not answer."""
    backup_age_s: float | None
    """Of the newest good backup; None: there is none."""
    certificate_days: int | None
    """Until the broker's certificate runs out; None: the broker has none of ours."""
    free_mb: int | None
    open_pages: bool
    """Whether the pages are seen in the network."""
    organiser: bool
    """Whether somebody can log in."""


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What is planned."""

    day: str | None
    today: str
    runs: Mapping[int, int] = field(default_factory=dict)
    """By table how many."""


def check_hub(hub: HubFacts) -> Iterator[Line]:
    """The hub, its broker, backups and certificate."""
    if hub.health is None:
        yield Line("hub", False, "does not run, or its pages do not answer: systemctl status timer-hub")
    else:
        trouble = hub.health.get("message") or "see journalctl -u timer-hub"
        ok = hub.health.get("ok") is True and not hub.health.get(
            "message"
        )  # also where no backup can be made
        yield Line("hub", ok, f"version {hub.version}, reaches its broker" if ok else str(trouble))
    if hub.backup_age_s is None:
        yield Line("backup", False, "there is no good one: sudo timer-hub backup")
    else:
        minutes = round(hub.backup_age_s / 60)
        fresh = hub.backup_age_s <= BACKUP_S
        yield Line("backup", fresh, f"{minutes} min old" + ("" if fresh else ": sudo timer-hub backup"))
    if hub.certificate_days is not None:
        good = hub.certificate_days >= CERTIFICATE_DAYS
        text = f"the broker's runs out in {hub.certificate_days} days"
        yield Line("certificate", good, text if good else f"{text}: sudo timer-hub provision hub")
    if hub.free_mb is not None:
        room = hub.free_mb >= ROOM_MB
        yield Line("room", room, f"{hub.free_mb} MB free on the hub's disk" + ("" if room else ": make room"))
    seen = "seen in the whole network" if hub.open_pages else "only on this machine: open = true in hub.toml"
    yield Line("pages", hub.open_pages, seen)
    yield Line(
        "organiser",
        hub.organiser,
        "can log in" if hub.organiser else "nobody can: sudo timer-hub password NAME",
    )


def check_plan(plan: PlanFacts, seats: Mapping[int, str]) -> Iterator[Line]:
    """The plan of the day, and whether somebody stands on each of its tables."""
    if not plan.runs:
        yield Line("plan", False, "there is none: timer-hub load plan.csv --day TODAY")
        return
    text = f"{sum(plan.runs.values())} runs at {len(plan.runs)} tables, for {plan.day or 'no day'}"
    today = plan.day == plan.today
    yield Line("plan", today, text if today else f"{text}; today is {plan.today}: load it again with --day")
    for table in sorted(set(plan.runs) - set(seats)):
        yield Line(f"table {table}", False, "runs are planned there, but no table timer stands on it")


def check_table(
    line: Mapping[str, Any], answer: Answer | None, asked: bool, version: str, problems: Sequence[str]
) -> Line:
    """One table timer: `line` as `/api/v1/tables` tells, its self-test, and what the hub says is wrong, in words."""
    about = f"table {line['table']}" if line["table"] else "table ?"
    if not line["online"]:
        return Line(about, False, f"{line['device']} is not online: switch it on; is it in the network?")
    condition: Mapping[str, Any] = line.get("condition") or {}
    wrong = [*problems, *_of_condition(line, condition, version), *_of_answer(answer, asked)]
    ms = {f["part"]: f.get("ms") for f in answer.findings} if answer is not None else {}
    told = [str(line["device"]), f"version {condition.get('software')}"]
    told += (
        [f"clock ±{condition['clock_error_ms']} ms"] if condition.get("clock_error_ms") is not None else []
    )
    told += [f"broker {ms['network']} ms"] if ms.get("network") is not None else []
    told += [f"card {ms['disk']} ms"] if ms.get("disk") is not None else []
    return Line(about, not wrong, ", ".join(told) + ("; " + "; ".join(dict.fromkeys(wrong)) if wrong else ""))


def _of_condition(line: Mapping[str, Any], condition: Mapping[str, Any], version: str) -> Iterator[str]:
    software, error_ms = condition.get("software"), condition.get("clock_error_ms")
    if software != version:
        yield f"its program is {software or 'of no known version'}, the hub's {version}: install the same"
    if error_ms is None:
        yield "its clock is not compared with the hub's yet"
    elif error_ms > CLOCK_MS:
        yield f"its clock is known to {error_ms} ms only: the network is slow or lossy there"
    if condition.get("display") not in ("ok", "none"):
        yield f"display: {condition.get('display') or 'nothing known'}"
    if line.get("unsent"):
        yield f"{line['unsent']} events are not sent yet"


def _of_answer(answer: Answer | None, asked: bool) -> Iterator[str]:
    if not asked:
        return
    if answer is None:
        yield "no answer to the self-test"
        return
    if answer.result == "run_on":
        yield "a run is on there: no self-test"
    elif answer.result not in ("done", "faults"):
        yield f"no self-test: {answer.result}"
    for finding in answer.findings:
        if not finding["ok"]:
            yield f"{finding['part']}: {finding.get('text', '')}"
        elif finding["part"] == "network" and finding.get("ms", 0) > ROUND_TRIP_MS:
            yield f"the broker answers in {finding['ms']} ms: too slow"


def summary(lines: Sequence[Line]) -> Line:
    """What the hall is altogether."""
    wrong = sum(not line.ok for line in lines)
    tables = sum(line.about.startswith("table ") and line.ok for line in lines)
    if not wrong:
        return Line("hall", True, f"PASS: hub, plan and {tables} tables are ready")
    return Line(
        "hall", False, f"NOT READY: {wrong} of {len(lines)} lines are faults; {tables} tables are ready"
    )
