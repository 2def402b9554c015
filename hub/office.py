"""All that needs a name and a password at one hub: who may log in, what they may do, what was done."""

from __future__ import annotations

from dataclasses import dataclass

from hub.asking import Asking
from hub.commands import Commands
from hub.people import People
from hub.store import Store
from hub.store_audit import AuditStore
from hub.view import View
from shared.clock import HandClock, HubClock, WallClock, machine_clock


@dataclass(frozen=True, slots=True)
class Office:
    """What the pages of judges and organisers work with."""

    people: People
    commands: Commands
    audit: AuditStore
    asking: Asking


def open_office(
    store: Store, view: View, *, wall: WallClock, hand: HandClock, clock: HubClock | None = None
) -> Office:
    """The office of a hub."""
    asking = Asking(store, clock or machine_clock(), wall)
    return Office(People(store, wall=wall, hand=hand), Commands(store, view, wall), store.audit, asking)
