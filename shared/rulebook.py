"""A tournament's rulebook: one TOML file, checked whole, turned into the rules the core folds with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo

from shared.checked_toml import BadFile, load_toml, parse_toml
from shared.core.rules import CategoryRules
from shared.rulebook_checks import contradictions
from shared.rulebook_schema import RulebookFile


class BadRulebook(BadFile):
    """A rulebook with problems, all of them."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """A reading to be confirmed with the organiser: the key that holds it, and the question by language."""

    key: str
    question: dict[str, str]


@dataclass(frozen=True, slots=True)
class Rulebook:
    """A tournament's rules, ready to be folded with."""

    name: str
    zone: ZoneInfo
    language: str
    categories: dict[str, CategoryRules]
    ages_on: date | None = None
    confirm: tuple[Confirm, ...] = ()


def load_rulebook(path: Path) -> Rulebook:
    """The rulebook in a file, or BadRulebook with every problem of it."""
    try:
        return _rulebook(load_toml(RulebookFile, path, "a rulebook", contradictions))
    except BadFile as error:
        raise BadRulebook(error.name, error.problems) from error


def parse_rulebook(raw: bytes, name: str = "rulebook") -> Rulebook:
    """The rulebook in a file's bytes, or BadRulebook with every problem of it."""
    try:
        return _rulebook(parse_toml(RulebookFile, raw, name, "a rulebook", contradictions))
    except BadFile as error:
        raise BadRulebook(error.name, error.problems) from error


def _rulebook(file: RulebookFile) -> Rulebook:
    return Rulebook(
        name=file.tournament.name,
        zone=ZoneInfo(file.tournament.time_zone),
        language=file.tournament.language,
        categories={c.id: c.rules() for c in file.category},
        ages_on=file.tournament.ages_on,
        confirm=tuple(Confirm(c.key, {str(k): v for k, v in c.question.items()}) for c in file.confirm),
    )


def shipped_rulebook(name: str) -> Rulebook:
    """A rulebook that comes with the program, by its file name without `.toml`."""
    source = resources.files("shared") / "rulebooks" / f"{name}.toml"
    return parse_rulebook(source.read_bytes(), f"{name}.toml")


def shipped_names() -> list[str]:
    """The names of the rulebooks that come with the program."""
    folder = resources.files("shared") / "rulebooks"
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))


def find_rulebook(name_or_path: str) -> Rulebook:
    """A rulebook by path, or by the name of one that comes with the program."""
    if name_or_path in shipped_names():
        return shipped_rulebook(name_or_path)
    return load_rulebook(Path(name_or_path))


def template() -> str:
    """A commented rulebook to start from."""
    return (resources.files("shared") / "rulebook_template.toml").read_text(encoding="utf-8")
