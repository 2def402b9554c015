"""A TOML file that people write, checked whole: a model of it, or every problem with its line and what to do."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shared.duration import seconds_from
from shared.toml_lines import line_of


class Table(BaseModel):
    """A table of such a file; a key that it does not name is a problem, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _duration(value: object) -> object:
    if isinstance(value, str):
        return seconds_from(value)
    raise ValueError('a duration is text, for example "2m", "1h30m" or "90s"')


Seconds = Annotated[int, BeforeValidator(_duration), Field(ge=0, le=7 * 86400)]
SomeSeconds = Annotated[int, BeforeValidator(_duration), Field(gt=0, le=7 * 86400)]
Count = Annotated[int, Field(ge=0, le=100_000, strict=True)]
SomeCount = Annotated[int, Field(ge=1, le=100_000, strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Switch = Annotated[bool, Field(strict=True)]


def _id(value: str) -> str:
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", value) is None:
        raise ValueError(f'"{value}" is no id; write small letters, digits and -, for example "adulto-2"')
    return value


Id = Annotated[str, AfterValidator(_id)]
"""A name that stands in files, addresses and topics."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What is wrong where in a file, and what to write instead."""

    line: int | None
    key: str
    text: str

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.key + ': ' if self.key else ''}{self.text}"


class BadFile(ValueError):
    """A file with problems, all of them."""

    def __init__(self, name: str, problems: list[FileProblem]) -> None:
        self.name = name
        self.problems = problems
        super().__init__("\n".join(f"{name}: {p}" for p in problems))


Model = TypeVar("Model", bound=BaseModel)


Also = Callable[[dict[str, Any]], list[FileProblem]]
"""Looks at a file's raw tables for what a model cannot see; must bear any nonsense."""


def load_toml(model: type[Model], path: Path, kind: str, also: Also = lambda _: []) -> Model:
    """A file as its model, or BadFile with every problem of it; `kind` names it in sentences: "a rulebook"."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadFile(str(path), [FileProblem(None, "", f"cannot be read ({error.strerror})")]) from error
    return parse_toml(model, raw, str(path), kind, also)


def parse_toml(model: type[Model], raw: bytes, name: str, kind: str, also: Also = lambda _: []) -> Model:
    """A file's bytes as its model, or BadFile with every problem of it."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadFile(name, [FileProblem(line, "", "not UTF-8 text; save it as UTF-8")]) from error
    try:
        data = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise BadFile(name, [FileProblem(None, "", f"not TOML: {error}")]) from error
    except (ValueError, RecursionError) as error:
        text = "not TOML that anybody wrote: it nests too deep, or holds a number that is too long"
        raise BadFile(name, [FileProblem(None, "", text)]) from error
    problems: list[FileProblem] = []
    try:
        checked = model.model_validate(data)
    except ValidationError as error:
        problems += _problems(error, text, data, kind)
        checked = None
    problems += [
        replace(p, line=p.line or line_of(text, _parts(p.key)), key=_dotted(_parts(p.key)))
        for p in also(data)
    ]
    if checked is None or problems:
        raise BadFile(name, problems)
    return checked


#: Words of the checking library replaced by what to do about it.
_SAY: Final[dict[str, str]] = {
    "missing": "is missing; add it",
    "extra_forbidden": "is no key of {kind}; look for a spelling mistake or remove it",
    "int_type": "must be a whole number, without quotes",
    "string_type": "must be text in quotes",
    "bool_type": "must be true or false, without quotes",
    "model_type": "must be a table of keys",
    "tuple_type": "must be a list",
    "dict_type": 'must be text, or { es = "…", en = "…" }',
    "too_short": "has too few entries; add what is missing",
    "string_too_short": "is empty; write something",
    "string_too_long": "is too long; shorten it",
    "greater_than": "is too small; write a larger one",
    "greater_than_equal": "is too small; write a larger one",
    "less_than_equal": "is too large; write a smaller one",
    "date_from_datetime_parsing": "must be a date, written 2026-05-09 without quotes",
    "date_type": "must be a date, written 2026-05-09 without quotes",
}


def _problems(error: ValidationError, text: str, data: Any, kind: str) -> Iterator[FileProblem]:
    told: set[FileProblem] = set()
    for item in error.errors(include_url=False):
        path = _path_in(data, item["loc"])
        if item["type"] == "too_short" and any(p.key.startswith(f"{_dotted(path)}[") for p in told):
            continue  # the library counts only the good ones; the bad ones have been told
        said = _SAY.get(item["type"], item["msg"].removeprefix("Value error, ")).replace("{kind}", kind)
        problem = FileProblem(line_of(text, path), _dotted(path), said)
        if problem not in told:
            told.add(problem)
            yield problem


def _path_in(data: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The part of a location that is in the file: the library also names the branches that it tried."""
    path: list[int | str] = []
    here = data
    for n, part in enumerate(loc):
        found, inside = _inside(here, part)
        if found or (isinstance(here, dict) and n == len(loc) - 1):  # the last may be a missing key
            path.append(part)
            here = inside
    return tuple(path)


def _inside(here: Any, part: int | str) -> tuple[bool, Any]:
    if isinstance(here, dict) and part in here:
        return True, here[part]
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return True, here[part]
    return False, here


def _parts(key: str) -> tuple[int | str, ...]:
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


def _dotted(path: tuple[int | str, ...]) -> str:
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            words[-1] += f"[{part + 1}]"
        else:
            words.append(str(part))
    return ".".join(words)
