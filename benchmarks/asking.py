"""Putting trials to the service's own entry, as its server would."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from app.diagnose import diagnose
from app.reader import Reader
from app.schemas import Cause, DiagnosisRequest, Findings, Patch
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Sandbox

READING, RUNNING = "reading", "running"


class Unheard:
    """Nobody listens to the progress of a benchmark."""

    async def stage(self, stage: str, done: int, total: int, message: str) -> None: ...

    async def cause(self, cause: Cause) -> None: ...

    async def patch(self, patch: Patch) -> None: ...


async def ask(
    requests: Sequence[DiagnosisRequest], modes: Sequence[str]
) -> dict[str, list[Findings]]:
    """Findings by mode, in the order of `requests`; `reading` never runs anything."""
    reader = Reader()
    sandbox = EmbeddedSandbox() if RUNNING in modes else None
    answers: dict[str, list[Findings]] = {mode: [] for mode in modes}
    try:
        for number, request in enumerate(requests, 1):
            print(f"\r{number} of {len(requests)} ", end="", file=sys.stderr, flush=True)
            for mode in modes:
                used = sandbox if mode == RUNNING else None
                answers[mode].append(await _diagnose(request, used, reader))
    finally:
        await reader.close()
        if sandbox is not None:
            await sandbox.close()
    print(file=sys.stderr)
    return answers


async def _diagnose(request: DiagnosisRequest, sandbox: Sandbox | None, reader: Reader) -> Findings:
    if sandbox is None:
        request = request.model_copy(update={"run": "never"})
    try:
        return await diagnose(request, sandbox=sandbox, reader=reader, progress=Unheard())
    except Exception as fault:  # the service promises not to: a wrong answer like any other
        return Findings(summary=f"the service raised {type(fault).__name__}: {fault}")
