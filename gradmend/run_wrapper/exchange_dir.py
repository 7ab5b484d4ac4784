"""The folder through which a run of the user's command and Gradmend communicate.

`job.json` holds the instructions for each Python process of the command; each leaves `PID.jsonl`
(its records), `PID.about` (its files, and how it ended) and perhaps `trouble-PID`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradmend import parts

SITE = parts.FOLDER / "sandbox/inside/attached/site"
MOST_RECORDS, ROOM = 64 << 20, 1 << 16
END, RAISED = b'{"t":"end"', b'{"t":"raised"'


@dataclass(frozen=True)
class Process:
    """One process of the command that imported torch, in its own words."""

    pid: int
    rank: int = 0
    begun: float = 0.0
    seconds: float = 0.0
    argv: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # that it was started with, interpreter and all
    parent: int = 0
    settings: dict[str, str | None] = field(default_factory=dict)  # of torch's, that it changed
    main: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    made: tuple[str, ...] = ()  # folders
    torch: tuple[str, ...] = ()  # modules of torch's that it loaded after torch itself
    error: str | None = None
    given_up: bool = False  # whether it caught the error, whatever it is, and ended
    cuda: bool = False
    peak_kib: int = 0  # memory
    engine: bool = False  # whether it has an engine of its own, and ran without torch
    records: bytes = b""

    @property
    def failed(self) -> bool:
        """Return True if it left evidence of an error that autograd raised."""
        kinds = (b'{"t":"reuse"', b'{"t":"inplace"', b'{"t":"missing"')
        return any(kind in self.records for kind in kinds)

    @property
    def is_compiled(self) -> bool:
        """Return True if the program compiles what it runs; optimizers load parts of the compiler,
        too."""
        return "torch._inductor.compile_fx" in self.torch

    @property
    def raised(self) -> str:
        """Return the message of the exception that ended it; '' if none did."""
        lines = [line for line in self.records.splitlines() if line.startswith(RAISED)]
        try:
            return str(json.loads(lines[-1])["message"]) if lines else ""
        except (ValueError, KeyError):
            return ""

    @property
    def ended(self) -> bool:
        """Return True if its records were written to its end."""
        return END in self.records

    @property
    def silent(self) -> bool:
        """Return True if it left evidence of a fault that raises nothing."""
        return b'{"t":"silent"' in self.records

    @property
    def constant_terms(self) -> bool:
        """Return True if losses had terms without a graph: only a slower run sees whether one was
        lost."""
        return b'"constant_terms":true' in self.records


class ExchangeDir:
    """One run's folder, in the machine's temporary one or `within` another."""

    def __init__(self, job: dict[str, Any], within: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="gradmend-", dir=within))
        try:
            (self.path / "job.json").write_text(json.dumps(job))
        except OSError:
            self.close()
            raise

    def environment(self, base: dict[str, str] | None = None) -> dict[str, str]:
        """Return the command's environment: the user's own, and the path of the tracer."""
        given = dict(os.environ) if base is None else dict(base)
        path = [str(SITE), *filter(None, [given.get("PYTHONPATH")])]
        return {**given, "PYTHONPATH": os.pathsep.join(path), "GRADMEND_BESIDE": str(self.path)}

    def processes(self) -> list[Process]:
        """Return the processes that left records, rank by rank, the earliest first."""
        found = []
        for about in self.path.glob("*.about"):
            try:
                fields = json.loads(about.read_text())
                with about.with_suffix(".jsonl").open("rb") as file:
                    records = file.read(MOST_RECORDS)
            except (OSError, ValueError):
                continue
            fields |= {key: tuple(fields[key]) for key in ("argv", "words", "made", "torch")}
            found.append(Process(**fields, records=records))
        return sorted(found, key=lambda one: (one.rank, one.begun))

    def troubles(self) -> list[str]:
        """Return what kept processes from being traced."""
        texts = {path.read_text() for path in self.path.glob("trouble-*")}
        return sorted(text or "why cannot be written (is a disk full?)" for text in texts)

    def try_room(self) -> None:
        """Raise `OSError` if the disk is full, so that records may have been lost."""
        (self.path / "room").write_bytes(bytes(ROOM))

    def close(self) -> None:
        """Take the folder away."""
        shutil.rmtree(self.path, ignore_errors=True)
