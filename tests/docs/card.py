"""The judge's card: two pages of A5 with every state's picture and buttons, the same bytes each time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from PIL import Image
from reportlab.lib.pagesizes import A5
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader, simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from device.debounce import Button
from device.draw import draw
from device.lettering import Face
from device.screen import Screen
from tests.docs import display
from tests.docs.card_words import CARDS, Mark, State

DOCS: Final = Path(__file__).parent.parent.parent / "docs"
WORDS, BOLD = "card-words", "card-bold"
_MARGIN: Final = 8 * mm
_PRINTABLE: Final = 6 * mm
_WIDTH: Final = A5[0] - 2 * _MARGIN
_SHOT: Final = (28 * mm, 14 * mm)
_CELL: Final = (_WIDTH - _SHOT[0]) / len(Button)
_ROW: Final = 17.5 * mm
_SCALE: Final = 4


def path(language: str) -> Path:
    """Where the card of a language is kept."""
    return DOCS / f"judge-card-{language}.pdf"


def make(language: str, out: Path) -> None:
    """Draw the card."""
    for name, face in ((WORDS, Face.WORDS), (BOLD, Face.HEAVY)):
        pdfmetrics.registerFont(TTFont(name, face.value))
    shots, words = _shots(language), CARDS[language]
    canvas = Canvas(str(out), pagesize=A5, invariant=1, initialFontName=WORDS)
    canvas.setTitle(words.title)
    pen = _Pen(canvas, shots)
    pen.heading(words.title, words.how)
    pen.buttons()
    for state in words.run:
        pen.state(state)
    assert pen.y >= _PRINTABLE, "the rows fit on the page"
    canvas.showPage()
    pen.y = A5[1] - _MARGIN
    pen.heading(words.escape_title, "")
    pen.buttons()
    for state in words.escape:
        pen.state(state)
    pen.y -= 1 * mm
    pen.heading(words.marks_title, "")
    for mark in words.marks:
        pen.mark(mark)
    pen.last(words.last)
    assert pen.y >= _PRINTABLE, "the marks fit on the page"
    canvas.showPage()
    canvas.save()


@cache
def _shots(language: str) -> dict[str, Screen]:
    return dict(display.screens(language))


class _Pen:
    """Writes down the page; `y` is where the next thing begins."""

    def __init__(self, canvas: Any, shots: dict[str, Screen]) -> None:
        self._canvas, self._shots = canvas, shots
        self.y = A5[1] - _MARGIN

    def heading(self, title: str, below: str) -> None:
        self.y -= 5 * mm
        self._text(title, _MARGIN, BOLD, 15)
        if below:
            self.y -= self._lines(below, _MARGIN, self.y - 4.5 * mm, _WIDTH, 8) + 1 * mm
        self.y -= 2 * mm

    def buttons(self) -> None:
        """The four buttons as heads of their columns."""
        self.y -= 5.5 * mm
        for n, button in enumerate(Button):
            x = _MARGIN + _SHOT[0] + n * _CELL
            self._canvas.setFillGray(0)
            self._canvas.roundRect(
                x + 1.5 * mm, self.y - 1 * mm, _CELL - 2 * mm, 5.5 * mm, 1.5 * mm, stroke=0, fill=1
            )
            self._canvas.setFillGray(1)
            self._canvas.setFont(BOLD, 9.5)
            self._canvas.drawCentredString(x + _CELL / 2 + 0.5 * mm, self.y + 0.6 * mm, button.name)
        self._canvas.setFillGray(0)
        self.y -= 2 * mm

    def state(self, state: State) -> None:
        """A row: the picture with its name below, and what each button does."""
        self._rule()
        self._shot(state.shot, self.y - _SHOT[1] - 0.8 * mm)
        self._text(state.title, _MARGIN, BOLD, 7.5, self.y - _SHOT[1] - 3.4 * mm)
        for n, button in enumerate(Button):
            x = _MARGIN + _SHOT[0] + n * _CELL + 1.5 * mm
            text = state.does.get(button)
            if text is None:
                self._canvas.setFillGray(0.55)
                self._canvas.setFont(WORDS, 9)
                self._canvas.drawCentredString(x + _CELL / 2 - 1 * mm, self.y - 9 * mm, "–")
                self._canvas.setFillGray(0)
            else:
                self._lines(text, x, self.y - 4.5 * mm, _CELL - 2 * mm, 9)
        self.y -= _ROW

    def mark(self, mark: Mark) -> None:
        """A row: what is seen, and what it means."""
        self._rule()
        high = 8 * mm
        x, width = _MARGIN, _WIDTH
        if mark.shot is not None:
            self._shot(mark.shot, self.y - _SHOT[1] - 0.8 * mm)
            x, width = x + _SHOT[0] + 2 * mm, width - _SHOT[0] - 2 * mm
            high = _SHOT[1] + 1.6 * mm
        self._text(mark.title, x, BOLD, 9, self.y - 4 * mm)
        text = self._lines(mark.text, x, self.y - 8 * mm, width, 8.2)
        self.y -= max(high, text + 6 * mm)

    def last(self, text: str) -> None:
        """What must be remembered, in a box."""
        lines = simpleSplit(text, BOLD, 10, _WIDTH - 6 * mm)
        high = len(lines) * 4.4 * mm + 3 * mm
        self.y -= high + 1.5 * mm
        self._canvas.setLineWidth(1.2)
        self._canvas.roundRect(_MARGIN, self.y, _WIDTH, high, 2 * mm)
        for n, line in enumerate(lines, start=1):
            self._text(line, _MARGIN + 3 * mm, BOLD, 10, self.y + high - n * 4.4 * mm)

    def _rule(self) -> None:
        self._canvas.setLineWidth(0.3)
        self._canvas.line(_MARGIN, self.y, _MARGIN + _WIDTH, self.y)

    def _shot(self, name: str, y: float) -> None:
        screen = replace(self._shots[name], tick=10)
        picture = draw(screen).resize((128 * _SCALE, 64 * _SCALE), Image.Resampling.NEAREST)
        self._canvas.drawImage(ImageReader(picture.convert("L")), _MARGIN, y, *_SHOT)
        self._canvas.setLineWidth(0.8)  # white bars have no edge on white paper
        self._canvas.rect(_MARGIN, y, *_SHOT)

    def _lines(self, text: str, x: float, y: float, width: float, size: float) -> float:
        """Writes lines downwards from a baseline; gives their height."""
        lines = simpleSplit(text, WORDS, size, width)
        for n, line in enumerate(lines):
            self._text(line, x, WORDS, size, y - n * size * 1.18)
        return float(len(lines) * size * 1.18)

    def _text(self, text: str, x: float, font: str, size: float, y: float | None = None) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, self.y if y is None else y, text)
