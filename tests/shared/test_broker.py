"""Which MQTT version is tried next."""

from __future__ import annotations

from shared.broker import Version, VersionChoice


def test_version_5_is_tried_first() -> None:
    assert VersionChoice().version is Version.V5


def test_versions_alternate_until_one_works() -> None:
    choice = VersionChoice()
    tried = []
    for _ in range(4):
        tried.append(choice.version)
        choice.failed()
    assert tried == [Version.V5, Version.V311, Version.V5, Version.V311]


def test_a_version_that_worked_is_given_up_only_after_three_failures_in_a_row() -> None:
    choice = VersionChoice()
    choice.worked()
    tried = []
    for _ in range(8):
        tried.append(choice.version.value)
        choice.failed()
    assert tried == [5, 5, 5, 4, 5, 5, 5, 4]


def test_a_success_forgets_the_failures_before() -> None:
    choice = VersionChoice()
    choice.failed()
    choice.worked()
    choice.failed()
    choice.failed()
    assert choice.version is Version.V311
