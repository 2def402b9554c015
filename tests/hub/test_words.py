"""Every state, status, mark, refusal and problem that can come out of the core has its words in each language."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.facts import Refusal as ShownRefusal
from device.presses import Refused
from device.situation import Situation
from device.words import refusal_text, undo_text
from hub.web.problem_words import problem_words
from hub.web.words import mark_word, state_word, status_word
from shared.core.events import EventType
from shared.core.machine import ROWS
from shared.core.model import Mark, Refusal, State, Status
from shared.core.state import Frame, RunState
from shared.rulebook import shipped_rulebook
from shared.texts import LANGUAGES, translator

ROOT = Path(__file__).parent.parent.parent
REPORTERS = {"Problem", "report", "_report", "problem_of"}
#: Problems that never reach a page: who may compete is told where people are registered.
ELSEWHERE = {"wrong_number_of_people", "wrong_age", "wrong_birth_year", "too_few_among"}


def _calls(folder: str) -> Iterator[ast.Call]:
    for path in (ROOT / folder).rglob("*.py"):
        yield from (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call))


def _first_text(call: ast.Call) -> str | None:
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def problem_codes() -> set[str]:
    """Every code that core and score give a problem, as their source has it."""
    calls = [*_calls("shared/core"), *(c for c in _calls("hub") if _name(c) == "Problem")]
    codes = {_first_text(call) for call in calls if _name(call) in REPORTERS}
    return {code for code in codes if code} - ELSEWHERE


def press_reasons() -> set[str]:
    """Every reason for which the table itself refuses a press."""
    source = ast.parse((ROOT / "device" / "presses.py").read_text())
    calls = [n for n in ast.walk(source) if isinstance(n, ast.Call) and _name(n) == Refused.__name__]
    constants = (c.args[1] for c in calls if len(c.args) > 1)
    return {c.value for c in constants if isinstance(c, ast.Constant) and isinstance(c.value, str)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_has_a_sentence(language: str) -> None:
    codes = problem_codes()
    assert len(codes) > 15, "the search finds them"
    unspoken = {code for code in codes if problem_words({"code": code}, translator(language)) == code}
    assert unspoken == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_refusal_fits_the_display_in_words(language: str) -> None:
    situation = Situation(
        RunState(), RunState(), Frame(shipped_rulebook("castrillo-2023").categories["parejas"])
    )
    reasons = {str(refusal) for refusal in Refusal} | press_reasons()
    texts = {reason: refusal_text(language, ShownRefusal(reason), situation) for reason in reasons}
    assert {reason for reason, text in texts.items() if text == reason or "_" in text} == set()
    assert {text for text in texts.values() if len(text) > 27} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_act_that_can_be_undone_has_its_title(language: str) -> None:
    nothing = undo_text(language, None)
    undoable = {row.act for row in ROWS if row.in_effect} - {EventType.PIECES_COUNTED}  # sealed at once
    assert {act for act in undoable if undo_text(language, act) == nothing} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_status_and_mark_has_its_word(language: str) -> None:
    t = translator(language)
    words = [state_word(str(s), t) for s in State]
    words += [status_word(str(s), t) for s in Status]
    words += [mark_word(str(m), t) for m in Mark]
    plain = {str(x) for kind in (State, Status, Mark) for x in kind if "_" in x}
    assert all(words)
    assert plain.isdisjoint(words)
