"""`make docs`: the pictures of display and pages in `docs/pictures/`, and the judge's cards beside them."""

from __future__ import annotations

from pathlib import Path

from tests.docs import card, display, machine, pages, sheet

PICTURES = Path("docs/pictures")
FRONT = {
    "ready", "preview", "running", "paused", "assisting", "claimed, without network", "sealed",
    "counting", "after a pulled plug",
}  # fmt: skip


def main() -> None:
    """Make them all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    machine.PAGE.write_text(machine.page())
    for language in ("es", "en"):
        card.make(language, card.path(language))
        shots = display.screens(language)
        sheet.sheet(shots, language).save(PICTURES / f"display-{language}.png", optimize=True)
        if language == "es":
            sheet.sheet(shots, keep=FRONT).save(PICTURES / "display.png", optimize=True)
    pages.shoot(PICTURES)


if __name__ == "__main__":
    main()
