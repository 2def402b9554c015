"""Topic names are built and read back alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.topics import Address, Direction, Topics, is_device

UP = ("up_event", "up_state", "up_status", "up_reply", "up_time")
DOWN = ("down_ack", "down_plan", "down_rulings", "down_command", "down_time")


@pytest.mark.parametrize("method", UP + DOWN)
@pytest.mark.parametrize("base", ["puzzle/1", "a", "club de puzles/torneo/3"])
def test_a_topic_of_a_device_is_read_back_as_it_was_built(method: str, base: str) -> None:
    topics = Topics(base)
    topic = getattr(topics, method)("t07-k3f9")
    direction, name = method.split("_")
    assert topic == f"{base}/t07-k3f9/{direction}/{name}"
    assert topics.parse(topic) == Address("t07-k3f9", Direction(direction), name)


def test_topics_for_everybody_name_no_device() -> None:
    topics = Topics()
    assert topics.parse(topics.start) == ("", Direction.ALL, "start")
    assert topics.parse(topics.hub) == ("", Direction.ALL, "hub")
    assert topics.parse(topics.standings("parejas")) == ("", Direction.STANDINGS, "parejas")


@pytest.mark.parametrize(
    "topic",
    [
        "",
        "puzzle/1",
        "puzzle/1/",
        "puzzle/2/t01/up/event",
        "puzzle/1/t01/up",
        "puzzle/1/t01/up/",
        "puzzle/1/t01/up/event/more",
        "puzzle/1/t01/sideways/event",
        "puzzle/1/T01/up/event",
        "puzzle/1//up/event",
        "puzzle/1/hub/up/event",
        "puzzle/1/all/up/event",
        "puzzle/1/t\udc00/up/event",
        "puzzle/1/" + "t" * 33 + "/up/event",
    ],
)
def test_a_topic_of_nobody_here_is_none(topic: str) -> None:
    assert Topics().parse(topic) is None


@given(st.text())
def test_no_topic_makes_the_reader_fail(topic: str) -> None:
    Topics("x").parse(topic)
    Topics("x").parse("x/" + topic)


@pytest.mark.parametrize("base", ["", "/", "a/", "/a", "a//b", "a/+", "a/#", "$SYS/a"])
def test_a_base_with_wildcards_or_empty_levels_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="topic base"):
        Topics(base)


@pytest.mark.parametrize("name", ["all", "hub", "standings", "", "Mesa", "t/1", "t+", "é"])
def test_a_name_that_is_no_device_builds_no_topic(name: str) -> None:
    assert not is_device(name)
    with pytest.raises(ValueError, match="no device name"):
        Topics().up_event(name)


def test_a_category_with_a_slash_builds_no_topic() -> None:
    with pytest.raises(ValueError, match="category id"):
        Topics().standings("a/b")
