"""Slows down whoever guesses passwords: after some wrong ones, each further try from there has to wait."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

FREE_TRIES: Final = 10
LONGEST_WAIT_S: Final = 60.0
FORGOTTEN_AFTER_S: Final = 15 * 60.0
_MOST_PLACES: Final = 10_000


@dataclass(slots=True)
class _Place:
    wrong: int = 0
    last_s: float = 0.0


class Throttle:
    """Counts wrong tries by network address. Times are hand time in seconds."""

    def __init__(self) -> None:
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def wait_s(self, address: str, now_s: float) -> float:
        """How long this address has to wait before its next try counts; 0 for at once."""
        place = self._places.get(_network(address))
        if place is None or place.wrong < FREE_TRIES:
            return 0.0
        pause_s = min(LONGEST_WAIT_S, 2.0 ** (place.wrong - FREE_TRIES))
        return max(0.0, place.last_s + pause_s - now_s)

    def wrong(self, address: str, now_s: float) -> int:
        """A try was wrong; how many that makes."""
        key = _network(address)
        place = self._places.pop(key, _Place())
        if now_s - place.last_s > FORGOTTEN_AFTER_S:
            place = _Place()
        place.wrong, place.last_s = place.wrong + 1, now_s
        self._places[key] = place
        if len(self._places) > _MOST_PLACES:
            self._places.popitem(last=False)
        return place.wrong

    def right(self, address: str) -> None:
        """A try was right: what was wrong before is forgiven."""
        self._places.pop(_network(address), None)


def _network(address: str) -> str:
    """An IPv6 visitor has a whole /64 to come from."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)
