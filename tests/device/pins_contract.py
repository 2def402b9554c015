"""What every kind of pins must do, whichever library is behind it; each function is one clause."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Protocol

import pytest

from device.buttons import PINS, Buttons, NoButtons
from device.debounce import Button, ButtonBank, Edge, RawEdge
from tests.waiting import GENEROUS_S, wait_until


class Fingers(Protocol):
    """Something that pulls the pins of the buttons to ground and lets them go."""

    def press(self, button: Button, /) -> None:
        """Pull the pin of this button to ground."""

    def release(self, button: Button, /) -> None:
        """Let it rise."""


@dataclass(frozen=True, slots=True)
class Pins:
    """One kind of pins under test."""

    factory: Any
    fingers: Fingers

    def buttons(self) -> tuple[Buttons, SimpleQueue[object]]:
        """The four buttons on these pins, and where their edges land."""
        edges: SimpleQueue[object] = SimpleQueue()
        return Buttons(self.factory, edges), edges


def taken(edges: SimpleQueue[object], count: int) -> list[RawEdge]:
    """The next so many edges."""
    got = [edges.get(timeout=GENEROUS_S) for _ in range(count)]
    assert all(isinstance(edge, RawEdge) for edge in got)
    return [edge for edge in got if isinstance(edge, RawEdge)]


def _only_down(buttons: Buttons, button: Button) -> bool:
    return buttons.levels() == {b: b is button for b in Button}


def settled(raw: Sequence[RawEdge]) -> list[Edge]:
    """What the debouncer makes of edges that are then followed by quiet."""
    bank = ButtonBank(dict.fromkeys(Button, False))
    bank.feed(raw)
    levels = dict.fromkeys(Button, False) | {edge.button: edge.pressed for edge in raw}
    return bank.poll(raw[-1].t + 0.1, levels)


def at_rest_no_button_is_down_and_no_edge_is_told(pins: Pins) -> None:
    buttons, edges = pins.buttons()
    assert buttons.levels() == dict.fromkeys(Button, False)
    assert buttons.alive
    assert edges.empty()
    buttons.close()


def each_button_tells_its_own_edges_on_the_clock_of_the_hand(pins: Pins) -> None:
    buttons, edges = pins.buttons()
    for button in Button:
        before = time.monotonic()
        pins.fingers.press(button)
        wait_until(partial(_only_down, buttons, button))
        pins.fingers.release(button)
        press, release = taken(edges, 2)
        after = time.monotonic()
        assert (press.button, press.pressed) == (button, True)
        assert (release.button, release.pressed) == (button, False)
        assert before - 0.001 <= press.t <= release.t <= after
    wait_until(lambda: buttons.levels() == dict.fromkeys(Button, False))
    buttons.close()


def a_bouncing_press_is_one_press_at_its_first_edge(pins: Pins) -> None:
    """B02: thirty edges in a few milliseconds, with no debounce of the library."""
    buttons, edges = pins.buttons()
    for _ in range(50):  # until the machine leaves us alone while a contact would bounce
        for _ in range(15):
            pins.fingers.press(Button.FINISH)
            pins.fingers.release(Button.FINISH)
        pins.fingers.press(Button.FINISH)
        raw = taken(edges, 31)
        pins.fingers.release(Button.FINISH)
        taken(edges, 1)
        if raw[-1].t - raw[0].t < 0.018:
            break
    assert settled(raw) == [Edge(Button.FINISH, raw[0].t, True)]
    buttons.close()


def presses_that_nobody_takes_for_a_while_are_all_kept_in_order(pins: Pins) -> None:
    """B03: whatever blocks the table, the callback only queues."""
    buttons, edges = pins.buttons()
    made = [button for _ in range(25) for button in Button]
    for button in made:
        pins.fingers.press(button)
        pins.fingers.release(button)
    got = taken(edges, 2 * len(made))
    for button in Button:
        assert [e.pressed for e in got if e.button is button] == [True, False] * 25
    assert [e.button for e in sorted(got, key=lambda e: e.t) if e.pressed] == made
    buttons.close()


def a_spike_is_noise_and_no_press(pins: Pins) -> None:
    """B04."""
    buttons, edges = pins.buttons()
    pins.fingers.press(Button.PAUSE)
    pins.fingers.release(Button.PAUSE)
    raw = taken(edges, 2)
    if raw[1].t - raw[0].t < 0.018:
        assert settled(raw) == []
    buttons.close()


def after_close_the_pins_are_silent_and_free(pins: Pins) -> None:
    buttons, edges = pins.buttons()
    buttons.close()
    assert edges.empty()
    again, edges = pins.buttons()
    pins.fingers.press(Button.START)
    pins.fingers.release(Button.START)
    assert [e.button for e in taken(edges, 2)] == [Button.START, Button.START]
    again.close()


def a_pin_that_is_taken_is_named(pins: Pins) -> None:
    """B09."""
    buttons, _ = pins.buttons()
    with pytest.raises(NoButtons, match=rf"button START \(GPIO{PINS[Button.START]}\) cannot be claimed"):
        pins.buttons()
    buttons.close()


CLAUSES: Final[Sequence[Callable[[Pins], None]]] = (
    at_rest_no_button_is_down_and_no_edge_is_told,
    each_button_tells_its_own_edges_on_the_clock_of_the_hand,
    a_bouncing_press_is_one_press_at_its_first_edge,
    presses_that_nobody_takes_for_a_while_are_all_kept_in_order,
    a_spike_is_noise_and_no_press,
    after_close_the_pins_are_silent_and_free,
    a_pin_that_is_taken_is_named,
)
