"""A measured figure, and the table of them on the screen and in `build/bench.json`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: median and 95th percentile of its samples; `ratio` to what was measured beside it."""

    name: str
    unit: str
    median: float
    p95: float
    target: float | None = None
    ratio: float | None = None
    against: str = ""


def figure(
    name: str,
    unit: str,
    samples: Sequence[float],
    target: float | None = None,
    ratio: float | None = None,
    against: str = "",
) -> Figure:
    """A figure of these samples. For rates the 95th percentile is the slow end."""
    ordered = sorted(samples, reverse=unit.endswith("/s"))
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return Figure(name, unit, statistics.median(ordered), p95, target, ratio, against)


def table(figures: Iterable[Figure]) -> str:
    """The figures for people."""
    rows = [("figure", "median", "p95", "unit", "target", "ratio")]
    for f in figures:
        target = "" if f.target is None else f"{f.target:g}"
        ratio = "" if f.ratio is None else f"{f.ratio:.2f} of {f.against}"
        rows.append((f.name, f"{f.median:.4g}", f"{f.p95:.4g}", f.unit, target, ratio))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def save(figures: Iterable[Figure], path: Path) -> None:
    """The figures for machines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(f) for f in figures], indent=1) + "\n")
