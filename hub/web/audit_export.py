"""The audit as a file: CSV for a spreadsheet, JSON lines for programs, the oldest first."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hub.csv_cells import safe_cell
from hub.store_audit import Deed, Stored
from hub.web.audit import PAGE, Wanted, events_of, page_of
from hub.web.audit_view import Entry
from hub.web.effect_words import Change
from hub.web.language import language_of
from hub.web.site import site_of

T = TypeVar("T")
COLUMNS: Final = (
    "number", "when", "utc_ms", "who", "what", "detail", "reason", "run", "before", "after",
)  # fmt: skip
_MARK: Final = "\ufeff"
"""By it spreadsheets know that the file is UTF-8."""


async def as_csv(request: Request) -> Response:
    """For people: in words, nothing in it is a formula."""
    site, wanted, language = site_of(request), Wanted.by(request.query_params), language_of(request)

    def page(after: int) -> list[Entry]:
        return page_of(site, wanted, language, after=after)

    head = _MARK + _row(COLUMNS)
    return await _file(page, lambda entry: entry.key, _csv_line, head, "audit.csv", "text/csv; charset=utf-8")


async def as_json_lines(request: Request) -> Response:
    """For programs: events as they stand in the logs, with what they changed; deeds of people likewise."""
    site, wanted = site_of(request), Wanted.by(request.query_params)
    kind = "application/jsonl; charset=utf-8"
    if wanted.of_people:

        def deeds(after: int) -> list[Deed]:
            return site.office.audit.deeds(None, PAGE, after=after)

        return await _file(deeds, lambda deed: deed.id, _deed_line, "", "audit.jsonl", kind)

    def events(after: int) -> list[Stored]:
        return events_of(site, wanted, after=after)

    return await _file(events, lambda stored: stored.n, _event_line, "", "audit.jsonl", kind)


async def _file(
    page: Callable[[int], list[T]],
    key: Callable[[T], int],
    line: Callable[[T], str],
    head: str,
    name: str,
    kind: str,
) -> Response:
    """Page by page, so that a long audit is never whole in memory. Raises StoreTrouble before the first byte."""
    first = await run_in_threadpool(page, 0)

    def lines() -> Iterator[str]:
        yield head
        entries = first
        while entries:
            yield "".join(map(line, entries))
            entries = page(key(entries[-1]))

    disposition = f'attachment; filename="{name}"'
    return StreamingResponse(lines(), media_type=kind, headers={"Content-Disposition": disposition})


def _csv_line(entry: Entry) -> str:
    before = " | ".join(_named(change, change.was) for change in entry.changes)
    after = " | ".join(_named(change, change.became) for change in entry.changes)
    cells = (entry.who, entry.what, entry.detail, entry.reason, entry.run, before, after)
    return _row((str(entry.key), entry.when, str(entry.at_ms), *cells))


def _named(change: Change, words: str) -> str:
    return f"{change.name}: {words}" if change.name else words


def _row(cells: tuple[str, ...]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow([safe_cell(cell) for cell in cells])
    return out.getvalue()


def _event_line(stored: Stored) -> str:
    effects = [effect.as_json() for effect in stored.effects]
    return _json_line(
        {"n": stored.n, "received_ms": stored.received_ms, "event": stored.event.as_json()}
        | ({"effects": effects} if effects else {})
    )


def _deed_line(deed: Deed) -> str:
    return _json_line(
        {"n": deed.id, "at_ms": deed.at_ms, "by": deed.by, "deed": deed.deed, "about": deed.about}
        | {"was": deed.was, "became": deed.became}
    )


def _json_line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
