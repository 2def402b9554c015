"""The pages in a real browser: they keep in step, say when they cannot, and catch up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, expect

from hub.web.settings import WebSettings
from tests.browser.chromium import chromium
from tests.hub.web_live import FakeLive, a_day, category, line, serving, table

DEADLINE_MS = 30_000
SETTINGS = WebSettings(heartbeat_s=1.0, lost_after_s=20.0, ask_every_s=1.0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="es-ES", timezone_id="Europe/Madrid")
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


def test_a_row_changes_without_loading_the_page_again_and_what_was_open_stays_open(page: Page) -> None:
    live = a_day()
    with serving(live, SETTINGS) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        expect(page.get_by_role("status").first).to_have_text("en directo")
        page.evaluate("window.notReloaded = true")
        page.get_by_text("46:01").click()
        expect(page.get_by_text("43:21 + 2:10 ayuda + 0:30 penalización")).to_be_visible()
        with live.change() as changed:
            changed.categories[0]["standings"][-1] = line(13, "Carmen A.", 16, raw_s=5999)
        row = page.get_by_role("row", name="Carmen A.")
        expect(row).to_contain_text("1:39:59")
        expect(page.get_by_text("43:21 + 2:10 ayuda + 0:30 penalización")).to_be_visible()
        expect(page.locator("#step")).to_have_text(re.compile(r"al día a las \d\d:\d\d:\d\d"))
        assert page.evaluate("window.notReloaded") is True


def test_the_time_of_day_is_the_venues_wherever_the_browser_is(page: Page) -> None:
    """A18: as on the pages that the hub writes."""
    zone = ZoneInfo("Asia/Kolkata")  # half an hour off: no other zone's minutes would do
    with serving(a_day(), replace(SETTINGS, zone=zone)) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        expect(page.get_by_role("status").first).to_have_text("en directo")
        before = datetime.now(zone)
        shown = (page.locator("#step").text_content() or "").split()[-1]
        minutes = {f"{moment:%H:%M}" for moment in (before - timedelta(seconds=30), datetime.now(zone))}
        assert shown[:5] in minutes


def test_a_page_says_since_when_it_lost_the_hub_and_catches_up_by_itself(page: Page) -> None:
    live = a_day()
    with serving(live, SETTINGS) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        status = page.locator("#status")
        expect(status).to_have_text("en directo")
        page.evaluate("window.notReloaded = true")
        server.stop()
        expect(status).to_have_text(re.compile(r"sin conexión desde \d\d:\d\d"))
        expect(page.get_by_text("Nerea G.")).to_be_visible()
        with live.change() as changed:
            changed.categories[0]["standings"][0]["name"] = "Nerea Recién Llegada"
        with serving(live, SETTINGS, port=server.port):
            expect(page.get_by_text("Nerea Recién Llegada")).to_be_visible()
            expect(status).to_have_text("en directo")
            assert page.evaluate("window.notReloaded") is True


def test_a_silent_stream_counts_as_lost(page: Page) -> None:
    silent = replace(SETTINGS, heartbeat_s=3600.0, lost_after_s=1.0)
    with serving(a_day(), silent) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        # It comes back within a second, so the words are caught by the page itself.
        page.evaluate(
            """() => {
                window.said = "";
                const status = document.getElementById("status");
                new MutationObserver(() => (window.said += status.textContent)).observe(status, {childList: true});
            }"""
        )
        page.wait_for_function("() => /sin conexión desde \\d\\d:\\d\\d/.test(window.said)")
        expect(page.locator("#status")).to_have_text("en directo")


def test_a_page_that_finds_no_place_asks_instead(page: Page) -> None:
    live = a_day()
    with serving(live, replace(SETTINGS, public_streams=0)) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        expect(page.locator("#status")).to_have_text("sin directo: se actualiza cada 1 s")
        with live.change() as changed:
            changed.categories[0]["standings"][0]["name"] = "Nerea Recién Llegada"
        expect(page.get_by_text("Nerea Recién Llegada")).to_be_visible()


def test_a_name_that_is_code_stays_a_name_also_when_it_comes_live(page: Page) -> None:
    live = FakeLive(categories=[category("c", "C", "C", 20, "loose", [])])
    name = '<img src=x onerror="window.broken = true"><script>window.broken = true</script>'
    with serving(live, SETTINGS) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        expect(page.locator("#status")).to_have_text("en directo")
        with live.change() as changed:
            changed.categories[0]["standings"].append(line(1, name, 1, raw_s=60))
        expect(page.get_by_text(name)).to_be_visible()
        assert page.evaluate("window.broken") is None


def test_a_name_is_found_without_its_accents(page: Page) -> None:
    with serving(a_day(), SETTINGS) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.get_by_role("searchbox").fill("inigo")
        expect(page.get_by_text("Íñigo L.")).to_be_visible()
        expect(page.get_by_text("Nerea G.")).to_be_hidden()
        expect(page.get_by_text("Puzle y Compañía")).to_be_hidden()
        page.get_by_role("searchbox").fill("nobody at all")
        expect(page.get_by_text("nadie con ese nombre")).to_be_visible()


def test_clocks_run_on_at_the_speed_of_the_run_clock(page: Page) -> None:
    clocks = [
        table(1, "running", "A", shown_ms=3_590_000, running=True, age_hand_s=1.0),
        table(2, "paused", "B", shown_ms=30_000, running=True, direction="down"),
        table(3, "sealed", "C", shown_ms=2_601_000),
    ]
    with serving(FakeLive(table_list=clocks, speed=60.0), SETTINGS) as server:
        page.goto(f"http://127.0.0.1:{server.port}/tables")
        times = page.locator(".clock time")
        expect(times.nth(0)).to_have_text(re.compile(r"1:0[4-9]:\d\d"))
        expect(times.nth(1)).to_have_text("0:00")
        expect(times.nth(2)).to_have_text("43:21")


def test_a_hidden_page_gives_its_stream_back_and_catches_up_when_seen_again(page: Page) -> None:
    live = a_day()
    with serving(live, replace(SETTINGS, public_streams=1)) as server:
        page.goto(f"http://127.0.0.1:{server.port}/")
        expect(page.locator("#status")).to_have_text("en directo")
        # Headless pages are never hidden by themselves; the page's own event is what the browser would send.
        page.evaluate(
            """() => {
                Object.defineProperty(document, "hidden", {value: true, configurable: true});
                document.dispatchEvent(new Event("visibilitychange"));
            }"""
        )
        expect(page.locator("#status")).to_have_text("")
        with page.expect_response(re.compile("/healthz")) as answer:
            page.wait_for_function(
                "async () => (await (await fetch('/healthz')).json()).streams.standings === 0"
            )
        assert answer.value.ok
        with live.change() as changed:
            changed.categories[0]["standings"][0]["name"] = "Nerea Recién Llegada"
        page.evaluate(
            """() => {
                delete document.hidden;
                document.dispatchEvent(new Event("visibilitychange"));
            }"""
        )
        expect(page.get_by_text("Nerea Recién Llegada")).to_be_visible()


def test_without_scripts_a_page_is_whole_and_can_be_loaded_again(browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en-GB")
    with serving(a_day(), SETTINGS) as server:
        plain = context.new_page()
        plain.goto(f"http://127.0.0.1:{server.port}/")
        expect(plain.get_by_text("Nerea G.")).to_be_visible()
        plain.get_by_text("46:01").click()
        expect(plain.get_by_text("43:21 + help 2:10 + penalty 0:30")).to_be_visible()
        plain.get_by_role("link", name="reload").click()
        expect(plain.locator("#step")).to_contain_text("as of")
    context.close()


@pytest.mark.parametrize("path", ["/", "/tables"])
def test_nothing_is_wider_than_a_small_phone(page: Page, path: str) -> None:
    live = a_day()
    live.categories[0]["standings"].insert(
        0, line(1, "N" * 60, 7, raw_s=36000 * 3, assist_s=599, penalty_s=61)
    )
    live.table_list.append(table(13, "running", "N" * 60, shown_ms=36_000_000, running=True, low=True))
    with serving(live, SETTINGS) as server:
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(f"http://127.0.0.1:{server.port}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
