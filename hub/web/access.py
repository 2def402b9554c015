"""Who may see what: every route has a rule, and a route without one cannot be built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from enum import StrEnum
from ipaddress import IPv6Address, ip_address
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")

Endpoint = Callable[[Request], Awaitable[Response]]


class Access(StrEnum):
    """Who a route is for."""

    PUBLIC = "public"
    STAFF = "staff"
    """Until there are logins: whoever sits at the hub itself."""


class GuardedRoute(Route):
    """A route that asks its rule before anything else."""

    def __init__(
        self, path: str, endpoint: Endpoint, access: Access, *, methods: Collection[str] = ("GET",)
    ) -> None:
        if not isinstance(access, Access):
            raise TypeError(f"the route {path} has no access rule")
        super().__init__(path, endpoint, methods=list(methods))
        self.access = access

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse with 403."""
        if self.access is Access.STAFF and not is_staff(HTTPConnection(scope)):
            raise HTTPException(403)
        await super().handle(scope, receive, send)


def is_staff(request: HTTPConnection) -> bool:
    """Whether a request was made at this machine, by a page of this machine.

    The address alone is not enough: a foreign page whose name was made to point here (DNS rebinding) is
    opened by a browser on this machine, but names itself as Host; a proxy here speaks for others.
    """
    if request.client is None or not _is_loopback(request.client.host):
        return False
    if any(name in request.headers for name in FORWARDED):
        return False
    hosts = request.headers.getlist("host")
    return len(hosts) == 1 and _without_port(hosts[0]) in THIS_MACHINE


def _is_loopback(address: str) -> bool:
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return ip.is_loopback


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()
