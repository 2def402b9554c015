"""A virtual table's line to its supervisor: the newest picture wins, and the table never waits for a reader."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from PIL import Image


class Reporter:
    """Writes one JSON line whenever what is shown has changed, in a thread of its own.

    `t` is the instant of hand time of `words` and `state`; the display lights them a moment later, in `frame`.
    """

    def __init__(self, fd: int, gone: Callable[[], None]) -> None:
        """`gone` is called, in the thread, when nobody reads any more."""
        self._fd = fd
        self._gone = gone
        self._news = threading.Condition()
        self._line: dict[str, Any] = {"t": 0.0, "frame": "", "words": "", "table": {}}
        self._fresh = False
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def lit(self, picture: Image.Image) -> None:
        """The display now shows this picture (mode "1", 128 x 64)."""
        self._put(frame=base64.b64encode(picture.tobytes()).decode())

    def composed(self, words: str, table: Mapping[str, Any], t: float) -> None:
        """The app has handed a picture of these words to the display at `t`, being in this situation."""
        self._put(words=words, table=dict(table), t=t)

    def _put(self, **news: object) -> None:
        with self._news:
            self._line |= news
            self._fresh = bool(self._line["words"])  # before its first picture the display is only cleared
            self._news.notify()

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._fresh)
                self._fresh = False
                line = json.dumps(self._line, ensure_ascii=False)
            try:
                write_line(self._fd, line)
            except BrokenPipeError:
                self._gone()
                return


def write_line(fd: int, line: str) -> None:
    """Write a whole line, however small the pipe. Raises BrokenPipeError when nobody reads."""
    rest = line.encode() + b"\n"
    while rest:
        rest = rest[os.write(fd, rest) :]
