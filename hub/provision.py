"""A table timer's bundle: its settings with a name and a password of its own, and the certificate it trusts."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hub.broker_files import CERTIFIED_NAME, TLS_PORT, BrokerFolder, new_password
from shared.topics import DEFAULT_BASE

_SETTINGS = """\
# The settings of one table timer, with its password: put this file and ca.crt on its card, and nowhere else.
device = {device}
table = {table}
language = {language}
rulebook = {rulebook}

[hub]
host = {host}
port = {port}
base = {base}
username = {device}
password = {password}
ca = "ca.crt"
certified_name = {name}
"""


@dataclass(frozen=True, slots=True)
class BundleWishes:
    """What a table's settings say beside its name and password."""

    host: str
    language: str
    rulebook: str
    port: int = TLS_PORT
    base: str = DEFAULT_BASE


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was made."""

    device: str
    folder: Path
    earlier: tuple[str, ...] = ()
    """Those made for this table before, who may still connect."""


def make_bundle(broker: BrokerFolder, table: int, out: Path, wishes: BundleWishes) -> Bundle:
    """A new device for a table, in a folder of its name. Raises OSError."""
    device = f"t{table:02}-{secrets.token_hex(2)}"
    while device in broker.users():
        device = f"t{table:02}-{secrets.token_hex(2)}"
    folder, password = (out / device).absolute(), new_password()
    made = [path for path in (*reversed(folder.parents), folder) if not path.exists()]
    folder.mkdir(parents=True, mode=0o700)
    values = {
        "device": device,
        "table": table,
        "language": wishes.language,
        "rulebook": wishes.rulebook,
        "host": wishes.host,
        "port": wishes.port,
        "base": wishes.base,
        "password": password,
        "name": CERTIFIED_NAME,
    }
    # a JSON string is a TOML string too
    text = _SETTINGS.format(**{k: json.dumps(v, ensure_ascii=False) for k, v in values.items()})
    settings = folder / "table-timer.toml"
    settings.touch(mode=0o600)
    settings.write_text(text, encoding="utf-8")
    authority = folder / "ca.crt"
    authority.write_bytes(broker.ca_file.read_bytes())
    _give_to_who_typed([*made, settings, authority])
    earlier = tuple(user for user in broker.users() if user.startswith(f"t{table:02}-"))
    broker.set_password(device, password)  # last: nobody has a password that is on no card
    return Bundle(device, folder, earlier)


def _give_to_who_typed(made: Sequence[Path]) -> None:
    """Behind sudo stands a person who has to copy it; the password stays theirs alone."""
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() == 0 and user.isdecimal() and group.isdecimal():
        for path in made:
            with contextlib.suppress(PermissionError):  # a stick knows no owners
                os.chown(path, int(user), int(group))


def this_host() -> str:
    """How tables find this machine in the network without a name server."""
    return f"{socket.gethostname().partition('.')[0]}.local"
