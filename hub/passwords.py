"""Passwords and PINs as they are kept: hashed by argon2, one at a time, as each hash takes 64 MiB for a moment."""

from __future__ import annotations

import secrets
import threading
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

LEAST_LETTERS: Final = 8
MOST_LETTERS: Final = 200
PIN_DIGITS: Final = 8

_hasher: Final = PasswordHasher()
_one_at_a_time: Final = threading.Lock()
_nobodys: Final = _hasher.hash(secrets.token_hex(8))


def hashed(secret: str) -> str:
    """The hash to keep."""
    with _one_at_a_time:
        return _hasher.hash(secret)


def fits(kept: str | None, secret: str) -> bool:
    """Whether a secret is the one that was hashed; as slow for a person who is not there, and then False."""
    with _one_at_a_time:
        try:
            _hasher.verify(kept or _nobodys, secret)
        except (Argon2Error, InvalidHashError):
            return False
    return kept is not None


def new_pin() -> str:
    """A PIN for a judge, to be printed: digits only, for any keypad."""
    return f"{secrets.randbelow(10**PIN_DIGITS):0{PIN_DIGITS}}"
