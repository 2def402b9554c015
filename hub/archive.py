"""A tournament in one zip file: all logs, the rules, the plan and the standings, to be scored again years later."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Final

from hub.archive_file import LOGS, PLAN, RULEBOOK, STANDINGS
from hub.plan_file import COLUMNS, OPTIONAL
from hub.score import score
from hub.store import PlanRow, Store
from shared.core.events import Event
from shared.rulebook import Rulebook, shipped_names

_README: Final = """\
{name}

This file holds a whole jigsaw puzzle tournament as its hub knew it.

  {logs}*.jsonl    what happened at each table and what was ruled, one JSON object a line, in order
  {rulebook}    the rules it was held by
  {plan}         who was to play what, where and when; with the public names
  {standings}   the standings that follow from all that

To rank everyone again, with the program `timer-hub` of the project puzzle-table-timer:

  timer-hub score {file} {file}

or from the unpacked files:

  timer-hub score {rulebook} {logs}*.jsonl --plan {plan}
"""


def rulebook_text(name_or_path: str) -> bytes:
    """The file of a rulebook, by path or by the name of a shipped one. Raises OSError."""
    if name_or_path in shipped_names():
        return (resources.files("shared") / "rulebooks" / f"{name_or_path}.toml").read_bytes()
    return Path(name_or_path).read_bytes()


class ArchiveBroken(RuntimeError):
    """What was read back from an archive is not what was written; says which file."""


def write_archive(target: Path, store: Store, rulebook: Rulebook, rules: bytes) -> list[Event]:
    """Write the archive, in the place of what is there only once it is whole and on the disk; what it holds.

    Raises StoreTrouble, OSError.
    """
    part = target.with_name(target.name + ".part")
    try:
        events = _write(part, target.name, store, rulebook, rules)
        _to_the_disk(part)
        part.replace(target)
        _to_the_disk(target.parent)
    finally:
        part.unlink(missing_ok=True)
    return events


def _to_the_disk(path: Path) -> None:
    """So that what is read from now on comes from there, as far as a disk lets anybody know."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        if path.is_file():
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def _write(part: Path, name: str, store: Store, rulebook: Rulebook, rules: bytes) -> list[Event]:
    logs: dict[str, list[Event]] = {}
    for event in store.events_in_order():
        logs.setdefault(event.log, []).append(event)
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        readme = _README.format(
            name=rulebook.name, file=name, logs=LOGS, rulebook=RULEBOOK, plan=PLAN, standings=STANDINGS
        )
        archive.writestr("README.txt", readme)
        archive.writestr(RULEBOOK, rules)
        if rows := store.plan_rows():
            archive.writestr(PLAN, plan_text(rows))
        for number, (log, events) in enumerate(logs.items(), start=1):
            safe = re.sub(r"[^A-Za-z0-9._-]", "_", log)  # a device may call its log as it likes
            archive.writestr(f"{LOGS}{number:03}-{safe}.jsonl", "".join(_lines(events)))
    if logs:  # from the file itself, as anybody will who opens it
        with zipfile.ZipFile(part, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(STANDINGS, score(rulebook, [part], None, "json").text)
    return [event for log in logs.values() for event in log]


def _lines(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        yield json.dumps(event.as_json(), ensure_ascii=False, separators=(",", ":")) + "\n"


def plan_text(rows: Iterable[PlanRow]) -> str:
    """A plan as the CSV file it could be loaded from."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *OPTIONAL])
    for row in rows:
        cells = [row.heat, row.order_no, row.table_no, row.entrant, row.category, row.public_name]
        writer.writerow([*cells, row.flags])
    return out.getvalue()
