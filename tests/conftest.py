"""What all tests share: a broker for who asks; hypothesis judges what code does, not how busy the machine is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.brokers import Mosquitto, mosquitto

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker of this test's own."""
    with mosquitto(tmp_path) as running:
        yield running
