"""Spans between stamps: exact where clocks are known in common, bounded elsewhere, never a guess."""

from __future__ import annotations

from shared.core.timeline import Span, Stamp, Timeline


def at(boot: str, ms: int) -> Stamp:
    return Stamp(boot, ms)


def rebooted() -> Timeline:
    """Boot `a` was seen alive at 60 s, then came `b`."""
    timeline = Timeline()
    timeline.booted("b", "a", 60_000)
    return timeline


def test_stamps_of_one_boot_differ_exactly() -> None:
    span = Timeline().between(at("a", 5_000), at("a", 4_000))
    assert span == Span(-1_000, -1_000)
    assert span.exact


def test_boots_that_nothing_relates_say_nothing() -> None:
    assert Timeline().between(at("a", 5_000), at("b", 90_000)) == Span(0, None)


def test_over_a_reboot_it_was_at_least_as_long_as_the_table_was_seen_alive() -> None:
    assert rebooted().between(at("a", 50_000), at("b", 7_000)) == Span(17_000, None)


def test_over_several_boots_the_times_alive_add_up() -> None:
    timeline = rebooted()
    timeline.booted("c", "b", 30_000)
    assert timeline.between(at("a", 50_000), at("c", 7_000)) == Span(47_000, None)


def test_a_later_event_of_the_old_boot_raises_the_lower_bound() -> None:
    timeline = rebooted()
    assert timeline.saw("a", 65_000)
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(22_000, None)


def test_an_event_is_news_only_for_a_boot_that_another_one_followed() -> None:
    timeline = rebooted()
    assert not timeline.saw("b", 1_000)
    assert not timeline.saw("a", 59_000)


def test_a_boot_that_names_itself_as_the_one_before_is_no_news() -> None:
    assert not Timeline().booted("a", "a", 1_000)


def test_boots_in_a_circle_come_to_an_end() -> None:
    timeline = rebooted()
    timeline.booted("a", "b", 10_000)
    assert timeline.between(at("x", 0), at("b", 7_000)) == Span(0, None)


def test_a_boot_with_two_boots_before_it_takes_the_longer_way() -> None:
    timeline = rebooted()
    timeline.booted("b", "z", 10_000)
    timeline.booted("z", "a", 80_000)
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(37_000, None)


def test_two_boots_anchored_to_one_clock_of_the_hub_are_related_exactly() -> None:
    timeline = rebooted()
    timeline.anchored(at("a", 50_000), 1_000_000, "hub-1", 5)
    timeline.anchored(at("b", 2_000), 1_030_000, "hub-1", 8)
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(35_000, 35_000)


def test_anchors_to_two_clocks_of_the_hub_relate_nothing() -> None:
    timeline = rebooted()
    timeline.anchored(at("a", 50_000), 1_000_000, "hub-1", 5)
    timeline.anchored(at("b", 2_000), 1_030_000, "hub-2", 5)
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(17_000, None)


def test_a_boot_anchored_to_both_clocks_of_the_hub_is_related_by_the_surer_one() -> None:
    timeline = Timeline()
    for base, error_ms, ahead_ms in (("hub-1", 40, 0), ("hub-2", 2, 13)):
        timeline.anchored(at("a", 0), 1_000_000, base, error_ms)
        timeline.anchored(at("b", 0), 1_030_000 + ahead_ms, base, error_ms)
    assert timeline.between(at("a", 0), at("b", 0)) == Span(30_013, 30_013)


def test_an_anchor_near_a_stamp_tells_more_than_one_long_before() -> None:
    timeline = Timeline()
    timeline.anchored(at("a", 0), 0, "hub-1", 3)
    timeline.anchored(at("a", 3_600_000), 3_600_150, "hub-1", 6)
    timeline.anchored(at("b", 0), 3_700_000, "hub-1", 3)
    assert timeline.between(at("a", 3_600_000), at("b", 0)) == Span(99_850, 99_850)
    assert timeline.between(at("a", 10_000), at("b", 0)) == Span(3_690_000, 3_690_000)


def test_an_anchor_known_already_is_no_news() -> None:
    timeline = Timeline()
    assert timeline.anchored(at("a", 0), 5, "hub-1", 3)
    assert not timeline.anchored(at("a", 0), 5, "hub-1", 3)


def test_a_middle_boot_that_is_anchored_makes_the_lower_bound_higher() -> None:
    timeline = rebooted()
    timeline.booted("c", "b", 30_000)
    timeline.anchored(at("a", 50_000), 1_000_000, "hub-1", 5)
    timeline.anchored(at("b", 0), 1_100_000, "hub-1", 5)
    assert timeline.between(at("a", 50_000), at("c", 7_000)) == Span(137_000, None)


def test_what_the_hub_heard_first_of_a_boot_bounds_it_from_above() -> None:
    timeline = rebooted()
    timeline.anchored(at("a", 50_000), 1_000_000, "hub-1", 5)
    timeline.not_later(at("b", 3_000), 1_040_000, "hub-1")
    timeline.not_later(at("b", 4_000), 1_050_000, "hub-1")
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(17_000, 44_000)


def test_a_bound_on_another_clock_of_the_hub_says_nothing() -> None:
    timeline = rebooted()
    timeline.anchored(at("a", 50_000), 1_000_000, "hub-1", 5)
    timeline.not_later(at("b", 3_000), 1_040_000, "hub-2")
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(17_000, None)


def test_an_upper_bound_is_never_below_the_lower_one() -> None:
    timeline = rebooted()
    timeline.anchored(at("a", 50_000), 1_000_000, "hub-1", 5)
    timeline.not_later(at("b", 3_000), 1_000_000, "hub-1")
    assert timeline.between(at("a", 50_000), at("b", 7_000)) == Span(17_000, 17_000)
