"""The command `timer-hub check-hall`: the check before the first heat, with a result that can be printed."""

from __future__ import annotations

import json
import shutil
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hub.cli_files import ConfigFile
from hub.cli_tables import store_of
from hub.hall_check import HubFacts, Line, PlanFacts, check_hub, check_plan, check_table, summary
from shared.clock import machine_clock, monotonic, wall_ms
from shared.texts import translator
from shared.wire import Do

if TYPE_CHECKING:
    from hub.config import HubFile
    from hub.store import Store
    from hub.table_answer import Answer
    from shared.rulebook import Rulebook
    from shared.wire import Command

_PAGES_S: Final = 10.0
_ANSWERS_S: Final = 20.0
_LOOK_EVERY_S: Final = 0.2


@click.command("check-hall")
@click.option("--quick", is_flag=True, help="Without the self-test of each table.")
@ConfigFile
def check_hall(quick: bool, path: Path) -> None:
    """Check hub, plan and every table before the first heat; ends with 0 only when all is ready.

    Each table tests what needs no hand, unless a run is on there.
    """
    with store_of(path) as (store, settings, rulebook):
        told: list[Line] = []
        for line in _lines(store, settings, rulebook, path, quick=quick):
            click.echo(str(line))
            told.append(line)
    result = summary(told)
    click.echo(result.text)
    raise SystemExit(0 if result.ok else 1)


def _lines(store: Store, settings: HubFile, rulebook: Rulebook, path: Path, *, quick: bool) -> Iterable[Line]:
    from hub.plan_day import plan_day
    from hub.web.problem_words import problem_words

    yield from check_hub(_hub_facts(store, settings, path))
    today = datetime.fromtimestamp(wall_ms() / 1000, UTC).astimezone(rulebook.zone).date().isoformat()
    runs = Counter(row.table_no for row in store.plan_rows())
    seats = store.seats()
    yield from check_plan(PlanFacts(plan_day(store), today, runs), seats)
    tables = (_asked(settings, "/api/v1/tables") or {"tables": []})["tables"]
    if not tables:
        yield Line("tables", False, "the hub knows none: switch them on")
    online = [table["device"] for table in tables if table["online"]]
    answers = {} if quick else _test_tables(store, online)
    t = translator("en")
    for table in sorted(tables, key=lambda table: (table["table"], table["device"])):
        words = [problem_words(problem, t) for problem in table["problems"]]
        answer = answers.get(table["device"])
        yield check_table(table, answer, not quick, version("puzzle-table-timer"), words)


def _hub_facts(store: Store, settings: HubFile, path: Path) -> HubFacts:
    from hub.broker_files import BrokerFolder
    from hub.certificates import days_left
    from hub.people import People
    from hub.restore import newest_usable

    backup = newest_usable(settings.database)
    broker = BrokerFolder(path.parent / "broker")
    try:
        certificate = days_left((broker.folder / "server.crt").read_bytes(), wall_ms())
    except OSError:  # another broker than ours, or not for us to read
        certificate = None
    return HubFacts(
        version=version("puzzle-table-timer"),
        health=_asked(settings, "/healthz"),
        backup_age_s=None if backup is None else max(0.0, wall_ms() / 1000 - backup.stat().st_mtime),
        certificate_days=certificate,
        free_mb=shutil.disk_usage(settings.data_dir).free // 1_000_000,
        open_pages=settings.web.open,
        organiser=People(store, wall=wall_ms, hand=monotonic).has_organiser(),
    )


def _asked(settings: HubFile, page: str) -> dict[str, Any] | None:
    """What the running hub says to this machine; None when it says nothing."""
    address = f"http://127.0.0.1:{settings.web.port}{page}"
    request = urllib.request.Request(address, headers={"Accept": "application/json", "Accept-Language": "en"})
    try:
        with urllib.request.urlopen(request, timeout=_PAGES_S) as answer:
            told: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:  # not well, and says why
        try:
            told = json.load(error)
        except ValueError:
            return None
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def _test_tables(store: Store, devices: Iterable[str]) -> Mapping[str, Answer]:
    """The self-tests of tables, all at the same time."""
    from hub.asking import Asking

    asking, found = Asking(store, machine_clock(), wall_ms), dict[str, "Answer"]()
    waiting: dict[str, Command] = {d: asking.ask(d, Do.SELFTEST, "timer-hub check-hall") for d in devices}
    end_s, pause = monotonic() + _ANSWERS_S, threading.Event()
    while waiting and monotonic() < end_s:
        pause.wait(_LOOK_EVERY_S)
        for device, command in list(waiting.items()):
            answer = asking.answer(device, command)
            if answer is not None:
                found[device] = answer
                del waiting[device]
    return found


COMMANDS = (check_hall,)
