"""E09: a copied card. The first board owns it; on another one it times offline until someone says otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from click.testing import CliRunner

from device.app import App, Parts
from device.buttons import MockPins, open_factory
from device.cli import main
from device.debounce import Button
from device.from_hub import LinkSettings
from device.identity import Identity
from device.screen import Screen
from device.table import Seat
from tests.brokers import Mosquitto
from tests.device.rig import TORNEO
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import wait_until


@pytest.mark.parametrize("serial", [None, "1000-a"])
def test_a_new_card_belongs_to_the_board_it_wakes_up_on(tmp_path: Path, serial: str | None) -> None:
    identity = Identity(tmp_path)
    assert not identity.copied(serial)
    identity.woke_up(serial)
    assert not Identity(tmp_path).copied(serial)
    assert not Identity(tmp_path).log_is_of_another(serial)


def test_on_another_board_the_card_is_a_copy_until_it_is_adopted(tmp_path: Path) -> None:
    Identity(tmp_path).woke_up("a")
    other = Identity(tmp_path)
    assert other.copied("b")
    assert other.log_is_of_another("b")
    other.woke_up("b")
    assert Identity(tmp_path).copied("b")
    assert not Identity(tmp_path).log_is_of_another("b"), "its own log has begun"
    Identity(tmp_path).adopt("b")
    assert not Identity(tmp_path).copied("b")
    assert Identity(tmp_path).copied("a")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"board": 1, "log_of": "a"}', b'{"board": "a"}'])
def test_a_damaged_memory_of_the_board_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "board.json").write_bytes(content)
    assert not Identity(tmp_path).copied("a")


@contextmanager
def running(state_dir: Path, port: int, serial: str) -> Iterator[tuple[App, MockPins, list[Screen]]]:
    factory, screens, ready = open_factory("mock"), list[Screen](), Event()
    app = App(
        Parts(
            seat=Seat(7, (TORNEO["adulto"],)),
            link=LinkSettings("127.0.0.1", port, "t07", retry_s=(0.05, 0.2)),
            state_dir=state_dir,
            boot=f"boot-{serial}",
            pin_factory=factory,
            panel=None,
            serial=serial,
            allow_volatile=True,
            on_screen=screens.append,
        )
    )
    thread = Thread(target=app.run, args=(ready.set,))
    thread.start()
    try:
        assert ready.wait(20)
        yield app, MockPins(factory), screens
    finally:
        app.stop()
        thread.join()


def test_a_copied_card_says_so_times_and_does_not_go_online(broker: Mosquitto, tmp_path: Path) -> None:
    card, status = tmp_path / "card", "puzzle/1/t07/up/status"
    hub = Peer(quick_settings(broker.port, "watcher"), status).connected()
    with running(card, broker.port, "a") as (app, _, _):
        assert not app.copied
        assert json.loads(hub.on(status))["online"] is True
    while json.loads(hub.on(status))["online"]:  # until its goodbye
        pass
    with running(card, broker.port, "b") as (app, pins, screens):
        assert app.copied
        wait_until(lambda: screens and screens[-1].top_right == "TARJETA COPIADA")
        pins.press(Button.START)
        wait_until(lambda: screens[-1].clock == "1:59")
    with running(card, broker.port, "a"):
        assert json.loads(hub.on(status))["serial"] == "a", "nothing was heard of the copy"
    hub.client.stop()


def test_adopting_needs_a_board_with_a_number(tmp_path: Path) -> None:
    config = tmp_path / "table-timer.toml"
    config.write_text(f'device = "t07"\ntable = 7\nstate_dir = "{tmp_path}"\n')
    answer = CliRunner().invoke(main, ["adopt-card", "--config", str(config)])
    assert answer.exit_code == 1
    assert "no serial number" in answer.output
