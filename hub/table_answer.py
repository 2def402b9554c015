"""What a table answers to what people asked of it, taken from its reply (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_MOST_FINDINGS: Final = 30
_MOST_LETTERS: Final = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """What a table answered: `result` is `done`, `faults` or why it did nothing."""

    id: str
    do: str
    result: str
    why: str = ""
    findings: tuple[Mapping[str, Any], ...] = ()
    """Of a self-test: `part`, `ok`, `code`, `text` and numbers."""

    def as_json(self) -> dict[str, Any]:
        """As it is kept and told to the pages."""
        return {
            "id": self.id,
            "do": self.do,
            "result": self.result,
            "why": self.why,
            "findings": [dict(finding) for finding in self.findings],
        }


def answer_from(payload: Mapping[str, Any]) -> Answer | None:
    """The answer in a table's reply; None where it is none. Only what is known is taken, and within bounds."""
    name, do, result = (payload.get(key) for key in ("id", "do", "result"))
    if not isinstance(name, str) or not isinstance(result, str):
        return None
    why, findings = payload.get("why"), payload.get("findings")
    found = [_finding(finding) for finding in findings[:_MOST_FINDINGS]] if isinstance(findings, list) else []
    return Answer(
        name[:100],
        do[:100] if isinstance(do, str) else "",
        result[:100],
        why[:_MOST_LETTERS] if isinstance(why, str) else "",
        tuple(finding for finding in found if finding),
    )


def _finding(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not isinstance(value.get("part"), str):
        return {}
    told: dict[str, Any] = {"ok": value.get("ok") is True}
    for key in ("part", "code", "text", "utc", "names"):
        if isinstance(value.get(key), str):
            told[key] = value[key][:_MOST_LETTERS]
    if type(value.get("ms")) is int:
        told["ms"] = value["ms"]
    return told
