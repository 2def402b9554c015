"""Words for people in their language: gettext catalogues, Spanish first, msgids in English."""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("es", "en")
"""Languages people can choose, the default first."""

DEFAULT_LANGUAGE: Final = "es"
DOMAIN: Final = "messages"
LOCALES: Final = Path(__file__).parent / "locales"


@cache
def translator(language: str) -> gettext.NullTranslations:
    """The catalogue of a language; without one (English, or unknown) the msgids themselves are the words.

    The same object for everyone who asks: use its `gettext`, `ngettext`, `pgettext`, `npgettext`.
    """
    return gettext.translation(DOMAIN, LOCALES, languages=[language], fallback=True)
