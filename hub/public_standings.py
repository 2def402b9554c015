"""What anyone may hear of the standings over MQTT: public names and results, one message for each category (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.core.model import Mark
from shared.wire import MAX_PAYLOAD, object_payload

_OF_A_LINE: Final = ("rank", "name", "table", "status", "official_s", "official", "pieces", "marks")


def public_standings(standings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By category the payload of `standings/<category>`, from the answer of `/api/v1/standings`."""
    return {category["id"]: _payload(category) for category in standings["categories"]}


def _payload(category: Mapping[str, Any]) -> dict[str, Any]:
    lines = [
        {key: line[key] for key in _OF_A_LINE}
        for line in category["standings"]
        if Mark.PRACTICE not in line["marks"]
    ]
    told = {"id": category["id"], "name": category["name"], "standings": lines}
    shown = len(lines)
    while not _fits(told):
        shown = shown * 3 // 4
        told = told | {"standings": lines[:shown], "left_off": len(lines) - shown}
    return told


def _fits(payload: Mapping[str, Any]) -> bool:
    try:
        return len(object_payload(payload)) <= MAX_PAYLOAD
    except ValueError:
        return False
