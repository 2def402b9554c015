"""What each table last told of itself, and whether it is there (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hub.table_answer import answer_from
from shared.core.timeline import Stamp

CANNOT_TIME: Final = "cannot_time"
"""A table that is there and cannot start: its buttons, its card or its settings."""


@dataclass(slots=True)
class Told:
    """The last words of one device."""

    state: Mapping[str, Any] = field(default_factory=dict)
    """Its newest `up/state`."""
    state_hand_s: float | None = None
    """Hand time of the hub when that arrived; None for a retained copy, whose age nobody knows."""
    shown_run: str | None = None
    """The run on its display, or the last one that was."""
    status: Mapping[str, Any] = field(default_factory=dict)
    session: int = -1
    online: bool = False
    heard_ms: int | None = None
    """UTC milliseconds of the last sign of life."""
    vouched: Stamp | None = None
    """The newest instant up to which the hub has everything this table did."""
    answer: Mapping[str, Any] = field(default_factory=dict)
    """What it answered last to what people asked of it, with `at_ms`."""
    boots: dict[str, int] = field(default_factory=dict)
    """The boots of which events are here, with the last instant of each; the one heard of last comes last."""
    _over: set[str] = field(default_factory=set)
    """Boots that another one is known to have followed."""

    def troubles(self, device: str, hand_s: float) -> list[dict[str, Any]]:
        """What it says is wrong with its disk, its buttons and its journal, as problems."""
        found: list[dict[str, Any]] = []
        if self.state.get("not_saved") is True:
            seconds = self.state.get("not_saved_s")
            age_s = 0.0 if self.state_hand_s is None else hand_s - self.state_hand_s
            known = type(seconds) is int and seconds >= 0
            time = {"seconds": int(seconds + age_s)} if known and seconds is not None else {}
            found.append({"code": "not_saved", "level": "error", "device": device, **time})
        health = self.status.get("health")
        told = health.get("problems") if isinstance(health, Mapping) else None
        for problem in told if isinstance(told, list) else []:
            if isinstance(problem, Mapping) and isinstance(problem.get("code"), str):
                button = problem.get("button")
                named = {"button": button} if isinstance(button, str) else {}
                level = "error" if problem["code"] == CANNOT_TIME else "warning"
                said = {k: problem[k][:300] for k in ("number", "why") if isinstance(problem.get(k), str)}
                found.append({"code": problem["code"], "level": level, "device": device, **named, **said})
        return found

    def saw_event(self, stamp: Stamp, previous: str | None = None) -> None:
        """An event of this device is committed; `previous`: the boot before, if it is known to be over.

        Logs of a card can come in any order: what is older than a boot that is over takes nothing back.
        """
        mono_ms = max(stamp.mono_ms, self.boots.get(stamp.boot, stamp.mono_ms))
        if self.vouched is None or self.vouched.boot != stamp.boot:
            self.boots.pop(stamp.boot, None)  # the last one that told something comes last
        self.boots[stamp.boot] = mono_ms
        if previous is not None and previous != stamp.boot:
            self._over.add(previous)
        if self.vouched is not None and self.vouched.boot == stamp.boot and previous is None:
            self.vouched = max(self.vouched, Stamp(stamp.boot, mono_ms))
            return
        newest = [boot for boot in self.boots if boot not in self._over] or list(self.boots)
        boot = newest[-1]
        heard = self.vouched is not None and self.vouched.boot == boot
        if not heard or (self.vouched is not None and self.vouched.mono_ms < self.boots[boot]):
            self.vouched = Stamp(boot, self.boots[boot])

    def hear_state(self, payload: Mapping[str, Any], hand_s: float | None, now_ms: int) -> None:
        """A snapshot. It vouches for its instant only when nothing was unsent then."""
        self.state, self.state_hand_s = payload, hand_s
        run = payload.get("run")
        self.shown_run = run if isinstance(run, str) else self.shown_run
        if hand_s is not None:
            self.heard_ms = now_ms
        boot, mono_ms = payload.get("boot"), payload.get("mono_ms")
        if payload.get("unsent") != 0 or not isinstance(boot, str) or type(mono_ms) is not int:
            return
        current = self.vouched
        if current is None or current.boot == boot:
            newer = current is None or current.mono_ms < mono_ms
        else:
            newer = (
                boot not in self.boots and boot not in self._over
            )  # a retained one may be of an older boot
        if newer:
            self.vouched = Stamp(boot, mono_ms)

    def hear_reply(self, payload: Mapping[str, Any], now_ms: int) -> None:
        """What it answers to a command."""
        answer = answer_from(payload)
        if answer is not None:
            self.answer = answer.as_json() | {"at_ms": now_ms}

    def condition(self) -> dict[str, Any]:
        """What it last told of its parts; None for what it did not tell."""
        health, versions = _mapping(self.status.get("health")), _mapping(self.status.get("versions"))
        board = _mapping(health.get("board"))
        return {
            "software": _word(versions.get("table-timer")),
            "python": _word(versions.get("python")),
            "os": _word(versions.get("os")),
            "display": _word(health.get("display")),
            "temperature_c": _number(board.get("temperature_c")),
            "free_mb": _number(board.get("free_mb")),
            "throttled": _word(board.get("throttled")),
            "clock_error_ms": _number(self.state.get("clock_error_ms")),
        }

    def hear_status(self, payload: Mapping[str, Any], now_ms: int) -> None:
        """Online or offline; the will of an older session says nothing about the newer one."""
        session = payload.get("session")
        if type(session) is not int or session < self.session:
            return
        self.session, self.status = session, payload
        self.online = payload.get("online") is True
        if self.online:
            self.heard_ms = now_ms


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _word(value: object) -> str | None:
    return value[:100] if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if type(value) is int else None
