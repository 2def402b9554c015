"""A virtual table in a real browser: mouse, finger and keys on its buttons, its picture, its plug."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from device.debounce import Button
from device.simulator.supervisor import Supervisor, Tables
from tests.browser.chromium import chromium
from tests.device.virtual import NO_HUB, served, until
from tests.waiting import GENEROUS_S

DEADLINE_MS = 30_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="es-ES", has_touch=True)
    context.set_default_timeout(DEADLINE_MS)
    expect.set_options(timeout=DEADLINE_MS)
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def table(tmp_path: Path, page: Page) -> Iterator[tuple[Supervisor, str]]:
    """Castrillo has no preview: START starts the clock. The page of its table is open."""
    tables = Tables(2, tmp_path, NO_HUB, rulebook="castrillo-2023", categories=("adulto",))
    with served(tables) as (supervisor, client):
        address = str(client.base_url).rstrip("/")
        page.goto(f"{address}/tables/1")
        page.wait_for_load_state("load")
        expect(page.locator(".screen")).to_have_attribute("alt", _with("START empieza"))
        yield supervisor, address


def _with(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(words))


def test_a_button_pressed_and_held_with_the_mouse_goes_down_and_up(
    page: Page, table: tuple[Supervisor, str]
) -> None:
    supervisor, _ = table
    picture = page.locator(".screen").get_attribute("src")
    start = page.get_by_role("button", name="START")
    start.click()
    until(supervisor, "running")
    expect(page.locator(".screen")).not_to_have_attribute("src", picture or "")
    start.hover()
    page.mouse.down()
    assert supervisor.wait_for(1, lambda v: v.down == {Button.START}, GENEROUS_S)
    expect(page.locator(".screen")).to_have_attribute("alt", _with("ANULAR SALIDA"))
    until(supervisor, "ready")
    page.mouse.up()
    assert supervisor.wait_for(1, lambda v: not v.down, GENEROUS_S)


def test_key_1_is_start_and_a_key_held_is_a_button_held(page: Page, table: tuple[Supervisor, str]) -> None:
    supervisor, _ = table
    page.keyboard.down("1")
    until(supervisor, "running")
    page.keyboard.down("1")  # as a keyboard repeats a key that is held
    page.keyboard.up("1")
    assert supervisor.wait_for(1, lambda v: not v.down, GENEROUS_S)
    page.keyboard.down("1")
    expect(page.locator("[data-button=start]")).to_have_class(_with("down"))
    until(supervisor, "ready")
    page.keyboard.up("1")
    assert supervisor.wait_for(1, lambda v: not v.down, GENEROUS_S)
    page.keyboard.press("4")
    assert supervisor.wait_for(1, lambda v: v.table["refusal"] == "not_started", GENEROUS_S)


def test_a_button_with_the_focus_can_be_pressed_with_the_space_bar(
    page: Page, table: tuple[Supervisor, str]
) -> None:
    supervisor, _ = table
    page.get_by_role("button", name="START").focus()
    page.keyboard.press(" ")
    until(supervisor, "running")


def test_a_finger_presses_too(page: Page, table: tuple[Supervisor, str]) -> None:
    supervisor, _ = table
    page.get_by_role("button", name="START").tap()
    until(supervisor, "running")
    assert supervisor.wait_for(1, lambda v: not v.down, GENEROUS_S)


def test_a_page_that_loses_the_focus_lets_go(page: Page, table: tuple[Supervisor, str]) -> None:
    supervisor, _ = table
    page.keyboard.down("2")
    assert supervisor.wait_for(1, lambda v: v.down == {Button.PAUSE}, GENEROUS_S)
    page.evaluate("dispatchEvent(new Event('blur'))")
    assert supervisor.wait_for(1, lambda v: not v.down, GENEROUS_S)


def test_the_plug_is_pulled_and_put_in_on_the_page(page: Page, table: tuple[Supervisor, str]) -> None:
    supervisor, _ = table
    page.get_by_role("switch", name="Enchufada").click()
    expect(page.get_by_role("switch", name="Desenchufada")).to_be_visible()
    expect(page.locator(".device .said")).to_contain_text("Desenchufada")
    assert not supervisor.view(1).on
    page.get_by_role("switch", name="Desenchufada").click()
    expect(page.locator(".screen")).to_have_attribute("alt", _with("START empieza"))
    expect(page.locator(".device .said")).to_have_text("")


def test_what_somebody_else_presses_is_seen_on_the_page(page: Page, table: tuple[Supervisor, str]) -> None:
    _, address = table
    httpx.post(f"{address}/tables/1/pins/assist", json={"down": True}, trust_env=False)
    expect(page.locator("[data-button=assist]")).to_have_class(_with("down"))
    httpx.post(f"{address}/tables/1/pins/assist", json={"down": False}, trust_env=False)
    expect(page.locator("[data-button=assist].down")).to_have_count(0)


def test_a_page_without_its_tables_says_so(tmp_path: Path, page: Page) -> None:
    with served(Tables(1, tmp_path, NO_HUB, categories=("adulto",))) as (_, client):
        page.goto(f"{client.base_url}/tables/1")
        expect(page.locator(".screen")).to_have_attribute("alt", _with("START empieza"))
    expect(page.get_by_role("alert")).to_contain_text("Sin conexión con las mesas virtuales")


def test_the_list_shows_every_table_live(page: Page, table: tuple[Supervisor, str]) -> None:
    supervisor, address = table
    page.goto(f"{address}/")
    supervisor.press(2, Button.START, 0.08)
    expect(page.locator("[data-table='2'] .screen")).to_have_attribute("alt", _with("FINISH"))
    page.get_by_role("link", name="Mesa 2").click()
    expect(page.get_by_role("heading", name="Mesa 2")).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/tables/2"])
@pytest.mark.parametrize("language", ["es", "en"])
def test_nothing_is_wider_than_a_small_phone(
    page: Page, table: tuple[Supervisor, str], path: str, language: str
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{table[1]}{path}?lang={language}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_display_buttons_and_plug_are_on_a_phone_without_scrolling(
    page: Page, table: tuple[Supervisor, str]
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{table[1]}/tables/2")
    box = page.locator("#power").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 740
