"""What the guides for hall and installation tell to type and to bring is what there is."""

from __future__ import annotations

import re
import subprocess
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


def test_every_sentence_about_a_table_is_explained_with_what_to_do() -> None:
    """By the code that the status message has; what a table or the watch over its link can say."""
    told = (ROOT / "docs" / "error-codes.md").read_text(encoding="utf-8")
    sources = [*(ROOT / "device").glob("*.py"), ROOT / "hub" / "link_watch.py"]
    said = {word for path in sources for word in re.findall(r'"([a-z_]+)"', path.read_text(encoding="utf-8"))}
    for path in (ROOT / "shared" / "core").glob(
        "*.py"
    ):  # what comes out of folding is about a run, not a table
        said -= set(re.findall(r'"([a-z_]+)"', path.read_text(encoding="utf-8")))
    said |= {f"storage_{kind}" for kind in ("full", "failing", "read_only")}
    words = (ROOT / "hub" / "web" / "problem_words.py").read_text(encoding="utf-8")
    codes = {code for code in re.findall(r'^        "([a-z_]+)": t\.pgettext', words, re.M) if code in said}
    assert {"button_stuck", "cannot_time", "not_saved", "supply_weak"} <= codes
    assert {code for code in codes if not re.search(rf"^\| `{code}` \| .+ \| .+ \|$", told, re.M)} == set()


def fences(page: Path) -> list[str]:
    return re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_what_a_page_tells_to_type_works_as_it_stands_there(page: Path) -> None:
    for fence in fences(page):
        # the folders are closed to the user whose shell would look for the names
        assert not re.search(r"(?:/var/lib|/etc)/t[a-z-]+/\S*\*", fence), fence
        if "git clone" in fence:
            assert "sudo apt install git\n" in fence.partition("git clone")[0], fence
        for command in ("table-timer selftest", "table-timer check-display"):
            if f"sudo {command}" in fence:
                before, _, after = fence.partition(f"sudo {command}")
                assert "systemctl stop table-timer" in before, fence
                assert "systemctl start table-timer" in after, fence
        for line in fence.splitlines():
            if re.match(r"timer-hub (backup|restore|load|refill|archive|password) ", line):
                assert "/etc/timer-hub" not in line, f"sudo is missing: {line}"


def test_the_installer_on_a_stick_is_started_by_bash_for_a_stick_knows_no_programs() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert re.findall(r"(\S+) /media/STICK/\S*install\.sh", text) == ["bash"]


def test_a_card_that_is_to_be_copied_forgets_by_a_command_that_does_so(tmp_path: Path) -> None:
    (told,) = re.findall(
        r"sudo (find /var/lib/table-timer .*? -delete) ", (ROOT / "docs" / "install.md").read_text()
    )
    for name in ("board.json", ".hidden", "log.journal"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()
    subprocess.run(told.replace("/var/lib/table-timer", str(tmp_path)), shell=True, check=True)
    assert list(tmp_path.iterdir()) == []
