"""What came out for one part in a self-test, for a person, and for the hub to say in another language (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out for one part."""

    part: str
    ok: bool
    text: str
    code: str = ""
    """What the text says, for the hub's words; its numbers are in `values`."""
    values: Mapping[str, int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'FAULT'} {self.part}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        """For the reply to the hub."""
        return {"part": self.part, "ok": self.ok, "code": self.code, "text": self.text[:200], **self.values}
