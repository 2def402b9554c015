"""What comes twice, by file or by wire, changes nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hub.arrivals import Cursor, Incoming, judge
from hub.logs import read_logs
from shared.core.events import Event
from shared.core.tournament import CategoryStandings, Tournament
from tests.strategies import CATEGORIES, logs

few = settings(max_examples=60, deadline=None)


def standings(events: list[Event]) -> list[CategoryStandings]:
    tournament = Tournament(CATEGORIES)
    for event in events:
        tournament.apply(event)
    return tournament.standings()


def spilled(data: st.DataObject, events: list[Event]) -> list[list[Event]]:
    """The events over two files, in any order, some of them in both."""
    files: list[list[Event]] = [[], []]
    for event in data.draw(st.permutations(events)):
        for n in data.draw(st.sampled_from([(0,), (1,), (0, 1), (0, 0)])):
            files[n].append(event)
    return files


@few
@given(st.data())
def test_logs_exported_twice_and_shuffled_give_the_same_standings(data: st.DataObject) -> None:
    events = [event for log in data.draw(logs()) for event in log]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for n, file in enumerate(spilled(data, events)):
            paths.append(Path(folder) / f"{n}.jsonl")
            paths[-1].write_text("".join(json.dumps(event.as_json()) + "\n" for event in file))
        read, problems = read_logs(paths)
    assert problems == []
    assert sorted(e.key for e in read) == sorted(e.key for e in events)
    assert standings(read) == standings(events)


@few
@given(st.data())
def test_a_log_sent_again_from_anywhere_is_accepted_once(data: st.DataObject) -> None:
    log = next((log for log in data.draw(logs())[:3] if log), None)
    if log is None:
        return
    accepted: list[Event] = []
    known: dict[str, Cursor] = {}
    device = log[0].device
    while len(accepted) < len(log):
        first = data.draw(st.integers(0, len(accepted)))
        batch = log[first : first + data.draw(st.integers(1, 16))]
        judgement = judge([Incoming("up/event", device, batch)], known)
        accepted += judgement.accepted
        known |= judgement.cursors
        assert judgement.asides == []
    assert accepted == log
