"""Supply, heat and room of the board, as /sys tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.board import LOOK_EVERY_S, Board, BoardState


def sys_with(folder: Path, throttled: str, millidegrees: int = 45_000) -> Path:
    firmware = folder / "devices/platform/soc/soc:firmware"
    thermal = folder / "class/thermal/thermal_zone0"
    for path in (firmware, thermal):
        path.mkdir(parents=True, exist_ok=True)
    (firmware / "get_throttled").write_text(f"{throttled}\n")
    (thermal / "temp").write_text(f"{millidegrees}\n")
    return folder


@pytest.mark.parametrize(
    ("throttled", "millidegrees", "codes"),
    [
        ("0", 45_000, []),
        ("50005", 45_000, ["supply_weak"]),
        ("50000", 45_000, ["supply_was_weak"]),
        ("2", 45_000, ["board_slowed"]),
        ("0", 80_000, ["board_hot"]),
        ("50008", 84_999, ["supply_was_weak", "board_hot"]),
        ("nonsense", 0, []),
    ],
)
def test_weak_supplies_and_heat_are_problems(
    tmp_path: Path, throttled: str, millidegrees: int, codes: list[str]
) -> None:
    """E11."""
    state = Board(tmp_path, sys_with(tmp_path, throttled, millidegrees)).state(0.0)
    assert [problem.code for problem in state.problems if problem.code != "storage_little_room"] == codes


def test_the_kernels_own_alarm_for_the_supply_counts_too(tmp_path: Path) -> None:
    monitor = tmp_path / "class/hwmon/hwmon1"
    monitor.mkdir(parents=True)
    (monitor / "name").write_text("rpi_volt\n")
    (monitor / "in0_lcrit_alarm").write_text("1\n")
    assert "supply_weak" in [problem.code for problem in Board(tmp_path, tmp_path).state(0.0).problems]


def test_a_machine_that_tells_nothing_has_no_problem(tmp_path: Path) -> None:
    state = Board(tmp_path / "none", tmp_path / "none").state(0.0)
    assert state == BoardState()
    assert state.problems == ()


def test_little_room_on_the_card_is_a_problem() -> None:
    assert [problem.code for problem in BoardState(free_mb=10).problems] == ["storage_little_room"]


def test_the_board_is_looked_at_now_and_then_only(tmp_path: Path) -> None:
    board = Board(tmp_path, sys_with(tmp_path, "0"))
    assert board.state(0.0).throttled == 0
    sys_with(tmp_path, "1")
    assert board.state(LOOK_EVERY_S / 2).throttled == 0
    assert board.state(LOOK_EVERY_S).throttled == 1
