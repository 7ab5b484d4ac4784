"""Define what a watcher reports about a run: the part that does not come from the script."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, field
from typing import Literal

Ending = Literal["exited", "timed_out", "limit_hit", "cancelled", "unavailable"]

_LENGTHS = struct.Struct(">IIII")


@dataclass
class ProcessOutcome:
    """How a run ended, and the bytes that it left.

    `exit_code` is negative for a signal. `walls` are those that were up when the script began.
    `stdout` and `stderr` are tails; `records` is complete up to its cap. Seconds and MiB; of the
    duration, the script waited for a free processor for `waited_s`. `near_task_limit`: half as many
    tasks as the run may have were seen at once.
    """

    ending: Ending
    exit_code: int | None = None
    limit: str | None = None
    reason: str | None = None
    wall: str | None = None
    duration_s: float = 0.0
    waited_s: float = 0.0
    peak_memory_mib: float = 0.0
    near_task_limit: bool = False
    walls: list[str] = field(default_factory=list)
    raising_s: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""
    records: bytes = b""

    def pack(self) -> bytes:
        """Return four lengths, the facts as JSON, then the three streams."""
        streams = (self.stdout, self.stderr, self.records)
        facts = {name: value for name, value in asdict(self).items() if name not in _STREAMS}
        head = json.dumps(facts).encode()
        return b"".join([_LENGTHS.pack(len(head), *map(len, streams)), head, *streams])

    @classmethod
    def unpack(cls, payload: bytes) -> ProcessOutcome:
        """Invert `pack`. Raises `ValueError` for anything else."""
        if len(payload) < _LENGTHS.size:
            raise ValueError("too short for an outcome")
        lengths = _LENGTHS.unpack_from(payload)
        if len(payload) != _LENGTHS.size + sum(lengths):
            raise ValueError("an outcome whose lengths do not add up")
        parts, at = [], _LENGTHS.size
        for length in lengths:
            parts.append(payload[at : at + length])
            at += length
        facts = json.loads(parts[0])
        return cls(**facts, stdout=parts[1], stderr=parts[2], records=parts[3])


_STREAMS = ("stdout", "stderr", "records")
