"""What the guides for hall and installation tell to type and to bring is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from device.cli import main as table_timer
from device.error_codes import ErrorCode
from hub.cli import main as timer_hub
from hub.web.routes import ROUTES

ROOT = Path(__file__).parents[2]
HALL = (ROOT / "docs" / "hall.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
TYPED = re.compile(r"(?:sudo )?(timer-hub|table-timer) ([a-z][a-z-]*)((?:[^\S\n]+[^\s`|&;]+)*)")


def commands(page: Path) -> list[tuple[str, str, list[str]]]:
    """Every one of our commands that stands as something to type, with its options."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```\n.*?^```", "", text, flags=re.M | re.S))
    found = [match for piece in [*fences, *spans] for match in TYPED.findall(piece)]
    return [(program, name, re.findall(r"--[a-z][a-z-]*", more)) for program, name, more in found]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_command_that_a_page_tells_to_type_is_there_with_its_options(page: Path) -> None:
    programs: dict[str, click.Group] = {"timer-hub": timer_hub, "table-timer": table_timer}
    for program, name, options in commands(page):
        command = programs[program].commands.get(name)
        assert command is not None, f"{page.name}: {program} {name}"
        nested = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        known = {option for each in nested for p in each.params for option in p.opts}
        assert set(options) <= known | {"--help"}, f"{page.name}: {program} {name} {options}"


@pytest.mark.parametrize(
    "said",
    [
        "A router of your own",
        "The hall's own Wi-Fi is not for tables",
        "Visitors apart",
        "another channel than the tables'",
        "takes some 8 stations",
        "five tables and nobody else; never for the public",
        "Phones leave a Wi-Fi that has no internet",
        "mobile data off",
        "QR codes",
        "with numbers",
        "Power banks: only ones that stay on",
    ],
)
def test_the_guide_for_the_hall_says_what_a_pis_own_access_point_cannot_do(said: str) -> None:
    """F06: only a document can answer that, and this is what it has to say."""
    assert said in re.sub(r"[*\s]+", " ", HALL)


@pytest.mark.parametrize("address", sorted(set(re.findall(r"`(/[a-z]+)`", HALL))))
def test_every_page_that_the_guide_names_is_there(address: str) -> None:
    assert address in {route.path for route in ROUTES}


def test_every_number_of_the_display_is_explained() -> None:
    told = (ROOT / "docs" / "error-codes.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (E\d\d) \|", told, re.M) == [str(code) for code in ErrorCode]
