"""How many connections there are at a time: there is always room for who asks something, and files for the rest.

Who opens connections and says nothing takes nobody's place: where there are too many, the one that has been
waiting longest, of whoever has most, makes room.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

RESERVE: Final = 256
"""Files kept for broker, database, backups and the machine's own."""
BURST: Final = 128
"""So many connections are taken from the system at once, before anybody can count them."""
MOST: Final = 2_000
LEAST: Final = 64


class Connection(Protocol):
    """A connection as the crowd sees it."""

    address: str
    """Whose it is, as far as the network tells."""

    @property
    def waiting(self) -> bool:
        """Whether nothing is being answered: no whole request has come yet, or all are answered."""

    def end(self) -> None:
        """Close it at once."""


class Crowd:
    """The connections of one server; called from its event loop alone."""

    def __init__(self, files: int) -> None:
        self.most: Final = max(LEAST, min(MOST, files - RESERVE - BURST))
        self.most_of_one: Final = self.most * 3 // 4
        """A hall behind one address, or behind a proxy, is one."""
        self._of: dict[str, dict[Connection, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def takes(self, connection: Connection) -> bool:
        """Count a connection in, if need be in the place of one that waits; False where there is no place."""
        address = connection.address
        if len(self._of.get(address, ())) >= self.most_of_one and not self._ended_one_of(iter([address])):
            return False
        if self._count >= self.most and not self._ended_one_of(self._largest_first()):
            return False
        self._of.setdefault(address, {})[connection] = None
        self._count += 1
        return True

    def left(self, connection: Connection) -> None:
        """A connection is gone; one that was never counted in changes nothing."""
        here = self._of.get(connection.address, {})
        if connection in here:
            del here[connection]
            self._count -= 1
            if not here:
                del self._of[connection.address]

    def _largest_first(self) -> Iterator[str]:
        yield from sorted(self._of, key=lambda address: len(self._of[address]), reverse=True)

    def _ended_one_of(self, addresses: Iterator[str]) -> bool:
        for address in addresses:
            for connection in self._of[address]:  # the oldest first
                if connection.waiting:
                    self.left(connection)
                    connection.end()
                    return True
        return False
