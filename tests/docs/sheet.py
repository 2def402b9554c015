"""Pictures of the display side by side, as light as on the panel, each with its name below."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from PIL import Image, ImageDraw

from device.display_check import frame
from device.draw import HEIGHT, WIDTH, draw
from device.lettering import Face, Style
from device.screen import Screen
from tests.docs.display import Shot

SCALE: Final = 3
COLUMNS: Final = 3
GAP: Final = 12
_NAME: Final = Style(Face.WORDS, 17)
_NAME_HIGH: Final = 24
_GROUND: Final = 96
CHECK: Final = "the right driver?"
"""The frame of `table-timer check-display`: no screen of a table that times."""

NAMES_ES: Final = {
    "starting": "arranca",
    "cannot start: settings": "no arranca: ajustes",
    "cannot start: buttons": "no arranca: botones",
    "cannot start: card": "no arranca: tarjeta",
    "cannot start: another program": "no arranca: otro programa",
    "cannot start: something else": "no arranca: otra cosa",
    "no plan": "sin plan",
    "no plan, several categories": "sin plan, varias categorías",
    "waiting for the plan": "espera el plan",
    "two timers on one table": "dos cajas en una mesa",
    "ready": "listo",
    "ready, but which day?": "listo, pero ¿qué día?",
    "another timer's run": "la prueba de otra caja",
    "practice": "práctica",
    "ordered start": "salida conjunta",
    "ordered start, clock unsure": "salida conjunta, reloj inseguro",
    "preview": "mirar sin abrir",
    "running": "corre",
    "paused": "pausa",
    "pause ran out": "pausa agotada",
    "assisting": "ayuda",
    "help used up": "ayuda agotada",
    "holding START": "START mantenido",
    "holding START, too late": "START mantenido, ya tarde",
    "claimed, without network": "¿completo?, sin red",
    "claimed": "¿completo?",
    "a refused press": "pulsación rechazada",
    "sealed": "final",
    "ten minutes left": "quedan 10 minutos",
    "one minute left": "queda 1 minuto",
    "time up": "se acabó el tiempo",
    "finish after the limit": "FINISH fuera de tiempo",
    "counting": "contar piezas sueltas",
    "count asked again": "¿seguro?",
    "counted": "contado",
    "disqualified": "descalificado",
    "did not finish": "no terminó",
    "run is void": "prueba anulada",
    "time set by the organisers": "tiempo puesto por la organización",
    "time up, nothing to count": "se acabó el tiempo, nada que contar",
    "counting joined pieces": "contar piezas encajadas",
    "counting the area": "contar la mayor zona",
    "claimed with missing pieces": "¿completo?, con piezas perdidas",
    "second puzzle": "segundo puzzle",
    "escape": "escape",
    "escape: hint?": "escape: ¿pista?",
    "escape: solution too soon": "escape: solución demasiado pronto",
    "escape: step solved?": "escape: ¿prueba resuelta?",
    "escape: next step": "escape: siguiente prueba",
    "escape over: puzzle": "escape terminado: puzzle",
    "practice: look, don't open": "práctica: mirar sin abrir",
    "practice: running": "práctica: corre",
    "practice: pause": "práctica: pausa",
    "practice: complete?": "práctica: ¿completo?",
    "practice: final": "práctica: final",
    "after a pulled plug": "tras un corte de corriente",
    "not saved": "no guarda",
    "a stuck button": "botón atascado",
    "a copied card": "tarjeta copiada",
    "weak supply": "corriente floja",
    "safe mode": "modo seguro",
    "which table?": "¿qué mesa es?",
    "a text from the hub": "un texto de la organización",
    "a self-test from the hub": "prueba pedida desde la central",
    "which table?, in a run": "¿qué mesa es?, en una prueba",
    "a text in a run": "un texto en una prueba",
    "not saved, in a pause": "no guarda, en una pausa",
    "self-test: a button": "autoprueba: un botón",
    "self-test: the buzzer": "autoprueba: el zumbador",
    "self-test: the card": "autoprueba: la tarjeta",
    CHECK: "¿es el controlador correcto?",
}


def name_in(language: str, shot: str) -> str:
    """What is written below a picture."""
    return NAMES_ES[shot] if language == "es" else shot


def sheet(shots: list[Shot], language: str = "", keep: Collection[str] | None = None) -> Image.Image:
    """The pictures, all or those to `keep`; without a language no names."""
    kept = [(name, draw(screen)) for name, screen in shots if keep is None or name in keep]
    if language:
        kept.append((CHECK, frame("ssd1306", language)))
    width, high = WIDTH * SCALE, HEIGHT * SCALE + (_NAME_HIGH if language else 0)
    rows = -(-len(kept) // COLUMNS)
    out = Image.new("L", (COLUMNS * (width + GAP) + GAP, rows * (high + GAP) + GAP), _GROUND)
    pen = ImageDraw.Draw(out)
    for n, (name, picture) in enumerate(kept):
        row, column = divmod(n, COLUMNS)
        x, y = GAP + column * (width + GAP), GAP + row * (high + GAP)
        out.paste(_enlarged(picture), (x, y))
        if language:
            below = name_in(language, name)
            pen.text((x, y + HEIGHT * SCALE + 17), below, font=_NAME.font, fill=230, anchor="ls")
    return out


def enlarged(screen: Screen, scale: int = SCALE) -> Image.Image:
    """One picture, each of its dots a square."""
    return _enlarged(draw(screen), scale)


def _enlarged(picture: Image.Image, scale: int = SCALE) -> Image.Image:
    return picture.convert("L").resize((WIDTH * scale, HEIGHT * scale), Image.Resampling.NEAREST)
