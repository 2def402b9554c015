"""Generated pages are what the code says now."""

from __future__ import annotations

from tests.docs import machine


def test_the_page_of_the_run_machine_is_generated_from_its_table() -> None:
    assert machine.PAGE.read_text() == machine.page(), "run make docs"
