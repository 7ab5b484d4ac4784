"""Putting trials to the service's own entry, as its server would."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from app.diagnose import NoProgress, diagnose
from app.request.reader import Reader
from app.schemas import DiagnosisRequest, Findings
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Sandbox

READING, RUNNING = "reading", "running"


class Service:
    """The service's own entry, with a reader and a sandbox of its own unless they are given."""

    def __init__(self, sandbox: Sandbox | None = None, reader: Reader | None = None) -> None:
        self.reader = reader or Reader()
        self.sandbox = sandbox or EmbeddedSandbox()  # starts nothing before the first run

    async def ask(self, request: DiagnosisRequest, mode: str) -> Findings:
        """The findings; `reading` never runs anything."""
        if mode == READING:
            request = request.model_copy(update={"run": "never"})
        sandbox = self.sandbox if mode == RUNNING else None
        try:
            return await diagnose(
                request, sandbox=sandbox, reader=self.reader, progress=NoProgress()
            )
        except Exception as fault:  # the service promises not to: a wrong answer like any other
            return Findings(summary=f"the service raised {type(fault).__name__}: {fault}")

    async def close(self) -> None:
        """End the reader's workers and the launcher."""
        await self.reader.close()
        await self.sandbox.close()


async def ask(
    requests: Sequence[DiagnosisRequest], modes: Sequence[str]
) -> dict[str, list[Findings]]:
    """Findings by mode, in the order of `requests`."""
    service = Service()
    answers: dict[str, list[Findings]] = {mode: [] for mode in modes}
    try:
        for number, request in enumerate(requests, 1):
            print(f"\r{number} of {len(requests)} ", end="", file=sys.stderr, flush=True)
            for mode in modes:
                answers[mode].append(await service.ask(request, mode))
    finally:
        await service.close()
    print(file=sys.stderr)
    return answers
