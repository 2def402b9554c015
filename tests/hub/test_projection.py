"""What the pages show follows from committed events and from what tables vouch for."""

from __future__ import annotations

import itertools
from typing import Any

from hub.link_watch import Told
from hub.projection import Projection, names_from
from shared.core.events import Event, EventType
from shared.core.timeline import Stamp
from shared.rulebook import shipped_rulebook

RULEBOOK = shipped_rulebook("torneo-puzzles-2026")


def event(seq: int, kind: EventType, mono_ms: int, boot: str = "b1", **data: Any) -> Event:
    return Event("t07", "log-7", seq, kind, boot, mono_ms, None, "run-1", data)


def start(mono_ms: int = 0) -> Event:
    return event(1, EventType.RUN_STARTED, mono_ms, entrant="e1", category="adulto", table=7)


def state(mono_ms: int, unsent: int = 0, boot: str = "b1", **more: Any) -> dict[str, Any]:
    return {"boot": boot, "mono_ms": mono_ms, "unsent": unsent, **more}


def line(projection: Projection) -> dict[str, Any]:
    standings = next(c for c in projection.standings()["categories"] if c["id"] == "adulto")["standings"]
    (only,) = standings
    return dict(only)


def test_a_silent_table_stays_running_however_long_it_is_silent() -> None:
    projection = Projection(RULEBOOK)
    projection.apply(start())
    assert line(projection)["status"] == "RUNNING"


def test_a_table_that_vouches_for_the_limit_is_unfinished_and_awaits_the_count() -> None:
    projection = Projection(RULEBOOK)
    projection.apply(start())
    projection.hear("t07", "state", state(7_319_000), 1.0, 1)
    assert line(projection)["status"] == "RUNNING"
    projection.hear("t07", "state", state(7_320_000), 2.0, 2)
    assert (line(projection)["status"], line(projection)["marks"]) == ("UNFINISHED", ["awaiting_count"])
    assert line(projection)["rank"] is None


def test_a_snapshot_with_unsent_events_vouches_for_nothing() -> None:
    projection = Projection(RULEBOOK)
    projection.apply(start())
    projection.hear("t07", "state", state(9_000_000, unsent=1), 1.0, 1)
    assert line(projection)["status"] == "RUNNING"


def test_a_finish_shows_at_once_with_the_public_name() -> None:
    projection = Projection(RULEBOOK)
    projection.names = names_from([("adulto", "e1", "Ana G.", "")])
    projection.apply(start())
    projection.apply(event(2, EventType.RUN_FINISHED, 2_720_000))
    shown = line(projection)
    assert (shown["rank"], shown["name"], shown["official"], shown["marks"]) == (
        1,
        "Ana G.",
        "43:20",
        ["unaccepted"],
    )


def test_the_revision_of_the_standings_is_the_number_of_events() -> None:
    projection = Projection(RULEBOOK)
    projection.apply(start())
    projection.hear("t07", "state", state(5), 1.0, 1)
    assert projection.standings()["revision"] == 1


def test_a_table_line_holds_what_the_table_told() -> None:
    projection = Projection(RULEBOOK)
    projection.seats = {7: "t07", 8: "t08"}
    projection.names = names_from([("adulto", "e1", "Ana G.", "")])
    told = state(
        1000, 3, state="running", run="run-1", entrant="e1", category="adulto", shown_ms=500, running=True,
        direction="up",
    )  # fmt: skip
    projection.hear("t07", "status", {"online": True, "session": 1}, 10.0, 77)
    projection.hear("t07", "state", told, 10.0, 78)
    first, second = projection.tables(12.5)
    assert (first["table"], first["state"], first["name"], first["unsent"], first["online"]) == (
        7,
        "running",
        "Ana G.",
        3,
        True,
    )
    assert first["clock"] == {
        "shown_ms": 500,
        "running": True,
        "direction": "up",
        "age_hand_s": 2.5,
        "low": False,
    }
    assert first["link_since_ms"] == 78
    assert (second["state"], second["online"], second["clock"]) == (None, False, None)


def test_a_retained_snapshot_shows_no_clock_for_its_age_is_unknown() -> None:
    projection = Projection(RULEBOOK)
    projection.seats = {7: "t07"}
    projection.hear("t07", "state", state(1000, direction="up", shown_ms=1, running=True), None, 78)
    (shown,) = projection.tables(12.5)
    assert (shown["clock"], shown["link_since_ms"]) == (None, None)


def test_two_devices_on_one_seat_are_both_named() -> None:
    projection = Projection(RULEBOOK)
    projection.seats = {7: "t07"}
    projection.hear("t07", "status", {"online": True, "session": 1, "table": 7}, 1.0, 1)
    projection.hear("t99", "status", {"online": True, "session": 1, "table": 7}, 1.0, 1)
    seated, stray = projection.tables(1.0)
    assert seated["problems"][0]["code"] == stray["problems"][0]["code"] == "seat_shared"
    assert (seated["problems"][0]["others"], stray["problems"][0]["others"]) == (["t99"], ["t07"])
    projection.hear("t07", "status", {"online": False, "session": 1, "table": 7}, 1.0, 1)
    seated, stray = projection.tables(1.0)
    assert seated["problems"] == []
    assert (stray["table"], stray["device"]) == (7, "t99")
    assert stray["problems"][0]["code"] == "seat_taken"
    assert stray["problems"][0]["holder"] == "t07"


def test_nonsense_from_a_table_is_shown_as_unknown() -> None:
    projection = Projection(RULEBOOK)
    projection.seats = {7: "t07"}
    junk = {"state": 3, "entrant": [], "category": "nope", "unsent": -1, "shown_ms": "x", "direction": 1}
    projection.hear("t07", "state", junk, 1.0, 1)
    projection.hear("t07", "status", {"session": "x"}, 1.0, 1)
    (shown,) = projection.tables(1.0)
    assert (shown["state"], shown["entrant"], shown["unsent"], shown["online"]) == (None, None, None, False)
    assert shown["clock"]["shown_ms"] is None


def test_an_old_will_does_not_put_out_a_newer_session() -> None:
    told = Told()
    told.hear_status({"online": True, "session": 5}, 1)
    told.hear_status({"online": False, "session": 4}, 2)
    assert told.online
    told.hear_status({"online": False, "session": 5}, 3)
    assert not told.online


def test_a_retained_snapshot_of_an_older_boot_does_not_vouch() -> None:
    told = Told()
    told.saw_event(Stamp("b1", 100))
    told.saw_event(Stamp("b2", 10))
    told.hear_state(state(900, boot="b1"), None, 1)
    assert told.vouched == Stamp("b2", 10)
    told.hear_state(state(50, boot="b2"), 1.0, 1)
    assert told.vouched == Stamp("b2", 50)
    told.hear_state(state(5, boot="b3"), 1.0, 1)
    assert told.vouched == Stamp("b3", 5)


def test_logs_of_a_card_that_come_in_any_order_take_nothing_back() -> None:
    """A run that is over stays over when an older boot's log is read from a card afterwards."""
    for order in itertools.permutations(["b1", "b2", "b3"]):
        told = Told()
        before = {"b2": "b1", "b3": "b2"}
        for boot in order:
            told.saw_event(Stamp(boot, 5), before.get(boot))
            told.saw_event(Stamp(boot, 900))
        assert told.vouched == Stamp("b3", 900), order
        told.saw_event(Stamp("b1", 950))
        assert told.vouched == Stamp("b3", 900), order
