"""On which line of a TOML file a key stands, so that a problem can be shown where it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(r"^\s*([A-Za-z0-9_\-.\"']+)\s*=")


def line_of(text: str, path: Sequence[int | str]) -> int | None:
    """The line of the deepest part of `path` that has a line of its own; None if there is none.

    Keys inside inline tables share the line of the key that holds them.
    """
    best: tuple[int, int] | None = None
    counts: dict[str, int] = {}
    table: tuple[int | str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            name = header[2].strip("\"' ")
            table = tuple(p.strip("\"' ") for p in name.split("."))
            if header[1] == "[[":
                counts[name] = counts.get(name, -1) + 1
            head = table[0] if table else ""
            if head in counts:
                table = (head, counts[str(head)], *table[1:])
            here = table
        elif key := _KEY.match(line):
            here = (*table, *(p.strip("\"'") for p in key[1].split(".")))
        else:
            continue
        if here == tuple(path[: len(here)]) and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None
