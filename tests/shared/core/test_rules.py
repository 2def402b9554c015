"""The identity of a category's rules: what can change a result, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from tests.builders import CASTRILLO, TORNEO

ADULTS = TORNEO["adulto"]


def test_a_name_is_no_part_of_the_rules() -> None:
    assert replace(ADULTS, name="Erwachsene", names=(("de", "Erwachsene"),)).digest() == ADULTS.digest()


def test_any_number_is_a_part_of_the_rules() -> None:
    assert replace(ADULTS, limit_ms=1).digest() != ADULTS.digest()
    assert len({rules.digest() for rules in (TORNEO | CASTRILLO).values()}) == len(TORNEO | CASTRILLO)


def test_a_category_has_a_name_in_each_language_or_its_own() -> None:
    assert ADULTS.name_in("en") == "Adult"
    assert ADULTS.name_in("eu") == ADULTS.name
