"""A table that cannot time says why to the hub, in words and by number, as long as it tries."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hub.projection import Projection
from hub.web.problem_words import problem_words
from shared.rulebook import shipped_rulebook
from shared.texts import translator
from shared.topics import Topics
from tests.brokers import Mosquitto
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import GENEROUS_S

STATUS = Topics().up_status("t07-k3f9")


@contextmanager
def table_timer(folder: Path, broker: Mosquitto, more: str = "") -> Iterator[subprocess.Popen[str]]:
    """The real program on a machine without pins."""
    config = folder / "table-timer.toml"
    config.write_text(
        f'device = "t07-k3f9"\ntable = 7\nstate_dir = "{folder}/state"\nallow_volatile = true\n{more}'
        f'[hub]\nhost = "127.0.0.1"\nport = {broker.port}\n[display]\ndriver = "none"\n'
    )
    command = [sys.executable, "-P", "-m", "device.cli", "run", "--config", str(config)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(broker: Mosquitto) -> dict[str, Any]:
    """The next status of the table as the hub hears it."""
    hub = Peer(quick_settings(broker.port, "hub"), STATUS).connected()
    status: dict[str, Any] = json.loads(hub.on(STATUS))
    hub.client.stop()
    return status


def in_words(status: dict[str, Any]) -> list[str]:
    """What the organisers' page says of it."""
    projection = Projection(shipped_rulebook("torneo-puzzles-2026"))
    projection.hear("t07-k3f9", "status", status, 1.0, 1)
    (table,) = projection.tables(1.0)
    assert table["table"] == 7
    return [problem_words(problem, translator("es")) for problem in table["problems"] if "number" in problem]


def test_b05_the_hub_sees_a_table_without_buttons_and_that_it_has_given_up(
    tmp_path: Path, broker: Mosquitto
) -> None:
    with table_timer(tmp_path, broker) as process:
        status = heard(broker)
        assert status["online"]
        (words,) = in_words(status)
        assert words.startswith("no puede cronometrar, E30: no GPIO chip of a Raspberry Pi header")
        process.send_signal(signal.SIGTERM)
        assert process.wait(GENEROUS_S) == 3
        assert not heard_offline(broker)["online"]


def heard_offline(broker: Mosquitto) -> dict[str, Any]:
    hub = Peer(quick_settings(broker.port, "hub"), STATUS).connected()
    while (status := json.loads(hub.on(STATUS)))["online"]:
        pass
    hub.client.stop()
    return dict(status)


def test_wrong_settings_reach_the_hub_that_they_still_name(tmp_path: Path, broker: Mosquitto) -> None:
    with table_timer(tmp_path, broker, 'language = "fr"\nrulebook = "none"\n[buttons]\nstart = 99\n'):
        numbers = sorted(words.split(":")[0] for words in in_words(heard(broker)))
    assert numbers == [
        "no puede cronometrar, E13",
        "no puede cronometrar, E16",
        "no puede cronometrar, E19",
    ]
