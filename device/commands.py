"""What a table does when the hub asks something of it: once, in time, and never with a run.

Every command that can be read is answered with its id; a repeated one is not done again and not answered again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.call import SHOWN_S, Called
from shared.wire import BadPayload, Command, Do, command_from

_REMEMBERED: Final = 200
"""Ids of commands; older ones have long expired."""


@dataclass(frozen=True, slots=True)
class CommandPorts:
    """What commands act on."""

    is_over: Callable[[str, int, float], bool | None]
    """Whether a clock of the hub's reads more than this at an instant of hand time; None: not known."""
    in_run: Callable[[float], bool]
    call: Callable[[Called], None]
    test: Callable[[Command], bool]
    """Begin a self-test, which answers by itself; False while one is on."""
    reload: Callable[[], str] | None
    """Begin anew with the settings as they are now; says what is wrong with them, else nothing. None: cannot."""
    reply: Callable[[Mapping[str, Any]], object]


class Commands:
    """The commands that one table was given since its start."""

    def __init__(self, ports: CommandPorts) -> None:
        self._ports = ports
        self._done: deque[str] = deque(maxlen=_REMEMBERED)

    def take(self, payload: Mapping[str, Any], now: float) -> None:
        """Do what a message asks for at `now` (hand time), or say why not. Raises BadPayload."""
        name = payload.get("id")
        try:
            command = command_from(payload)
        except BadPayload:
            if isinstance(name, str) and 0 < len(name) <= 100:
                self._ports.reply({"id": name, "result": "not_understood"})
            raise
        if command.id in self._done:
            return
        self._done.append(command.id)
        result, told = self._do(command, now)
        if result:
            self._ports.reply({"id": command.id, "do": command.do.value, "result": result, **told})

    def _do(self, command: Command, now: float) -> tuple[str, dict[str, Any]]:
        over = self._ports.is_over(command.base, command.expires_ms, now)
        if over is None:
            return "clock_unknown", {}
        if over:
            return "expired", {}
        if command.do in (Do.SELFTEST, Do.RELOAD) and self._ports.in_run(now):
            return "run_on", {}
        match command.do:
            case Do.IDENTIFY | Do.SHOW_TEXT:
                self._ports.call(Called(command.do, now + SHOWN_S[command.do], command.text))
                return "done", {}
            case Do.SELFTEST:
                if not self._ports.test(command):
                    return "busy", {}
                self._ports.call(Called(command.do, now + SHOWN_S[command.do]))
                return "", {}
            case Do.RELOAD:
                return self._reload()

    def _reload(self) -> tuple[str, dict[str, Any]]:
        if self._ports.reload is None:
            return "cannot_reload", {}
        wrong = self._ports.reload()
        return ("settings_wrong", {"why": wrong[:500]}) if wrong else ("done", {})
