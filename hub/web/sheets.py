"""Sheets to print: one for each table, for its judge, and one for the public with the address of the standings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from hub.web.answers import form_page
from hub.web.qr import qr_svg, site_address, wifi_text
from hub.web.site import site_of

MOST: Final = 200
"""Sheets at a time."""
DOT: Final = 9
"""Pixels; a code is then some seven centimetres wide on paper."""
_PART: Final = re.compile(r"\s*(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class TableSheet:
    """What lies on one table."""

    table: int
    device: str
    """The table timer that stands there; empty when none does yet."""
    address: str
    qr: Markup


async def sheets(request: Request) -> Response:
    """All sheets as one page; each is a sheet of A4 when it is printed."""
    asked = request.query_params
    known = {t["table"]: t["device"] for t in site_of(request).live.tables() if t["table"]}
    typed, wifi, key = (asked.get(name, "").strip() for name in ("tables", "wifi", "key"))
    numbers = sorted(known) if not typed else numbers_in(typed)
    wrong = numbers is None or len(wifi.encode()) > 32 or len(key.encode()) > 63
    address = site_address(request)
    return form_page(
        request,
        "sheets.html",
        400 if wrong else 200,
        wrong=wrong,
        typed=typed,
        wifi=wifi,
        key=key,
        address=address,
        public=qr_svg(f"{address}/", DOT),
        wifi_qr=qr_svg(wifi_text(wifi, key), DOT) if wifi and not wrong else None,
        sheets=[] if wrong else [_sheet(n, known.get(n) or "", address) for n in numbers or ()],
    )


def _sheet(table: int, device: str, address: str) -> TableSheet:
    link = f"{address}/judge?table={table}"
    return TableSheet(table, device, link, qr_svg(link, DOT))


def numbers_in(text: str) -> list[int] | None:
    """The tables in `1-12, 15`, each once and in order; None for anything else, or for too many."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        found.update(range(first, last + 1))
        if not 1 <= first <= last or len(found) > MOST:
            return None
    return sorted(found)
