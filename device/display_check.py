"""A frame of one pixel on the display: whole on all four sides if the settings name the right driver."""

from __future__ import annotations

import threading
from typing import Final

from PIL import Image, ImageDraw

from device.draw import HEIGHT, WIDTH, draw
from device.panel import Panel
from device.screen import Screen
from shared.texts import translator

ANSWERS_WITHIN_S: Final = 5.0


def frame(driver: str, language: str) -> Image.Image:
    """The picture: the frame, and what to look for."""
    pgettext = translator(language).pgettext
    words = pgettext("oled", "4 sides whole = right")
    image = draw(Screen("", lines=(driver.upper(),), bottom=words, shift=(1, 0)))
    ImageDraw.Draw(image).rectangle((0, 0, WIDTH - 1, HEIGHT - 1), outline=1)
    return image


def show_frame(
    panel: Panel, image: Image.Image, stop: threading.Event, within_s: float = ANSWERS_WITHIN_S
) -> str:
    """Show it until the end is asked for; why not, if no display took it."""
    panel.show(image)
    panel.start()
    try:
        if not panel.wait_sent(image, within_s):
            return panel.last_error or "it does not answer"
        stop.wait()
    finally:
        panel.stop()
    return ""
