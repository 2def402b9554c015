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
    kept = request.cookies.get(COOKIE)
    return (
        asked_language(request)
        or (kept if kept in LANGUAGES else None)
        or _accepted(request.headers.get("accept-language", ""))
    )


def _accepted(header: str) -> str:
    """The first of our languages by the weights of an `Accept-Language` header, else the default."""
    weighed = []
    for item in header.split(","):
        tag, _, parameter = item.partition(";")
        language = tag.strip().split("-")[0].lower()
        if language in LANGUAGES:
            weighed.append((_weight(parameter), language))
    best = max(weighed, key=lambda pair: pair[0], default=(0.0, DEFAULT_LANGUAGE))
    return best[1] if best[0] > 0 else DEFAULT_LANGUAGE


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
