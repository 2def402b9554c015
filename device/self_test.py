"""Walks a person through the parts of one table on its display, and reports what works."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from device import part_tests
from device.buttons import Buttons, NoButtons
from device.debounce import Button, RawEdge
from device.draw import draw
from device.finding import Finding
from device.outputs import OutputPins, Outputs
from device.panel import Panel
from device.screen import Screen
from device.signals import Lit
from shared.clock import HandClock, monotonic
from shared.texts import translator

PRESS_S: Final = 15.0
"""So long a person may take to find a button."""


@dataclass(frozen=True)
class Bench:
    """What is to be tested."""

    panel: Panel | None
    pin_factory: Callable[[], Any]
    """Raises NoButtons."""
    pins: Mapping[Button, int]
    state_dir: Path
    hub: tuple[str, int]
    language: str
    allow_volatile: bool = False
    outputs: OutputPins = field(default_factory=OutputPins)
    press_s: float = PRESS_S
    clock: HandClock = monotonic
    show: Callable[[Screen], None] = lambda _: None
    """Told each picture, display or not."""
    say: Callable[[str], None] = lambda _: None
    """Told what the person is to do: the display may be what does not work."""


def asking(language: str, middle: str = "", bottom: str = "") -> Screen:
    """The picture while one part is looked at, and what the person is to do (pure)."""
    title = translator(language).pgettext("oled", "SELF-TEST")
    return Screen(title, top_inverse=True, lines=(middle,) if middle else (), bottom=bottom)


class SelfTest:
    """One walk: display, buttons, buzzer and light, clock, disk, board, network."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._texts = translator(bench.language)

    def run(self) -> Generator[Finding, None, None]:
        """The findings, as they come; the display is dark again afterwards."""
        bench, panel = self._bench, self._bench.panel
        try:
            yield self._display()
            yield from self._buttons()
            yield part_tests.time_of_day()
            self._show(self._texts.pgettext("oled", "card"))
            yield part_tests.disk(bench.state_dir, allow_volatile=bench.allow_volatile)
            yield from part_tests.board(bench.state_dir)
            self._show(self._texts.pgettext("oled", "network"))
            yield part_tests.network(bench.hub, bench.clock)
        finally:
            if panel is not None:
                panel.stop()

    def _show(self, middle: str, bottom: str = "") -> None:
        screen = asking(self._bench.language, middle, bottom)
        self._bench.show(screen)
        if self._bench.panel is not None:
            self._bench.panel.show(draw(screen))

    def _display(self) -> Finding:
        panel = self._bench.panel
        if panel is None:
            return Finding("display", True, "none in the settings")
        picture = draw(asking(self._bench.language))
        panel.show(picture)
        panel.start()
        if panel.wait_sent(picture, part_tests.NETWORK_S):
            return Finding("display", True, "answers")
        return Finding("display", False, panel.last_error or "does not answer")

    def _buttons(self) -> Iterator[Finding]:
        edges: SimpleQueue[object] = SimpleQueue()
        try:
            factory = self._bench.pin_factory()
            buttons = Buttons(factory, edges, self._bench.pins)
        except NoButtons as error:
            busy = " (is the table timer running? sudo systemctl stop table-timer)"
            yield Finding("buttons", False, f"{error}{busy}")
            return
        try:
            held = [button for button, down in buttons.levels().items() if down]
            for button in self._bench.pins:
                if button in held:
                    yield Finding(
                        f"button {button.name}", False, "reads pressed: stuck, or its wire lies on ground"
                    )
                    continue
                yield self._button(button, edges)
            yield from self._outputs(factory, edges)
        finally:
            buttons.close()

    def _outputs(self, factory: Any, edges: SimpleQueue[object]) -> Iterator[Finding]:
        """Each is on until a person says with a button whether it is heard or seen."""
        pins = self._bench.outputs
        for name, pin in (("buzzer", pins.buzzer), ("led", pins.led)):
            if pin is not None:
                output = Outputs(factory, OutputPins(**{name: pin}))
                try:
                    yield self._output(name, output, edges)
                finally:
                    output.close()

    def _output(self, name: str, output: Outputs, edges: SimpleQueue[object]) -> Finding:
        title = {
            "buzzer": self._texts.pgettext("oled", "BUZZER?"),
            "led": self._texts.pgettext("oled", "LIGHT?"),
        }[name]
        while not edges.empty():
            edges.get_nowait()
        output.switch(Lit(**{name: True}))
        if output.problem:
            return Finding(name, False, output.problem)
        self._show(title, self._texts.pgettext("oled", "START yes · others no"))
        self._bench.say(f"does the {name} work? START: yes, any other button: no")
        answer = next(self._presses(edges), None)
        if answer is None:
            return Finding(name, False, f"nobody answered within {self._bench.press_s:g} s")
        works = answer is Button.START
        return Finding(name, works, "works" if works else "was switched on and not noticed: look at its pin")

    def _button(self, button: Button, edges: SimpleQueue[object]) -> Finding:
        part, others = f"button {button.name}", set[str]()
        self._bench.say(f"press {button.name} now, within {self._bench.press_s:g} s")
        self._show(button.name, self._texts.pgettext("oled", "press this button"))
        for pressed in self._presses(edges):
            if pressed is button:
                return Finding(part, True, "works")
            others.add(pressed.name)
        crossed = f", but {', '.join(sorted(others))} was: look for crossed wires" if others else ""
        return Finding(part, False, f"was not pressed within {self._bench.press_s:g} s{crossed}")

    def _presses(self, edges: SimpleQueue[object]) -> Iterator[Button]:
        """What is pressed within the time that a person has for one thing."""
        end_s = self._bench.clock() + self._bench.press_s
        while (left_s := end_s - self._bench.clock()) > 0:
            try:
                edge = edges.get(timeout=left_s)
            except Empty:
                return
            if isinstance(edge, RawEdge) and edge.pressed:
                yield edge.button
