"""The first fix that passes is reported before the others are through."""

from __future__ import annotations

import pytest

from app.diagnose import diagnose
from app.pages.examples import examples
from app.request.reader import Reader
from app.schemas import Cause, DiagnosisRequest, Patch
from sandbox.client import EmbeddedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")
LSTM = next(example for example in examples() if example.name == "lstm")


class Heard:
    """Whatever is reported, in order."""

    def __init__(self) -> None:
        self.reported: list[str | Patch] = []

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        self.reported.append(message)

    async def cause(self, cause: Cause) -> None: ...

    async def patch(self, patch: Patch) -> None:
        self.reported.append(patch)


@pytest.mark.rotating(4)
async def test_a_fix_is_reported_as_soon_as_its_checks_have_ended() -> None:
    heard = Heard()
    reader = Reader(workers=1)
    async with EmbeddedSandbox(options=["--concurrency", "2"]) as box:
        request = DiagnosisRequest(script=LSTM.script)
        found = await diagnose(request, sandbox=box, reader=reader, progress=heard)
    await reader.close()
    began = next(n for n, each in enumerate(heard.reported) if str(each).startswith("Trying"))
    ended = next(n for n, each in enumerate(heard.reported) if str(each).startswith("Tried"))
    early = [each for each in heard.reported[began:ended] if isinstance(each, Patch)]
    assert early
    assert all(patch.verification.status == "passed" for patch in early)
    assert early[0].diff in {patch.diff for patch in found.patches}
    last = [each for each in heard.reported[ended:] if isinstance(each, Patch)]
    assert last == found.patches
