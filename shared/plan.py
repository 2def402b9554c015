"""The plan of one table: its seat number and the next runs, as sent in `down/plan` and kept on the table."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from shared.core.rules import CategoryRules

_RULES: TypeAdapter[CategoryRules] = TypeAdapter(CategoryRules)


class BadPlan(ValueError):
    """A plan that cannot be used; says why in one clause."""


class PlannedRun(BaseModel):
    """One run to come: who, when in the order of this table, in which category."""

    model_config = ConfigDict(frozen=True)

    order: int
    heat: str | None = None
    entrant: Annotated[str, Field(min_length=1)]
    public_name: str
    category: str

    @property
    def key(self) -> tuple[str | None, str, str]:
        """What makes a planned run the same run: heat, category, entrant."""
        return self.heat, self.category, self.entrant


class BegunRun(BaseModel):
    """A run that another log tells of: whoever it is of is not offered again, unless it is this table's own."""

    model_config = ConfigDict(frozen=True)

    run: Annotated[str, Field(min_length=1)]
    heat: str | None = None
    category: str
    entrant: Annotated[str, Field(min_length=1)]

    @property
    def key(self) -> tuple[str | None, str, str]:
        """As of a planned run."""
        return self.heat, self.category, self.entrant


class Resume(BaseModel):
    """A run that another device of this table began: what a spare needs to go on with it."""

    model_config = ConfigDict(frozen=True)

    run: Annotated[str, Field(min_length=1)]
    heat: str | None = None
    entrant: str | None = None
    public_name: str = ""
    category: str
    events: tuple[dict[str, Any], ...]
    """The run's events as its logs have them, and what relates the clock of its boots to the hub's."""

    @property
    def key(self) -> tuple[str | None, str, str]:
        """As of a planned run."""
        return self.heat, self.category, self.entrant or ""


class Plan(BaseModel):
    """What the hub has planned for one table."""

    model_config = ConfigDict(frozen=True)

    revision: int
    table: Annotated[int, Field(ge=1)]
    tournament: str = ""
    day: str | None = None
    categories: dict[str, CategoryRules]
    runs: tuple[PlannedRun, ...]
    conflict: tuple[str, ...] = ()
    """Other devices that stand on this seat: while there are any, nobody is planned here."""
    resume: Resume | None = None
    """A run that goes on here, at the judge's START."""
    begun: tuple[BegunRun, ...] = ()
    """Runs of whoever is planned here that began at another table, or in an earlier log of this one."""
    voided: tuple[str, ...] = ()
    """Runs of this table that were voided: whom they were of can be started again."""
    withdrawn: bool = False
    """The table has no plan any more: it times as its settings say."""

    def as_json(self) -> dict[str, Any]:
        """The plan as it stands on the wire and on the table's disk."""
        return self.model_dump(mode="json")


def plan_from_json(value: object) -> Plan:
    """A plan from a parsed JSON object; unknown fields are ignored. Raises BadPlan."""
    try:
        plan = Plan.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(p) for p in first["loc"])
        raise BadPlan(f"{where}: {first['msg']}") from error
    wanted = {r.category for r in plan.runs} | ({plan.resume.category} if plan.resume else set())
    unknown = wanted - set(plan.categories)
    if unknown:
        raise BadPlan(f"runs of categories that the plan does not describe: {', '.join(sorted(unknown))}")
    return plan


def rules_to_json(rules: CategoryRules) -> dict[str, Any]:
    """A category's rules as a JSON object."""
    dumped: dict[str, Any] = _RULES.dump_python(rules, mode="json")
    return dumped


def rules_from_json(value: object) -> CategoryRules:
    """A category's rules from a JSON object. Raises BadPlan."""
    try:
        return _RULES.validate_python(value)
    except ValidationError as error:
        raise BadPlan(f"no rules of a category: {error.errors(include_url=False)[0]['msg']}") from error
