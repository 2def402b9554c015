"""The hub's settings: all problems at once, with their lines, in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hub.cli import main


def check(folder: Path, text: str) -> tuple[int, str]:
    path = folder / "hub.toml"
    path.write_text(text)
    result = CliRunner().invoke(main, ["config", "check", "--config", str(path)])
    return result.exit_code, result.output


def test_the_effective_settings_are_shown_without_the_password(tmp_path: Path) -> None:
    text = 'rulebook = "castrillo-2023"\n[broker]\npassword = "s3cret"\n'
    code, said = check(tmp_path, text)
    assert code == 0
    assert "port = 8000" in said
    assert "5 categories" in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["rulebook: is missing"]),
        ('rulebook = "nope"\n', ["rulebook nope", "cannot be read"]),
        (
            'rulebook = "nope"\ncolour = 1\n',
            ["cannot be read", "line 2: colour: is no key of the hub's settings"],
        ),
        (
            'rulebook = "castrillo-2023"\n[web]\nopen = "yes"\nport = 0\n',
            ["web.open: must be true", "web.port"],
        ),
        ('rulebook = "castrillo-2023"\n[broker]\nbase = "#"\nport = 99999\n', ["broker.base", "broker.port"]),
    ],
)
def test_all_problems_are_told_at_once(tmp_path: Path, text: str, told: list[str]) -> None:
    code, said = check(tmp_path, text)
    assert code == 1
    assert all(part in said for part in told), said
    assert "Traceback" not in said
