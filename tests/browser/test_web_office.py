"""An organiser's and a judge's way through the pages in a real browser, without a line of script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from hub.store import PlanRow
from hub.web.server import Server
from tests.browser.chromium import chromium
from tests.hub.web_office import PASSWORD, a_run, hall

DEADLINE_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def test_from_the_first_password_to_a_ruling_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    expect.set_options(timeout=DEADLINE_MS)
    with hall(tmp_path) as here:
        here.plans([PlanRow("1", 1, 1, "e1", "adulto", "Ana G.")])
        here.hears(a_run())
        server = Server(here.app, host="127.0.0.1", port=0)
        server.start()
        context = browser.new_context(
            locale="es-ES", java_script_enabled=False, viewport={"width": 360, "height": 740}
        )
        context.set_default_timeout(DEADLINE_MS)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.get_by_role("link", name="Entrar").click()
        page.get_by_label("Nombre").fill("Marta")
        for label in ("Contraseña", "La misma otra vez"):
            page.get_by_label(label).fill(PASSWORD)
        page.get_by_role("button", name="Poner la contraseña").click()
        page.get_by_label("Nombre").fill("Eva")
        page.get_by_role("button", name="Crear un PIN").click()
        expect(page.get_by_text("PIN nuevo").first).to_be_visible()
        pin = page.locator(".pin strong").inner_text()
        page.get_by_role("link", name="Marta").click()
        page.get_by_role("button", name="Salir").click()

        page.goto(f"http://127.0.0.1:{server.port}/login?name=Eva&pin={pin}")
        page.get_by_role("button", name="Entrar").click()
        page.get_by_role("link", name="Ana G.").click()
        page.locator("summary", has_text="penalización").click()
        ruling = page.locator("details[open] form")
        ruling.get_by_label("Tiempo").fill("1:30")
        ruling.get_by_label("Motivo").fill("tocó otra mesa")
        ruling.get_by_role("button").click()
        expect(page.locator(".outcome")).to_contain_text("44:51")
        expect(page.get_by_text("tocó otra mesa")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        context.close()
        server.stop()
