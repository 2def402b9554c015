"""What the hub asks of a table is done once, in time, and never with a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from device.call import Called
from device.commands import CommandPorts, Commands
from device.debounce import Button
from device.draw import draw
from device.signals import Signal, Signals
from shared import wire
from shared.core.model import State
from shared.topics import Topics
from shared.wire import BadPayload, Command, Do
from tests.brokers import Mosquitto
from tests.device.rig import Rig, RigHub
from tests.device.test_app import running
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import GENEROUS_S, wait_until

TOPICS = Topics()


class Desk:
    """What commands act on, noted down."""

    def __init__(self) -> None:
        self.over: bool | None = False
        self.run_on = self.testing = False
        self.wrong = ""
        self.calls: list[Called] = []
        self.replies: list[Mapping[str, Any]] = []
        self.tests: list[str] = []
        self.commands = Commands(
            CommandPorts(
                is_over=lambda _base, _at_ms, _now: self.over,
                in_run=lambda _now: self.run_on,
                call=self.calls.append,
                test=self._test,
                reload=lambda: self.wrong,
                reply=self.replies.append,
            )
        )

    def _test(self, command: Command) -> bool:
        if not self.testing:
            self.tests.append(command.id)
        return not self.testing

    def result(self, do: Do, name: str = "c1") -> str:
        """What is answered to a command, at hand time 50."""
        self.commands.take(Command(name, 1000, "hub-1", do, "Hola").as_json(), 50.0)
        return str(self.replies[-1]["result"]) if self.replies else ""


def test_a_table_says_which_it_is_for_ten_seconds() -> None:
    desk = Desk()
    assert desk.result(Do.IDENTIFY) == "done"
    assert [(called.do, called.until_s) for called in desk.calls] == [(Do.IDENTIFY, 60.0)]
    assert desk.replies == [{"id": "c1", "do": "identify", "result": "done"}]


def test_a_command_that_comes_twice_is_done_and_answered_once() -> None:
    """D07."""
    desk = Desk()
    desk.result(Do.IDENTIFY)
    desk.result(Do.IDENTIFY)
    assert (len(desk.calls), len(desk.replies)) == (1, 1)


@pytest.mark.parametrize("do", Do)
@pytest.mark.parametrize(("over", "result"), [(True, "expired"), (None, "clock_unknown")])
def test_a_command_that_may_be_old_is_not_obeyed(do: Do, over: bool | None, result: str) -> None:
    """D07: of yesterday, of another boot of the hub, or at a table that does not know the hub's clock."""
    desk = Desk()
    desk.over = over
    assert desk.result(do) == result
    assert (desk.calls, desk.tests) == ([], [])


@pytest.mark.parametrize("do", [Do.SELFTEST, Do.RELOAD])
def test_what_could_disturb_a_run_is_refused_during_one(do: Do) -> None:
    desk = Desk()
    desk.run_on = True
    assert desk.result(do) == "run_on"
    assert desk.tests == []


def test_a_self_test_answers_by_itself_and_there_is_one_at_a_time() -> None:
    desk = Desk()
    assert desk.result(Do.SELFTEST) == ""
    desk.testing = True
    assert desk.result(Do.SELFTEST, "c2") == "busy"
    assert desk.tests == ["c1"]


def test_settings_with_a_mistake_are_not_taken_and_the_table_goes_on() -> None:
    desk = Desk()
    desk.wrong = "table: is missing"
    assert desk.result(Do.RELOAD) == "settings_wrong"
    assert desk.replies[-1]["why"] == "table: is missing"


@pytest.mark.parametrize(
    "payload",
    [
        {"id": "c1"},
        {"id": "c1", "do": "format_card", "expires_ms": 1, "base": "b"},
        {"id": "c1", "do": "identify", "expires_ms": "soon", "base": "b"},
        {"id": "c1", "do": "show_text", "expires_ms": 1, "base": "b"},
        {"do": "identify", "expires_ms": 1, "base": "b"},
        {"id": 7, "do": ["identify"]},
    ],
)
def test_what_is_no_command_is_not_obeyed(payload: dict[str, Any]) -> None:
    desk = Desk()
    with pytest.raises(BadPayload):
        desk.commands.take(payload, 50.0)
    assert desk.calls == []
    assert [reply["result"] for reply in desk.replies] == (
        ["not_understood"] if payload.get("id") == "c1" else []
    )


def call(rig: Rig, do: Do, text: str = "", seconds: float = 10.0) -> None:
    rig.table.call(Called(do, rig.now + seconds, text))
    rig.step()


def test_a_table_that_is_called_fills_its_display_with_its_number_and_blinks(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    before = rig.screen
    call(rig, Do.IDENTIFY)
    assert (rig.screen.clock, rig.screen.negative, rig.screen.blinks) == ("7", True, True)
    shown = {rig.screen.blink_on: draw(rig.screen).tobytes()}
    rig.wait(0.6)
    shown[rig.screen.blink_on] = draw(rig.screen).tobytes()
    light, dark = (sum(byte.bit_count() for byte in shown[on]) for on in (True, False))
    assert light > 3 * dark, "the whole picture turns"
    rig.wait(10.0)
    assert rig.screen.words() == before.words()


def test_a_press_ends_the_call_and_means_nothing_else(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    call(rig, Do.IDENTIFY)
    rig.press(Button.START)
    assert rig.state == "ready"
    assert not rig.screen.negative
    rig.press(Button.START)
    assert rig.state == "preview"


@pytest.mark.parametrize("do", list(Do))
def test_a_running_clock_is_never_covered(tmp_path: Path, do: Do) -> None:
    rig = Rig(tmp_path, "adulto")
    rig.press(Button.START)
    rig.wait(130.0)
    assert rig.state is State.RUNNING
    clock = rig.screen.clock
    call(rig, do, "pausa en 5 minutos")
    assert rig.screen.clock == clock
    if do is Do.IDENTIFY:
        assert (rig.screen.top, rig.screen.blinks) == ("Mesa 7", True)
    rig.wait(5.0)
    assert rig.screen.clock != clock, "it goes on"
    assert [e.type for e in rig.events()][-1:] == ["run_started"], "no event comes of it"


def test_a_text_stands_until_somebody_has_seen_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path, "adulto")
    call(rig, Do.SHOW_TEXT, "Ven a la mesa de jueces", 30.0)
    assert rig.screen.lines == ("Ven a la mesa de jueces",)
    rig.press(Button.PAUSE)
    assert "jueces" not in rig.screen.words()


def test_buzzer_and_light_tell_which_table_is_called(tmp_path: Path) -> None:
    rig, signals = Rig(tmp_path, "adulto"), Signals()
    signals.step(rig.now, rig.table.facts(rig.now), display_down=False)
    call(rig, Do.IDENTIFY)
    assert signals.step(rig.now, rig.table.facts(rig.now), display_down=False).buzzer
    rig.wait(sum(Signal.CALLED.value) / 1000 + 0.1)
    lights = set()
    for _ in range(8):
        lights.add(signals.step(rig.now, rig.table.facts(rig.now), display_down=False).led)
        rig.wait(0.25)
    assert lights == {True, False}


def test_a_command_expires_by_the_hubs_clock(tmp_path: Path) -> None:
    """D07: the table's own time of day has no say."""
    rig = Rig(tmp_path, "adulto", hub=RigHub())
    assert rig.hub is not None
    rig.wait(5.0)
    now_ms = rig.hub.ms(rig.now)
    assert rig.table.is_over("hub-1", now_ms + 5_000, rig.now) is False
    assert rig.table.is_over("hub-1", now_ms - 5_000, rig.now) is True
    assert rig.table.is_over("the hub before it was switched off", now_ms + 5_000, rig.now) is None


@pytest.fixture
def hub(broker: Mosquitto) -> Iterator[Peer]:
    peer = Peer(quick_settings(broker.port, "hub"), TOPICS.every_up).connected()
    yield peer
    peer.client.stop(GENEROUS_S)


def answer_time(hub: Peer, topic: str) -> None:
    """The hub's clock is the table's own here."""
    t1 = wire.parse_time_question(hub.on(topic))
    hub.send(TOPICS.down_time("t07"), wire.time_answer_payload(wire.TimeAnswer(t1, t1, t1, "hub-1")))


def test_a_table_obeys_what_is_said_now_and_nothing_that_was_retained(
    tmp_path: Path, broker: Mosquitto, hub: Peer
) -> None:
    """D07: through a broker that kept a command by mistake; the self-test is answered part by part."""

    def command(name: str, do: Do) -> bytes:
        return wire.object_payload(Command(name, 2**50, "hub-1", do).as_json())

    hub.send(TOPICS.down_command("t07"), command("old", Do.IDENTIFY), retain=True)
    with running(tmp_path / "state", broker.port) as (app, _):
        wait_until(lambda: app._link.connected)
        hub.send(TOPICS.hub, wire.hub_presence_payload(wire.HubPresence("e", True)), retain=True)
        for _ in range(8):
            answer_time(hub, TOPICS.up_time("t07"))
        wait_until(lambda: app.table.is_over("hub-1", 2**50, app._parts.clock()) is False)
        hub.send(TOPICS.down_command("t07"), b'{"id":"bad","do":"explode"}')
        hub.send(TOPICS.down_command("t07"), command("new", Do.IDENTIFY))
        hub.send(TOPICS.down_command("t07"), command("new", Do.IDENTIFY))
        hub.send(TOPICS.down_command("t07"), command("reload", Do.RELOAD))
        hub.send(TOPICS.down_command("t07"), command("test", Do.SELFTEST))
        replies = [json.loads(hub.on(TOPICS.up_reply("t07"))) for _ in range(4)]
    assert [(reply["id"], reply["result"]) for reply in replies[:3]] == [
        ("bad", "not_understood"),
        ("new", "done"),
        ("reload", "cannot_reload"),
    ]
    parts = {finding["part"]: finding for finding in replies[3]["findings"]}
    assert list(parts) == ["display", "buttons", "clock", "disk", "board", "network"]
    assert parts["network"]["code"] == "network_answers"
    assert parts["buttons"]["code"] == "buttons_up"


@pytest.mark.parametrize("running", [False, True])
def test_the_longest_text_that_can_be_asked_for_is_not_cut(tmp_path: Path, running: bool) -> None:
    rig = Rig(tmp_path, "adulto")
    if running:
        rig.press(Button.START)
        rig.wait(130.0)
    pictures = []
    for last in "nx":
        text = f"Ven a la mesa de los jueces, hay que co{last}"
        assert len(text) == 40, "as hub/asking.py has it"
        call(rig, Do.SHOW_TEXT, text)
        pictures.append(draw(rig.screen).tobytes())
    assert pictures[0] != pictures[1], "its last letter is seen"
