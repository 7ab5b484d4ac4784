"""A diagnosis that runs nothing is one call of the reader's, and finds what its steps find."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from app.diagnose import diagnose, read_alone
from app.request.reader import InlineReader, ReadingLimit
from app.schemas import Cause, DiagnosisRequest, Findings, Patch, Timings
from tests.case_files import load_case

SCRIPT = load_case("recurrent_state/char_lm").stripped


class Calls(InlineReader):
    """Calls on the spot, and keeps what was called."""

    def __init__(self, alone: bool = True) -> None:
        self.called: list[Callable[..., Any]] = []
        self._alone = alone

    async def call(self, function: Callable[..., Any], *args: object, timeout: float) -> Any:  # noqa: ASYNC109
        self.called.append(function)
        if function is read_alone and not self._alone:
            raise ReadingLimit("reading took longer than 10 s")
        return read_aside(*args) if function is read_alone else function(*args)


class Heard:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.reported: list[str | Cause | Patch] = []

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        self.reported.append(stage)

    async def cause(self, cause: Cause) -> None:
        self.reported.append(cause)

    async def patch(self, patch: Patch) -> None:
        self.reported.append(patch)


def read_aside(*args: object) -> str:
    """What a worker answers: it has no event loop of its own yet, as a new thread has none."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(read_alone, *args).result()  # type: ignore[arg-type]


async def found_by(reader: Calls) -> tuple[Findings, Heard]:
    heard = Heard()
    request = DiagnosisRequest(script=SCRIPT, run="never")
    found = await diagnose(request, sandbox=None, reader=reader, progress=heard)
    return found.model_copy(update={"timings_ms": Timings()}), heard


async def test_one_call_finds_what_the_steps_find() -> None:
    together, stepwise = Calls(), Calls(alone=False)
    found, heard = await found_by(together)
    assert together.called == [read_alone]
    assert found.causes
    assert found.patches
    assert heard.reported == ["reading", *found.causes, *found.patches]
    again, _ = await found_by(stepwise)
    assert len(stepwise.called) > 2
    assert again == found
