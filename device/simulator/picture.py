"""The display's picture as a PNG file (pure)."""

from __future__ import annotations

import base64
import io
from typing import Final

from PIL import Image

from device.panel import SIZE

MOST_SCALE: Final = 8
LIT: Final = (0xBF, 0xE9, 0xFF)
"""The panel's own light, a pale blue, for pages."""


def data_uri(frame: bytes) -> str:
    """A frame in the panel's light, for a page to show without another request."""
    image = Image.frombytes("1", SIZE, frame).convert("L").point(lambda level: level & 1, "P")
    image.putpalette((0, 0, 0, *LIT))
    return "data:image/png;base64," + base64.b64encode(_png(image)).decode()


def png_of(frame: bytes, scale: int = 1) -> bytes:
    """A frame (128 x 64, one bit a pixel) as PNG, each of its pixels `scale` wide and high."""
    image = Image.frombytes("1", SIZE, frame)
    if scale > 1:
        image = image.resize((SIZE[0] * scale, SIZE[1] * scale), Image.Resampling.NEAREST)
    return _png(image)


def _png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
