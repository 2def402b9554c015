"""A request that is refused for a reason of its own, which its page tells in words."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException


class Refusal(HTTPException):
    """`code` names the sentence in `hub.web.errors`."""

    def __init__(self, status: int, code: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, code, dict(headers or {}))
        self.code = code
