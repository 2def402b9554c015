"""The public shape of the API: what each answer holds, and the OpenAPI description made from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

VERSION: Final = "1"
Seconds = Annotated[int, Field(description="Whole seconds.")]


class Answer(BaseModel):
    """More fields may come; the ones named stay."""

    model_config = ConfigDict(extra="allow")


class Problem(Answer):
    """Something in the logs that people must know; where it stands is told to staff only."""

    code: str
    level: Literal["info", "warning", "error"] | None = None
    log: str | None = None
    seq: int | None = None
    run: str | None = None


class Standing(Answer):
    """One line of a category's ranking."""

    rank: int | None = Field(description="Null where none is due; equal results share a rank.")
    entrant: str | None
    name: str | None = Field(description="Public name: never more than people in the hall may know.")
    table: int | None
    status: Literal["RUNNING", "FINISHED", "UNFINISHED", "DNS", "DNF", "DSQ", "VOID"]
    official_s: Seconds | None = Field(description="Null for an uncounted run and where pieces rank.")
    official: str | None = Field(description="The official time as `h:mm:ss` or `m:ss`.")
    raw_s: Seconds | None = Field(description="Null without a finish in effect.")
    assist_s: Seconds
    penalty_s: Seconds = Field(description="Signed sum of the penalties in force.")
    stage_s: Seconds | None = Field(description="The escape stage of a pair that finished.")
    pieces: int | None = Field(description="Loose or joined, as the category counts; null for finishers.")
    marks: list[str]
    problems: list[Problem | str]


class FurtherRanking(Answer):
    """A ranking of a category's entrants with a flag, places numbered anew."""

    id: str
    name: dict[str, str] = Field(description="By language.")
    standings: list[Standing]


class Category(Answer):
    """One category and its ranking."""

    id: str
    name: dict[str, str] = Field(description="By language.")
    pieces: int = Field(description="Pieces of the puzzle.")
    count: Literal["loose", "joined"] = Field(description="What `pieces` of a line counts.")
    standings: list[Standing]
    rankings: list[FurtherRanking] = Field(default=[], description="Further rankings from the same race.")


class Standings(Answer):
    """All rankings at one revision."""

    revision: int
    categories: list[Category]
    problems: list[Problem | str]


class Clock(Answer):
    """A clock at the moment of the snapshot, and how to run it on."""

    shown_ms: int | None = Field(description="Milliseconds it read.")
    running: bool
    direction: Literal["up", "down"]
    age_hand_s: float = Field(description="Real seconds since it read that.")
    low: bool = Field(description="The true reading may be higher.")


class Condition(Answer):
    """What a table last told of its parts."""

    software: str | None
    python: str | None
    os: str | None
    display: str | None = Field(description="`ok`, `none`, or what is wrong with it.")
    temperature_c: int | None
    free_mb: int | None = Field(description="Room on its card.")
    throttled: str | None = Field(
        description="The firmware's bits in hexadecimal: 0-3 now, 16-19 since power-on."
    )
    clock_error_ms: int | None = Field(description="How far off the hub's clock it may be.")


class Finding(Answer):
    """One part in a self-test."""

    part: str
    ok: bool
    code: str | None = None
    text: str | None = None


class AskedAnswer(Answer):
    """What a table answered to what people asked of it."""

    id: str
    do: str
    result: str
    why: str
    findings: list[Finding]
    at_ms: int


class Table(Answer):
    """One table as the hub knows it."""

    table: int
    device: str | None
    state: str | None
    run: str | None
    entrant: str | None
    name: str | None
    category: str | None
    category_name: dict[str, str] | None
    unsent: int | None
    online: bool
    link_since_ms: int | None = Field(description="UTC milliseconds of the last news.")
    heat: str | int | None
    clock: Clock | None
    marks: list[str]
    problems: list[Problem | str]
    condition: Condition | None = None
    answer: AskedAnswer | None = None


class Tables(Answer):
    """All tables."""

    tables: list[Table]


class Health(Answer):
    """Whether the hub works, with counters."""

    ok: bool
    backups_ok: bool = Field(description="Whether the last backup could be made.")
    message: str = Field(description="What is wrong with it, and what to do; empty when nothing is.")


class ErrorText(BaseModel):
    """Why there is no answer."""

    status: int
    text: str


class Error(BaseModel):
    """A request that was not answered as asked."""

    error: ErrorText


@cache
def openapi() -> Mapping[str, Any]:
    """The OpenAPI 3.1 description."""
    models: tuple[type[BaseModel], ...] = (Standings, Tables, Health, Error)
    _, schemas = models_json_schema(
        [(model, "serialization") for model in models], ref_template="#/components/schemas/{model}"
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Puzzle table timer hub",
            "version": VERSION,
            "description": "Standings and tables of a jigsaw puzzle tournament, read only.",
        },
        "paths": {
            "/api/v1/standings": _get("Standings of every category", {"200": Standings}),
            "/api/v1/tables": _get(
                "Every table as it is now, for staff", {"200": Tables, "403": Error, "503": Error}
            ),
            "/healthz": _get("Whether the hub works", {"200": Health, "503": Health}),
        },
        "components": {"schemas": schemas["$defs"]},
    }


_LANGUAGE: Final = (
    {
        "name": "lang",
        "in": "query",
        "description": "Language of sentences, `es` or `en`; anything else is not asked for.",
        "schema": {"type": "string"},
    },
    {
        "name": "Accept-Language",
        "in": "header",
        "description": "The same, as browsers ask.",
        "schema": {"type": "string"},
    },
)


def _get(summary: str, answers: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    return {
        "get": {
            "summary": summary,
            "parameters": list(_LANGUAGE),
            "responses": {
                status: {
                    "description": (model.__doc__ or summary).strip(),
                    "content": {
                        "application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
                    },
                }
                for status, model in answers.items()
            },
        }
    }
