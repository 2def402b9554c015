"""The self-test that the hub orders: the parts that need no hand, beside a table timer that goes on.

In a thread of its own, because a failing card or a broker that is away takes seconds to say so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device import part_tests
from device.debounce import Button
from device.finding import Finding
from shared.clock import HandClock
from shared.wire import Command


@dataclass(frozen=True, slots=True)
class QuickBench:
    """What is tested."""

    display: Callable[[], str]
    """`ok`, `none`, or what is wrong with it."""
    levels: Callable[[], Mapping[Button, bool]]
    stuck: Callable[[], frozenset[str]]
    outputs: Callable[[], str | None]
    """What is wrong with buzzer and light, else nothing; None: there are none."""
    state_dir: Path
    allow_volatile: bool
    hub: tuple[str, int]
    clock: HandClock


def quick_test(bench: QuickBench) -> Iterator[Finding]:
    """The findings, as they come."""
    display = bench.display()
    codes = {"ok": "display_answers", "none": "display_none"}
    yield Finding("display", display in codes, display, codes.get(display, "display_failed"))
    down = {button.name for button, is_down in bench.levels().items() if is_down}
    down |= {button.upper() for button in bench.stuck()}
    named = ", ".join(sorted(down))
    yield Finding(
        "buttons",
        not down,
        f"pressed or stuck: {named}" if down else "none is pressed",
        "buttons_down" if down else "buttons_up",
        {"names": named} if down else {},
    )
    trouble = bench.outputs()
    if trouble is not None:
        yield Finding(
            "signals", not trouble, trouble or "ready", "signals_failed" if trouble else "signals_ready"
        )
    yield part_tests.time_of_day()
    yield part_tests.disk(bench.state_dir, allow_volatile=bench.allow_volatile)
    yield from part_tests.board(bench.state_dir)
    yield part_tests.network(bench.hub, bench.clock)


class QuickTests:
    """Runs one self-test at a time and answers each."""

    def __init__(self, bench: QuickBench, reply: Callable[[Mapping[str, Any]], object]) -> None:
        self._bench = bench
        self._reply = reply
        self._thread: threading.Thread | None = None

    def begin(self, command: Command) -> bool:
        """Begin the self-test that a command asks for; False while one is on."""
        if self._thread is not None and self._thread.is_alive():
            return False
        self._thread = threading.Thread(target=self._run, args=(command,), name="self-test", daemon=True)
        self._thread.start()
        return True

    def _run(self, command: Command) -> None:
        found = list(quick_test(self._bench))
        result = "done" if all(finding.ok for finding in found) else "faults"
        told = [finding.as_json() for finding in found]
        self._reply({"id": command.id, "do": command.do.value, "result": result, "findings": told})
