"""Addresses as QR codes, and the address under which phones find this machine."""

from __future__ import annotations

import re
import socket

import segno
from markupsafe import Markup
from starlette.requests import Request

from hub.web.visitor import THIS_MACHINE, is_encrypted


def qr_svg(text: str, scale: int = 5) -> Markup:
    """A QR code to stand in a page; its dots are `scale` pixels wide."""
    return Markup(
        segno.make_qr(text, error="m").svg_inline(scale=scale, border=4, light="#fff")
    )  # our own SVG


def wifi_text(name: str, key: str) -> str:
    """What phones read to join a Wi-Fi; without a key an open one."""
    name, key = (re.sub(r'([\\;,":])', r"\\\1", text) for text in (name, key))
    return f"WIFI:T:WPA;S:{name};P:{key};;" if key else f"WIFI:T:nopass;S:{name};;"


def site_address(request: Request) -> str:
    """`http://192.168.1.5:8000`: as the visitor named it, but never a name that means each machine itself."""
    host = request.headers.get("x-forwarded-host") or request.headers.get("host", "")
    name, colon, port = host.rpartition(":")
    if not (colon and port.isdigit()):
        name, port = host, ""
    if name.lower() in THIS_MACHINE or not name:
        name = _own_address()
    scheme = "https" if is_encrypted(request) else "http"
    return f"{scheme}://{name}:{port}" if port else f"{scheme}://{name}"


def _own_address() -> str:
    """Of this machine in its network; connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])
