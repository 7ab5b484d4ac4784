"""Describe one side of a comparison and how to run it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.protocol import Job

Progress = Callable[[str, int, int, str], Awaitable[None]]
"""Called with the stage, how many runs are done, of how many, and a message."""


@dataclass(frozen=True)
class Version:
    """A project as it is run: `files` by relative path, `data` (binary files) as base64, the entry,
    its arguments, and the module's name if it runs as `python -m module`.
    """

    files: Mapping[str, str]
    entry: str = "train.py"
    argv: Sequence[str] = ()
    module: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)

    def job(self, time_limit_s: float) -> Job:
        """Return a traced job that records gradients."""
        return Job(
            files=dict(self.files),
            data=dict(self.data),
            entry=self.entry,
            argv=list(self.argv),
            module=self.module,
            gradients=True,
            time_limit_s=time_limit_s,
        )


async def silent(stage: str, done: int, total: int, message: str) -> None:
    """Ignore the report: a `Progress` without a listener."""
