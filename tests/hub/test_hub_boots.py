"""How the hub relates its own boots, and what it tells tables of that; when it heard of a table's new boot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from hub.app import Hub, HubParts
from hub.hub_boots import HubBoots
from hub.ingest import IngestSettings
from shared import wire
from shared.clock import HubClock, wall_error_ms
from shared.core.events import Event, EventType
from shared.rulebook import shipped_rulebook
from shared.topics import Topics
from shared.wire import EarlierClock, TimeAnswer
from tests.brokers import Mosquitto
from tests.builders import log
from tests.mqtt_peer import Peer, quick_settings
from tests.waiting import wait_until

HOUR_MS = 3_600_000
TOPICS = Topics()


def read(base: str, hub_ms: int, wall_ms: int | None, error_ms: int = 20, **more: Any) -> Event:
    data = {"hub_ms": hub_ms, "base": base, "error_ms": error_ms, **more}
    return Event("hub", "hub-1", 1, EventType.CLOCK_ANCHORED, wall_ms=wall_ms, data=data)


def told(*events: Event) -> tuple[EarlierClock, ...]:
    boots = HubBoots("now")
    for event in events:
        boots.apply(event)
    return boots.earlier()


def test_two_boots_are_related_through_the_wall_clock_with_the_error_of_both() -> None:
    (earlier,) = told(read("before", 9_000_000, 50_000_000, 30), read("now", 60_000, 50_500_000, 20))
    assert earlier == EarlierClock("before", (50_440_000 - 41_000_000) * 1000, 51_000)


@pytest.mark.parametrize(
    "events",
    [
        [read("before", 1, 1_000)],
        [read("before", 1, None), read("now", 1, 2_000)],
        [read("before", 1, 1_000, heard="b1", heard_ms=0), read("now", 1, 2_000)],
        [log().anchor(0, 1, base="before").events[0], read("now", 1, 2_000)],
        [read("before", 1, 1_000), read("now", 1, 49 * HOUR_MS)],
    ],
    ids=["nothing of this boot", "no wall time", "a table's boot", "a table's anchor", "days ago"],
)
def test_what_does_not_relate_two_boots_of_the_hub_relates_nothing(events: list[Event]) -> None:
    assert told(*events) == ()


def test_of_each_boot_the_surest_reading_counts_and_only_the_newest_boots_are_told() -> None:
    before = [read(f"b{n}", 1_000, n * HOUR_MS) for n in range(1, 6)]
    (first, *_, last) = told(*before, read("b5", 1_000, 5 * HOUR_MS + 1, 200), read("now", 0, 6 * HOUR_MS))
    assert (first.base, first.error_us, last.base) == ("b5", 41_000, "b3")


def test_this_kernel_vouches_for_its_wall_clock_or_says_that_nobody_does() -> None:
    error_ms = wall_error_ms()
    assert error_ms is None or error_ms >= 0


@contextmanager
def a_hub(folder: Path, broker: Mosquitto, base: str, wall_ms: int, error_ms: int | None) -> Iterator[Hub]:
    """A hub whose machine was switched on a minute ago."""
    parts = HubParts(
        shipped_rulebook("torneo-puzzles-2026"),
        folder / "hub.sqlite3",
        IngestSettings("127.0.0.1", broker.port, retry_s=(0.05, 0.2)),
        web_port=0,
        wall=lambda: wall_ms,
        clock=HubClock(lambda: 60_000_000, base),
        wall_error=lambda: error_ms,
    )
    hub = Hub(parts, lambda _: None)
    hub.start()
    try:
        wait_until(lambda: hub.connected)
        yield hub
    finally:
        hub.stop()


def asked(broker: Mosquitto) -> TimeAnswer:
    """What a table hears when it asks the hub for its time."""
    table = Peer(quick_settings(broker.port), TOPICS.every_down("t01")).connected()
    table.send(TOPICS.up_time("t01"), wire.time_question_payload(1))
    answer = wire.parse_time_answer(table.on(TOPICS.down_time("t01")))
    table.client.stop()
    return answer


def test_a_hub_that_was_switched_on_again_tells_tables_how_its_clock_was_before(
    tmp_path: Path, broker: Mosquitto
) -> None:
    with a_hub(tmp_path, broker, "before", 1_000_000, 20):
        assert asked(broker).earlier == ()
    with a_hub(tmp_path, broker, "now", 1_300_000, 30):
        assert asked(broker).earlier == (EarlierClock("before", 300_000_000, 51_000),)


@pytest.mark.parametrize("error_ms", [None, 251])
def test_a_wall_clock_that_nobody_vouches_for_relates_nothing(
    tmp_path: Path, broker: Mosquitto, error_ms: int | None
) -> None:
    with a_hub(tmp_path, broker, "before", 1_000_000, 20):
        assert asked(broker).base == "before"
    with a_hub(tmp_path, broker, "now", 1_300_000, error_ms):
        assert asked(broker).earlier == ()


def test_a_boot_that_the_hub_heard_of_in_a_run_bounds_its_length_from_above(
    tmp_path: Path, broker: Mosquitto
) -> None:
    table = log(device="t01").anchor(0, 30_000, base="before").start(10_000)
    table.reboot("b2", alive_ms=15_000).finish(130_000).accept(131_000)
    with a_hub(tmp_path, broker, "before", 1_000_000, None) as hub:
        peer = Peer(quick_settings(broker.port), TOPICS.every_down("t01")).connected()
        peer.send(TOPICS.up_event("t01"), wire.batch_payload(table.events))
        peer.on(TOPICS.down_ack("t01"))
        peer.client.stop()
        data = httpx.get(f"http://127.0.0.1:{hub.port}/api/v1/standings").json()
        (line,) = next(c for c in data["categories"] if c["id"] == "adulto")["standings"]
        (problem,) = line["problems"]
        # heard at 60 s of the hub's clock: the new boot began then at the latest, the run at 40 s of it
        assert (problem["low_s"], problem["high_s"]) == (15, 30)
