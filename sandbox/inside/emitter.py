"""Writes records, one JSON object a line, to a descriptor of their own."""

from __future__ import annotations

import json
import os
from typing import Any

from .frames import Json

TEXT, MESSAGE = 500, 4000
LINE_BYTES = 512 * 1024


def bounded(value: Any) -> Any:
    """The same value with every string cut to what a record may hold."""
    if isinstance(value, str):
        return value[:TEXT]
    if isinstance(value, dict):
        told = {key: bounded(item) for key, item in value.items()}
        if value.get("t") == "raised":
            told["message"] = value["message"][:MESSAGE]
        return told
    if isinstance(value, list | tuple):
        return [bounded(item) for item in value]
    return value


class Emitter:
    """Emits from the process that made it alone: forked workers share the descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pid = os.getpid()
        self._write = os.write  # a script may replace it later
        self._getpid = os.getpid
        self._dumps = json.dumps
        self.dropped: set[str] = set()

    def emit(self, record: Json) -> None:
        """Write one record; a record beyond the size of a line is dropped and counted by type."""
        if self._getpid() != self._pid:
            return
        line = self._dumps(bounded(record), separators=(",", ":")).encode() + b"\n"
        if len(line) > LINE_BYTES:
            self.dropped.add(str(record.get("t")))
            return
        while line:
            line = line[self._write(self._fd, line) :]
