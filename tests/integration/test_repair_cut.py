"""States in structures of many kinds, handed on with their graph: the first patch is right.

Each script in `carried.md` has an expert's fixes under it; the first patch is run outside the
service and must train exactly as one of its accepted versions does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service
from tests.case_files import cases_of
from tests.plain_runs import Given, PlainRuns

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHEET = Path(__file__).parent / "carried.md"
CASES = {case.name.partition("/")[2]: case for case in cases_of("carried", SHEET.read_text())}


def given(script: str) -> Given:
    return Given({"train.py": script})


async def findings_of(service: Service, script: str) -> Findings:
    request = DiagnosisRequest(script=script, filename="train.py")
    return await service.ask(request, RUNNING)


@pytest.mark.parametrize("script", CASES)
async def test_the_first_patch_trains_as_an_expert_s(
    service: Service, script: str, plain: PlainRuns
) -> None:
    findings = await findings_of(service, CASES[script].stripped)
    assert findings.patches, findings.summary
    first = findings.patches[0]
    assert first.verification.status == "passed"
    accepted = [given(variant.text) for variant in CASES[script].fixed]
    patched = given(first.script)
    assert not plain.outcome(patched, accepted).objections, first.diff
