"""States in structures of many kinds, handed on with their graph: the first patch is right.

Each script in `carried/` has an expert's version next to it; the first patch is run outside the
service and must train exactly as one of its accepted versions does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service
from tests.plain_runs import Given, PlainRuns

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOME = Path(__file__).parent / "carried"
SCRIPTS = {path.stem: path for path in sorted(HOME.glob("*.py")) if "." not in path.stem}


def given(path: Path) -> Given:
    return Given({"train.py": path.read_text()})


async def findings_of(service: Service, script: str) -> Findings:
    request = DiagnosisRequest(script=script, filename="train.py")
    return await service.ask(request, RUNNING)


@pytest.mark.parametrize("script", SCRIPTS)
async def test_the_first_patch_trains_as_an_expert_s(
    service: Service, script: str, plain: PlainRuns
) -> None:
    findings = await findings_of(service, SCRIPTS[script].read_text())
    assert findings.patches, findings.summary
    first = findings.patches[0]
    assert first.verification.status == "passed"
    accepted = [given(path) for path in sorted(HOME.glob(f"{script}.fixed*.py"))]
    patched = Given({"train.py": first.script})
    assert not plain.outcome(patched, accepted).objections, first.diff
