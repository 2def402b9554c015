"""What the bodies of requests ask for, or a sentence about what is wrong with them (pure)."""

from __future__ import annotations

import json
from gettext import NullTranslations
from typing import Any, Final

LONGEST_HOLD_MS: Final = 20_000
HOLD_MS: Final = 80
"""How long a tap takes."""


class BadRequest(ValueError):
    """The sentence people are told."""


def hold_ms_of(body: bytes, t: NullTranslations) -> int:
    """`{"hold_ms": 80}`, or the length of a tap for an empty body. Raises BadRequest."""
    asked = _object(body, {"hold_ms"}, t).get("hold_ms", HOLD_MS)
    if type(asked) is not int or not 0 <= asked <= LONGEST_HOLD_MS:
        sentence = t.gettext('"hold_ms" must be a whole number from 0 to %(most)s.')
        raise BadRequest(sentence % {"most": LONGEST_HOLD_MS})
    return asked


def flag_of(body: bytes, name: str, t: NullTranslations) -> bool:
    """`{"<name>": true}` or false. Raises BadRequest."""
    asked = _object(body, {name}, t).get(name)
    if not isinstance(asked, bool):
        raise BadRequest(t.gettext('"%(name)s" must be true or false.') % {"name": name})
    return asked


def _object(body: bytes, names: set[str], t: NullTranslations) -> dict[str, Any]:
    try:
        asked = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise BadRequest(t.gettext("The request must be a JSON object."))
    unknown = sorted(asked.keys() - names)
    if unknown:
        raise BadRequest(t.gettext('Nothing is known of "%(name)s".') % {"name": unknown[0]})
    return asked
