"""Running the hub from its settings until it is told to stop."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

from hub.app import Hub, HubParts
from hub.backup import backups_of
from hub.config import HubFile, load_settings
from hub.embedded_broker import BrokerError, EmbeddedBroker
from hub.ingest import IngestSettings
from hub.rescue import flaw_of, wait_for_rescue
from hub.store import StoreDamaged, StoreTrouble
from hub.store_schema import StoreUnusable
from hub.web.server import CannotListen
from shared.checked_toml import BadFile
from shared.clock import monotonic
from shared.notify import EVERY_S, Notify
from shared.rulebook import Rulebook

NO_BROKER_S = 3.0
"""A broker that was not found by then is told."""


class HubFailed(RuntimeError):
    """The hub cannot run; says why and what to do."""


def run_hub(path: Path, say: Callable[[str], None]) -> None:
    """Run until SIGINT or SIGTERM. Raises HubFailed."""
    stopped = threading.Event()
    errors: list[BaseException | None] = []

    def broken(error: BaseException | None) -> None:
        errors.append(error)
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        settings, rulebook = load_settings(path)
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        broker = EmbeddedBroker(settings.broker.port) if settings.broker.kind == "embedded" else None
        if broker is not None:
            broker.start()
        try:
            hub = _whole_hub(path, settings, rulebook, broken, stopped, say)
            if hub is not None:
                _serve(hub, settings, stopped, say)
        finally:
            if broker is not None:
                broker.stop()
    except (BadFile, BrokerError, StoreUnusable, StoreTrouble, CannotListen) as error:
        raise HubFailed(str(error)) from error
    except OSError as error:
        raise HubFailed(f"{error.filename or path}: {error.strerror}") from error
    if errors:
        raise HubFailed(f"the hub stopped by an error of its own: {errors[0]!r}") from errors[0]


def _whole_hub(
    path: Path,
    settings: HubFile,
    rulebook: Rulebook,
    broken: Callable[[BaseException | None], None],
    stopped: threading.Event,
    say: Callable[[str], None],
) -> Hub | None:
    """The hub, on a database that is whole; None when it was told to stop before there was one."""
    for ours in (settings.database, backups_of(settings.database)):
        if ours.exists() and not os.access(ours, os.W_OK):
            folder = settings.data_dir.stat()
            owner = f"{folder.st_uid}:{folder.st_gid}"
            raise HubFailed(
                f"{ours} belongs to {_name(ours)} and cannot be written by the hub: "
                f"sudo chown -R {owner} {settings.data_dir}"
            )
    while not stopped.is_set():
        damage = flaw_of(settings.database)
        try:
            if damage is None:
                return Hub(_parts(settings, rulebook), broken)
        except StoreDamaged as error:
            damage = str(error)
        wait_for_rescue(damage, settings, path, stopped, say)
    return None


def _name(path: Path) -> str:
    try:
        return path.owner()
    except KeyError:
        return f"user {path.stat().st_uid}"


def _serve(hub: Hub, settings: HubFile, stopped: threading.Event, say: Callable[[str], None]) -> None:
    notify = Notify()
    hub.start()
    try:
        say(f"pages at http://{'*' if settings.web.open else '127.0.0.1'}:{hub.port}/")
        notify.ready(hub.in_a_line())
        look_at_s, told = monotonic() + NO_BROKER_S, ""
        while not stopped.wait(EVERY_S):
            if hub.alive:
                notify.alive(monotonic())
            notify.status(hub.in_a_line())
            told = _tell_trouble(hub, told, say)
            if monotonic() >= look_at_s:
                look_at_s = float("inf")
                if not hub.connected:
                    say(_no_broker(settings))
    finally:
        notify.stopping()
        hub.stop()


def _tell_trouble(hub: Hub, told: str, say: Callable[[str], None]) -> str:
    """What the hub's log must have: the pages send there whoever sees that nothing is kept. Each thing once."""
    trouble = str(hub.health()["trouble"])
    if not trouble.startswith(("database", "no backup")):
        trouble = ""  # the broker comes and goes
    if trouble and trouble != told:
        say(trouble)
    elif told and not trouble:
        say("the database and its backups are written again")
    return trouble


def _no_broker(settings: HubFile) -> str:
    where = f"{settings.broker.host}:{settings.broker.port}"
    return f"no broker at {where} yet; trying again and again (is mosquitto installed and running?)"


def _parts(settings: HubFile, rulebook: Rulebook) -> HubParts:
    return HubParts(
        rulebook=rulebook,
        database=settings.database,
        broker=IngestSettings(
            settings.broker.host,
            settings.broker.port,
            base=settings.broker.base,
            username=settings.broker.username,
            password=settings.broker.password,
            tls=settings.broker.tls(),
        ),
        web_host="" if settings.web.open else "127.0.0.1",
        web_port=settings.web.port,
    )
