"""Which language a visitor reads: as asked in the address, else as chosen before, else the browser's."""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection

from shared.texts import DEFAULT_LANGUAGE, LANGUAGES

COOKIE: Final = "lang"
COOKIE_AGE_S: Final = 365 * 24 * 3600


def asked_language(request: HTTPConnection) -> str | None:
    """The language asked for with `?lang=`, if it is one of ours."""
    asked = request.query_params.get("lang")
    return asked if asked in LANGUAGES else None


def language_of(request: HTTPConnection) -> str:
    """The language of an answer to this visitor; one of ours, whatever was sent."""
    asked = asked_language(request)
    if asked is not None:
        return asked
    kept = request.cookies.get(COOKIE)
    if kept in LANGUAGES:
        return kept
    return accepted_language(request.headers.get("accept-language", ""))


def accepted_language(header: str) -> str:
    """The first of our languages by the weights of an `Accept-Language` header, else the default."""
    best, best_weight = DEFAULT_LANGUAGE, 0.0
    for item in header.split(","):
        tag, _, parameters = item.partition(";")
        language = tag.strip().split("-")[0].lower()
        weight = _weight(parameters)
        if language in LANGUAGES and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
