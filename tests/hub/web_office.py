"""A hub with an office for tests: real database, real view, no broker; people log in from phones in the hall."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from hub.arrivals import Incoming
from hub.office import Office, open_office
from hub.projection import names_from
from hub.store import PlanRow, Store
from hub.view import View
from hub.web.app import create_app
from shared.core.events import Event
from shared.rulebook import shipped_rulebook
from tests.builders import TableLog

PASSWORD = "pieza de esquina"
ORGANISER = "Marta"
NOW_MS = 1_782_570_720_000


class Browser:
    """A browser at an address of the network, with cookies of its own; it follows no redirect by itself."""

    def __init__(self, app: Starlette, address: str, host: str) -> None:
        self.origin = f"http://{host}"
        transport = httpx.ASGITransport(app, client=(address, 50000))
        self._client = httpx.AsyncClient(transport=transport, base_url=self.origin)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        return asyncio.run(self._client.request(method, path, **more))

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.request("POST", path, **more)


@dataclass
class Hall:
    """One hub, and devices in its hall."""

    store: Store
    view: View
    office: Office
    app: Starlette
    now_s: float = 0.0
    now_ms: int = NOW_MS
    report: dict[str, Any] = field(default_factory=lambda: {"ok": True, "connected": True, "database": "ok"})
    """How the hub is."""

    def phone(self, address: str = "192.168.1.20", host: str = "hub.example:8000") -> Browser:
        """A browser at an address of the hall; nobody is logged in."""
        return Browser(self.app, address, host)

    def here(self) -> Browser:
        """The browser at the hub itself."""
        return self.phone("127.0.0.1", "localhost:8000")

    def organiser(self) -> Browser:
        """A phone of the organiser, who is set up if need be."""
        if not self.office.people.has_organiser():
            self.office.people.set_up(ORGANISER, PASSWORD)
        return self.logged_in(ORGANISER, PASSWORD)

    def judge(self, name: str = "Luis") -> Browser:
        """A phone of a new judge."""
        _, pin = self.office.people.let_in(name, by=ORGANISER)
        return self.logged_in(name, pin)

    def logged_in(self, name: str, secret: str) -> Browser:
        """A phone of somebody."""
        phone = self.phone()
        answer = send(phone, "/login", name=name, secret=secret)
        assert answer.status_code == 303, answer.text
        return phone

    def hears(self, events: list[Event]) -> None:
        """A table's events are committed and shown."""
        device = events[0].device
        committed = self.store.append_batch([Incoming(f"puzzle/1/{device}/up/event", device, events)])
        self.view.apply(committed.accepted)

    def plans(self, rows: list[PlanRow]) -> None:
        """The plan as the hub takes it."""
        self.store.replace_plan(rows)
        self.view.plan(
            names_from((r.category, r.entrant, r.public_name, r.flags) for r in rows), {1: "t01", 2: "t02"}
        )


@contextmanager
def hall(folder: Path) -> Iterator[Hall]:
    """A hub with nothing in it."""
    store = Store.open(folder / "hub.sqlite3", lambda: NOW_MS)
    view = View(
        shipped_rulebook("torneo-puzzles-2026"),
        hand=lambda: 0.0,
        wall=lambda: NOW_MS,
        health=lambda: here.report,
    )
    here = Hall.__new__(Hall)
    office = open_office(store, view, wall=lambda: here.now_ms, hand=lambda: here.now_s)
    here.__init__(store, view, office, create_app(view, office))  # type: ignore[misc]
    try:
        yield here
    finally:
        store.close()


def token_in(page: str) -> str:
    """The token that the forms of a page carry."""
    found = re.search(r'name="token" value="([0-9a-f]+)"', page)
    assert found, page
    return found[1]


def send(browser: Browser, path: str, **fields: Any) -> httpx.Response:
    """Fill in a form of the page at this address and send it, as a browser does."""
    page = browser.get(path)
    assert page.status_code == 200, page.text
    seen = re.search(r'name="seen" value="([0-9a-f]+)"', page.text)
    data = {"token": token_in(page.text), **({"seen": seen[1]} if seen else {}), **fields}
    return browser.post(path, data=data, headers={"Origin": browser.origin})


def fields_of(page: str, mark: str) -> dict[str, str]:
    """What the form with this text in it brings along unseen."""
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    form = next(form for form in forms if mark in form)
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: html.unescape(value) for name, value in hidden}


def fill_in(browser: Browser, path: str, form: str, **fields: Any) -> httpx.Response:
    """Fill in one of several forms of a page and send it; a grave ruling is only shown by that."""
    page = browser.get(path)
    data = {**fields_of(page.text, f'name="form" value="{form}"'), **fields}
    return browser.post(path, data=data, headers={"Origin": browser.origin})


def confirm(browser: Browser, path: str, shown: httpx.Response) -> httpx.Response:
    """Give the ruling whose effect was shown."""
    assert shown.status_code == 200, shown.text
    data = fields_of(shown.text, 'name="sure"')
    return browser.post(path, data=data, headers={"Origin": browser.origin})


def a_run(
    table: int = 1, *, finish_ms: int = 2_601_000, device: str = "t01", entrant: str = "e1"
) -> list[Event]:
    """A finished run of Ana at a table."""
    log = TableLog(
        "adulto", f"{device}/r{table}", log=f"{device}-l", device=device, boot=f"b-{device}", entrant=entrant
    )
    return (
        log.start(0, table=table)
        .write("run_finished", 120_000 + finish_ms, run=log.run)
        .write("finish_accepted", 121_000 + finish_ms, run=log.run)
        .events
    )
