"""Who may see and do what: every route has a rule, and a route without one cannot be built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from enum import StrEnum

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hub.web.forms import read_form
from hub.web.refusal import Refusal
from hub.web.visitor import Visitor, identify

Endpoint = Callable[[Request], Awaitable[Response]]
READING = frozenset({"GET", "HEAD"})


class Access(StrEnum):
    """Who a route is for."""

    PUBLIC = "public"
    STAFF = "staff"
    """Who is logged in, and who sits at the hub itself: to look at what the public is not shown."""
    JUDGE = "judge"
    """Judges and organisers who are logged in: what they do bears their name."""
    ORGANISER = "organiser"
    HERE = "here"
    """Who sits at the hub itself."""

    def allows(self, visitor: Visitor) -> bool:
        """Whether somebody may."""
        match self:
            case Access.PUBLIC:
                return True
            case Access.STAFF:
                return visitor.staff
            case Access.JUDGE:
                return visitor.person is not None
            case Access.ORGANISER:
                return visitor.organises
            case Access.HERE:
                return visitor.here


class GuardedRoute(Route):
    """A route that asks its rule before anything else, and of a form whether it is one of ours."""

    def __init__(
        self, path: str, endpoint: Endpoint, access: Access, *, methods: Collection[str] = ("GET",)
    ) -> None:
        if not isinstance(access, Access):
            raise TypeError(f"the route {path} has no access rule")
        super().__init__(path, endpoint, methods=list(methods))
        self.access = access

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        self._admit(await identify(HTTPConnection(scope)))
        if scope["method"] not in READING and scope["method"] in (self.methods or ()):
            await read_form(Request(scope, receive))
            # A form may take its time: who was dismissed meanwhile does nothing any more.
            self._admit(await identify(HTTPConnection(scope)))
        await super().handle(scope, receive, send)

    def _admit(self, visitor: Visitor) -> None:
        if not self.access.allows(visitor):
            if visitor.trouble:
                raise Refusal(503, visitor.trouble)
            raise Refusal(403, str(self.access))
