"""The run machine as a diagram and a table, generated from the machine's own tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from shared.core.machine import AUTOMATIC, ROWS, Row

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "run-machine.md"
_BACK: Final = "the state before the last act"

_HEAD: Final = """\
# The run machine

Generated from `shared/core/machine.py` by `make docs`; do not edit. What is not listed is refused with a reason.
An undo and a rejection return to the state before the last act, whose clock never stopped; the diagram leaves the
undo out.

```mermaid
stateDiagram-v2
    [*] --> ready
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD + "\n".join(_arrows()), "```", "", *_acts(), "", *_by_itself(), ""])


def _arrows() -> Iterator[str]:
    for row in ROWS:
        if row.in_effect:
            for state in row.states:
                for after in _after(row) or (state,):
                    yield f"    {state} --> {after}: {row.act}"
    for automatic in AUTOMATIC:
        for state in automatic.states:
            yield f"    {state} --> {automatic.becomes or state}: ({automatic.name})"
    yield "    claimed --> running: finish_rejected"
    yield "    sealed --> [*]"


def _after(row: Row) -> tuple[str, ...]:
    return (row.becomes,) if row.becomes is not None else row.may_become


def _acts() -> Iterator[str]:
    yield "| act | in | if | becomes |"
    yield "|---|---|---|---|"
    for row in ROWS:
        guards = ", ".join(guard.__name__ for guard in row.guards)
        stays = "no act in effect" if row.effect.__name__ == "dismiss" else "stays"
        becomes = " or ".join(_after(row)) or (_BACK if row.effect.__name__ == "back" else stays)
        yield f"| `{row.act}` | {', '.join(row.states)} | {guards} | {becomes} |"


def _by_itself() -> Iterator[str]:
    yield "| by itself | in | becomes | an act at that instant that still counts |"
    yield "|---|---|---|---|"
    for automatic in AUTOMATIC:
        spares = f"`{automatic.spares}`" if automatic.spares else ""
        states = ", ".join(automatic.states)
        yield f"| {automatic.name} | {states} | {automatic.becomes or 'stays'} | {spares} |"
