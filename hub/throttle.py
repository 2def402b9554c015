"""Slows down whoever guesses passwords: after some wrong ones, each further try has to wait.

Counted for each name from each address, and for the address as a whole with a higher limit. A right password
forgives only what was wrong with its own name: who has one cannot guess others'. Where a whole hall comes from one
address and somebody in it guesses, whose name was tried wrongly no more than a few times from there still gets in.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

FREE_TRIES: Final = 10
"""Wrong ones with one name from one address."""
FREE_OF_ADDRESS: Final = 50
"""Wrong ones with any names from one address."""
FREE_ALWAYS: Final = 3
"""Wrong ones with a name after which the limit of its address concerns it."""
LONGEST_WAIT_S: Final = 60.0
FORGOTTEN_AFTER_S: Final = 15 * 60.0
_MOST_PLACES: Final = 10_000
_ANY: Final = ""

Place = tuple[str, str]
"""Network and name; an address as a whole has none."""


@dataclass(slots=True)
class _Tries:
    wrong: int = 0
    last_s: float = 0.0


class Throttle:
    """Counts wrong tries. Times are hand time in seconds; names come as they are compared, never empty."""

    def __init__(self) -> None:
        self._places: OrderedDict[Place, _Tries] = OrderedDict()

    def wait_s(self, address: str, name: str, now_s: float) -> float:
        """How long the next try of this name from this address has to wait; 0 for at once."""
        network = network_of(address)
        wait_s = self._wait_s((network, name), FREE_TRIES, now_s)
        if self._wrong((network, name), now_s) >= FREE_ALWAYS:
            wait_s = max(wait_s, self._wait_s((network, _ANY), FREE_OF_ADDRESS, now_s))
        return wait_s

    def wrong(self, address: str, name: str, now_s: float) -> bool:
        """A try was wrong; whether that makes so many that it should be noted: the limit, twice that, ..."""
        network = network_of(address)
        of_name = self._count((network, name), now_s)
        of_address = self._count((network, _ANY), now_s)
        return _is_a_step(of_name, FREE_TRIES) or _is_a_step(of_address, FREE_OF_ADDRESS)

    def right(self, address: str, name: str) -> None:
        """A try was right: what was wrong with this name from there is forgiven."""
        self._places.pop((network_of(address), name), None)

    def _wait_s(self, key: Place, free: int, now_s: float) -> float:
        wrong = self._wrong(key, now_s)
        if wrong < free:
            return 0.0
        pause_s = min(LONGEST_WAIT_S, 2.0 ** min(wrong - free, 10))
        return max(0.0, self._places[key].last_s + pause_s - now_s)

    def _wrong(self, key: Place, now_s: float) -> int:
        tries = self._places.get(key)
        return 0 if tries is None or now_s - tries.last_s > FORGOTTEN_AFTER_S else tries.wrong

    def _count(self, key: Place, now_s: float) -> int:
        wrong = self._wrong(key, now_s) + 1
        self._places[key] = _Tries(wrong, now_s)
        self._places.move_to_end(key)
        if len(self._places) > _MOST_PLACES:
            self._places.popitem(last=False)
        return wrong


def _is_a_step(wrong: int, free: int) -> bool:
    times, rest = divmod(wrong, free)
    return rest == 0 and times.bit_count() == 1


def network_of(address: str) -> str:
    """An IPv6 visitor has a whole /64 to come from."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)
