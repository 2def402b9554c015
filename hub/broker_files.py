"""The files of the hub's mosquitto: who may connect, what each may say and hear, and how it is encrypted.

One folder, made and kept up by `timer-hub provision`; mosquitto reads passwords and rules again when it is
told to reload.
"""

from __future__ import annotations

import base64
import contextlib
import grp
import hashlib
import os
import pwd
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hub.certificates import Certificate, make_ca, make_server
from shared.core.events import HUB_DEVICE
from shared.wire import MAX_PAYLOAD

TLS_PORT: Final = 8883
LOCAL_PORT: Final = 1883
CERTIFIED_NAME: Final = "timer-hub"
"""What the certificate says of the broker wherever it is: its address may change from hall to hall."""
_ROUNDS: Final = 101
"""As mosquitto_passwd does; our passwords are random, nobody guesses them from their hashes."""

_CONFIG: Final = """\
# Written by timer-hub provision; what you change here is lost at the next one.
# With a password only, each table under its own name (acl), encrypted except for the hub on this machine.
per_listener_settings false
allow_anonymous false
password_file {folder}/passwd
acl_file {folder}/acl
set_tcp_nodelay true
max_inflight_messages 1000
max_queued_messages 10000
max_queued_bytes 67108864
message_size_limit {most_bytes}
max_packet_size {packet_bytes}
max_keepalive 60

listener {local_port} 127.0.0.1
use_username_as_clientid true

listener {tls_port}
# a table that called itself like another one would end its connection
use_username_as_clientid true
max_connections 500
cafile {folder}/ca.crt
certfile {folder}/server.crt
keyfile {folder}/server.key
tls_version tlsv1.2

# Hub and tables say again what counts; a file that a power cut broke would keep the broker from starting.
persistence false
log_dest stderr
log_type error
log_type warning
log_type notice
connection_messages true
"""

_ACL: Final = """\
# A table speaks and hears under its own name only; its name is its user name.
user {hub}
topic readwrite {base}/#
pattern write {base}/%u/up/#
pattern read {base}/%u/down/#
pattern read {base}/all/#
# Public names and results, for room screens and home automation (timer-hub provision reader).
pattern read {base}/standings/#
"""

READER: Final = "reader_"
"""How the names of those begin who only listen: no table can be called so."""


class BrokerFolder:
    """The folder of one hub's broker. Methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    @property
    def ca_file(self) -> Path:
        """The authority's certificate, which every table gets."""
        return self.folder / "ca.crt"

    def is_set_up(self) -> bool:
        """Whether tables can be provisioned."""
        return self.ca_file.exists() and self._passwords.exists()

    def set_up(
        self,
        base: str,
        hub_password: str,
        names: Sequence[str] = (),
        tls_port: int = TLS_PORT,
        local_port: int = LOCAL_PORT,
    ) -> None:
        """Make what is missing, and write configuration, rules and the hub's password anew.

        The authority and the tables' passwords stay: tables that were provisioned before still connect.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        ca = self._ca()
        server = make_server(ca, [CERTIFIED_NAME, "timer-hub.local", "localhost", "127.0.0.1", *names])
        self._write("server.crt", server.certificate)
        self._write("server.key", server.key)
        config = _CONFIG.format(
            folder=self.folder,
            tls_port=tls_port,
            local_port=local_port,
            most_bytes=MAX_PAYLOAD,
            packet_bytes=MAX_PAYLOAD + 1024,
        )
        self._write("acl", _ACL.format(hub=HUB_DEVICE, base=base).encode())
        self.set_password(HUB_DEVICE, hub_password)
        self._write("mosquitto.conf", config.encode())

    def users(self) -> list[str]:
        """Who may connect."""
        return list(self._lines())

    def set_password(self, user: str, password: str) -> None:
        """Let somebody connect with this password and no other one."""
        self._keep({**self._lines(), user: _hashed(password)})

    def shut_out(self, user: str) -> bool:
        """Let somebody connect no more; False for nobody."""
        lines = self._lines()
        if lines.pop(user, None) is None:
            return False
        self._keep(lines)
        return True

    @property
    def _passwords(self) -> Path:
        return self.folder / "passwd"

    def _lines(self) -> dict[str, str]:
        if not self._passwords.exists():
            return {}
        lines = (line.partition(":") for line in self._passwords.read_text().splitlines())
        return {user: hashed for user, colon, hashed in lines if colon}

    def _keep(self, lines: dict[str, str]) -> None:
        self._write("passwd", "".join(f"{user}:{hashed}\n" for user, hashed in lines.items()).encode())

    def _ca(self) -> Certificate:
        key = self.folder / "ca.key"
        if self.ca_file.exists() and key.exists():
            return Certificate(self.ca_file.read_bytes(), key.read_bytes())
        ca = make_ca()
        self._write("ca.key", ca.key, mode=0o600)
        self._write("ca.crt", ca.certificate)
        return ca

    def _write(self, name: str, content: bytes, mode: int = 0o640) -> None:
        """Whole or not at all; for the folder's group, which is the broker's, and its user.

        Later versions of mosquitto take passwords and rules only from files of their own user.
        """
        path = self.folder / name
        new = path.with_name(f".{name}.new")
        new.unlink(missing_ok=True)
        with open(new, "xb", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode != 0o600:
            with contextlib.suppress(PermissionError):  # not root: then it is our own group already
                os.chown(new, *self._owner())
        new.chmod(mode)
        new.replace(path)

    def _owner(self) -> tuple[int, int]:
        """The user whose own group the folder has; -1 where there is none of this name."""
        group = self.folder.stat().st_gid
        try:
            return pwd.getpwnam(grp.getgrgid(group).gr_name).pw_uid, group
        except KeyError:
            return -1, group


def new_password() -> str:
    """A random password for a program."""
    return secrets.token_urlsafe(18)


def _hashed(password: str) -> str:
    """As mosquitto 2 keeps passwords: PBKDF2 of SHA-512."""
    salt = secrets.token_bytes(12)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _ROUNDS)
    return f"$7${_ROUNDS}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"
