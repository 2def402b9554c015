"""The settings in effect as the file that would say them, secrets left out (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

_SECRET: Final = frozenset({"password"})


def settings_text(settings: BaseModel) -> str:
    """Lines of TOML; what has no value is a comment, and so is a secret."""
    return "\n".join(_lines(settings.model_dump(mode="json"))) + "\n"


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    for name, value in values.items():
        if name not in tables:
            yield _line(name, value)
    for name, table in tables.items():
        yield from ("", f"[{name}]", *(_line(key, value) for key, value in table.items()))


def _line(name: str, value: object) -> str:
    if value is None:
        return f"# {name} is not set"
    if name in _SECRET:
        return f"# {name} is set, and not shown"
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"
