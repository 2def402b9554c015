"""Who makes a request: somebody who logged in, somebody at this machine, or just anybody."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from hub.people import Person
from hub.store import StoreTrouble
from hub.web.site import site_of

SESSION_COOKIE: Final = "session"
THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
FORWARDED: Final = ("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip")
"""What proxies say of themselves or of whom they speak for; and all that begins with `x-forwarded-`."""
_KEPT: Final = "visitor"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks; `trouble` says why when the database did not tell."""

    person: Person | None = None
    here: bool = False
    trouble: str = ""

    @property
    def staff(self) -> bool:
        """Whether what only staff may look at is shown."""
        return self.here or self.person is not None

    @property
    def organises(self) -> bool:
        """Whether everything is allowed."""
        return self.person is not None and self.person.organises


async def identify(request: HTTPConnection) -> Visitor:
    """Find out who asks, once a request."""
    token, here = request.cookies.get(SESSION_COOKIE), is_here(request)
    person, trouble = None, ""
    if token:
        try:
            person = await run_in_threadpool(site_of(request).office.people.who, token)
        except StoreTrouble as error:  # public pages need no database
            trouble = error.code
    visitor = Visitor(person, here, trouble)
    request.scope[_KEPT] = visitor
    return visitor


def visitor_of(request: HTTPConnection) -> Visitor:
    """Who asks, as far as it was asked for: where no route was found nobody was."""
    kept = request.scope.get(_KEPT)
    return kept if isinstance(kept, Visitor) else Visitor(here=is_here(request))


def is_here(request: HTTPConnection) -> bool:
    """Whether a request was made at this machine, by a page of this machine.

    The address alone is not enough: a foreign page whose name was made to point here (DNS rebinding) is
    opened by a browser on this machine, but names itself as Host; a proxy here speaks for others, and says
    so or speaks HTTP/1.0, as no browser does any more (nginx unless told otherwise).
    """
    if request.client is None or not _is_loopback(request.client.host):
        return False
    if request.scope.get("http_version", "1.1") in ("0.9", "1.0"):
        return False
    if any(name in FORWARDED or name.startswith("x-forwarded-") for name in request.headers):
        return False
    hosts = request.headers.getlist("host")
    return len(hosts) == 1 and _without_port(hosts[0]) in THIS_MACHINE


def is_encrypted(request: HTTPConnection) -> bool:
    """Whether the browser speaks HTTPS; a proxy says so, and who lies harms nobody else."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").lower())


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
