"""The virtual tables over HTTP: their pages, and the buttons and plugs for tests and scripts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from gettext import NullTranslations
from pathlib import Path
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from device.debounce import Button
from device.simulator.asked import BadRequest, flag_of, hold_ms_of
from device.simulator.feed import Feed
from device.simulator.fingers import Fingers
from device.simulator.guard import Guard, SafeHeaders
from device.simulator.language import COOKIE, COOKIE_AGE_S, asked_language, language_of
from device.simulator.pages import Pages
from device.simulator.picture import MOST_SCALE, png_of
from device.simulator.refusals import on_bad_request, on_crash, on_no_table, on_refusal
from device.simulator.supervisor import NoSuchTable, Supervisor
from device.simulator.virtual_table import View
from shared.texts import translator

STATIC: Final = Path(__file__).parent / "static"
MEDIA_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LONGEST_BODY: Final = 4096
FINGERS_AT_ONCE: Final = 200


class Web:
    """The endpoints over one supervisor."""

    def __init__(self, supervisor: Supervisor, feed: Feed, hub_page: str | None) -> None:
        self._supervisor = supervisor
        self._feed = feed
        self._pages = Pages(supervisor, hub_page)
        self._fingers = Fingers(supervisor.down, supervisor.up)
        self._hands = CapacityLimiter(FINGERS_AT_ONCE)
        self._static = {path.name: path.read_bytes() for path in STATIC.iterdir()}

    def routes(self) -> list[Route]:
        """All routes."""
        table = "/tables/{table:int}"
        return [
            Route("/", self.index),
            Route("/events", self.events),
            Route("/static/{file}", self.static),
            Route(table, self.table),
            Route(f"{table}/events", self.events),
            Route(f"{table}/screen.png", self.screen_png),
            Route(f"{table}/screen.txt", self.screen_txt),
            Route(f"{table}/buttons/{{button}}", self.press, methods=["POST"]),
            Route(f"{table}/pins/{{button}}", self.pin, methods=["POST"]),
            Route(f"{table}/power", self.power, methods=["POST"]),
        ]

    # To look at ---------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """All tables."""
        return _page(request, self._pages.index(language_of(request)))

    async def table(self, request: Request) -> Response:
        """One table with its buttons."""
        return _page(request, self._pages.table(request.path_params["table"], language_of(request)))

    async def screen_png(self, request: Request) -> Response:
        """What the display shows; `?scale=` 1 to 8."""
        scale = request.query_params.get("scale", "1")
        if scale not in {str(n) for n in range(1, MOST_SCALE + 1)}:
            sentence = _words(request).gettext('"scale" must be a whole number from 1 to %(most)s.')
            raise BadRequest(sentence % {"most": MOST_SCALE})
        return Response(png_of(self._view(request).frame, int(scale)), media_type="image/png")

    async def screen_txt(self, request: Request) -> Response:
        """The same as words; nothing while it is off."""
        return PlainTextResponse(self._view(request).words)

    async def static(self, request: Request) -> Response:
        """Style, script, icon."""
        file = request.path_params["file"]
        if file not in self._static:
            raise HTTPException(404)
        return Response(self._static[file], media_type=MEDIA_TYPES[Path(file).suffix])

    async def events(self, request: Request) -> Response:
        """One table, or all: each as it is now, then at each change."""
        number = request.path_params.get("table")
        numbers = self._supervisor.numbers if number is None else (number,)
        for each in numbers:
            self._supervisor.view(each)  # NoSuchTable before the answer begins
        return StreamingResponse(
            self._messages(numbers, language_of(request)), media_type="text/event-stream; charset=utf-8"
        )

    async def _messages(self, numbers: tuple[int, ...], language: str) -> AsyncIterator[str]:
        sent: dict[int, int] = {}
        while not self._feed.closing:
            tick = self._feed.tick
            news = [(n, v) for n in numbers if (v := self._supervisor.view(n)).version != sent.get(n, -1)]
            for number, view in news:
                sent[number] = view.version
                yield f"event: table\ndata: {self._pages.message(number, view, language)}\n\n"
            if not await self._feed.wait(tick):
                yield "event: beat\ndata:\n\n"

    # To touch -----------------------------------------------------------------------------------

    async def press(self, request: Request) -> Response:
        """Press a button, hold it, let it go; answered when it is up."""
        button, hold_ms = self._button(request), hold_ms_of(await _body(request), _words(request))
        number = request.path_params["table"]
        await to_thread.run_sync(self._supervisor.press, number, button, hold_ms / 1000, limiter=self._hands)
        return self._answer(request, button=button, hold_ms=hold_ms)

    async def pin(self, request: Request) -> Response:
        """Hold a button, as long as it is said again now and then, or let it go."""
        button, down = self._button(request), flag_of(await _body(request), "down", _words(request))
        move = self._fingers.hold if down else self._fingers.release
        move(request.path_params["table"], button)
        return self._answer(request, button=button, down=down)

    async def power(self, request: Request) -> Response:
        """Pull the plug or put it in."""
        on = flag_of(await _body(request), "on", _words(request))
        await to_thread.run_sync(
            self._supervisor.power, request.path_params["table"], on, limiter=self._hands
        )
        return self._answer(request)

    def _view(self, request: Request) -> View:
        return self._supervisor.view(request.path_params["table"])

    def _button(self, request: Request) -> Button:
        self._view(request)
        try:
            return Button(request.path_params["button"])
        except ValueError as error:
            raise HTTPException(404) from error

    def _answer(self, request: Request, **more: object) -> Response:
        view = self._view(request)
        table = {"table": request.path_params["table"], "on": view.on, "alive": view.alive}
        return JSONResponse({**table, "boot": view.boot, "pid": view.pid, **more})


def create_app(
    supervisor: Supervisor, feed: Feed, *, hub_page: str | None = None, open_to_all: bool = False
) -> Starlette:
    """The application; `feed` must be told of the supervisor's changes. Serves one event loop, once."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        feed.open()
        yield

    app = Starlette(
        routes=Web(supervisor, feed, hub_page).routes(),
        middleware=[Middleware(SafeHeaders), Middleware(Guard, open_to_all=open_to_all)],
        exception_handlers={
            HTTPException: on_refusal,
            NoSuchTable: on_no_table,
            BadRequest: on_bad_request,
            Exception: on_crash,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would name whatever host the request named
    return app


def _page(request: Request, html: str) -> Response:
    language = language_of(request)
    response = HTMLResponse(html, headers={"Content-Language": language, "Vary": "Accept-Language, Cookie"})
    if asked_language(request) is not None:
        response.set_cookie(COOKIE, language, max_age=COOKIE_AGE_S, httponly=True, samesite="lax")
    return response


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise BadRequest(_words(request).gettext("The request is too long."))
    return body


def _words(request: Request) -> NullTranslations:
    return translator(language_of(request))
