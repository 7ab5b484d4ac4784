"""Writes records, one JSON object a line, to a descriptor of their own."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

from .frames import Json

TEXT, MESSAGE = 500, 4000
LINE_BYTES = 512 * 1024


def bounded(value: Any) -> Any:
    """Return the value with every string cut to what a record may hold."""
    if isinstance(value, str):
        return value[:TEXT]
    if isinstance(value, dict):
        cut = {key: bounded(item) for key, item in value.items()}
        if value.get("t") == "raised":
            cut["message"] = value["message"][:MESSAGE]
        return cut
    if isinstance(value, list | tuple):
        return [bounded(item) for item in value]
    return value


class Emitter:
    """Emits from the process that made it alone: forked workers share the descriptor."""

    def __init__(self, fd: int) -> None:
        self._given = fd
        self._fd = os.dup(fd)  # stays where a script closes or redirects the one it knows
        self._fstat = os.fstat  # a script may replace these later
        self._write = os.write
        self._getpid = os.getpid
        self._encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
        self._identity = self._identify()
        self._pid = os.getpid()
        self.written = 0
        self.dropped: set[str] = set()

    def emit(self, record: Json) -> None:
        """Write one record; a record beyond the size of a line is dropped and counted by type.

        Records that cannot be written are lost without a word: their reader counts.
        """
        if self._getpid() != self._pid:
            return
        line = self._line(record)
        if len(line) > TEXT:  # else no text in it is too long
            line = self._line(bounded(record))
        if len(line) > LINE_BYTES:
            self.dropped.add(str(record.get("t")))
            return
        self.written += 1
        with contextlib.suppress(OSError):
            while line:
                line = line[self._write(self._fd, line) :]

    def meddled(self) -> list[str]:
        """Return what happened to the run's descriptor, if it is not as it was."""
        now = self._identify()
        if now == self._identity:
            return []
        what = "closed" if now is None else "redirected"
        return [f"it {what} the descriptor of the records"]

    def _identify(self) -> tuple[int, int] | None:
        """Return the identity of the descriptor's file; None once it is closed."""
        try:
            behind = self._fstat(self._given)
        except OSError:
            return None
        return behind.st_dev, behind.st_ino

    def _line(self, record: Json) -> bytes:
        return self._encode(record).encode() + b"\n"
