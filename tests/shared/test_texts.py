"""Every word people see is there in Spanish, and the compiled catalogue is the one that can be read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po

from shared.texts import DEFAULT_LANGUAGE, DOMAIN, LANGUAGES, LOCALES, translator

ROOT = Path(__file__).parents[2]
PACKAGES = ("device", "hub", "shared")
SPANISH = LOCALES / "es" / "LC_MESSAGES" / f"{DOMAIN}.po"


def spanish() -> Catalog:
    with SPANISH.open("rb") as file:
        return read_po(file, locale="es")


def used() -> Iterator[tuple[str, str | tuple[str, ...], str | None]]:
    """Where a text is used, the text, its context."""
    with (LOCALES / "babel.cfg").open(encoding="utf-8") as file:
        methods, options = parse_mapping_cfg(file)  # type: ignore[no-untyped-call]
    for package in PACKAGES:
        for name, line, text, _comments, context in extract_from_dir(ROOT / package, methods, options):
            yield f"{package}/{name}:{line}", text, context


def words(catalog: Catalog) -> dict[tuple[str | None, str], object]:
    """All texts but the header, which names the program that wrote it."""
    return {(message.context, str(message.id)): message.string for message in catalog if message.id}


def is_translated(message: Message | None) -> bool:
    if message is None or message.fuzzy:
        return False
    return all(message.string) if isinstance(message.string, tuple) else bool(message.string)


def test_every_text_in_code_and_templates_is_there_in_spanish() -> None:
    catalog = spanish()
    texts = list(used())
    missing = [
        f"{where}: {text}" for where, text, context in texts if not is_translated(catalog.get(text, context))
    ]
    assert texts
    assert missing == []


def test_the_compiled_catalogue_is_the_readable_one() -> None:
    compiled = io.BytesIO()
    write_mo(compiled, spanish())
    compiled.seek(0)
    with SPANISH.with_suffix(".mo").open("rb") as file:
        assert words(read_mo(file)) == words(read_mo(compiled))


def test_what_a_text_has_blanks_for_its_translation_fills() -> None:
    wrong = [str(message.id) for message in spanish() if message.id and message.check()]
    assert wrong == []


def test_spanish_is_the_default_and_english_needs_no_catalogue() -> None:
    assert LANGUAGES[0] == DEFAULT_LANGUAGE == "es"
    assert translator("es").pgettext("status", "in play") == "en juego"
    assert translator("en").pgettext("status", "in play") == "in play"
    assert translator("xx").gettext("Standings") == "Standings"
    assert translator("es") is translator("es")
