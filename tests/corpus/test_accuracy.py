"""The corpus through the whole service, real sandbox and all: healthy scripts are never blamed,
and what was once right stays right.

The floors are what the README claims after `python -m benchmarks.accuracy`, less one case in a
hundred for a crowded machine: one is 0.7% of the sample. That command lists every wrong answer.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from app.schemas import DiagnosisRequest, Findings, SourceFile
from benchmarks.asking import RUNNING, ask
from tests.case_files import Case, load_cases, put_down

HEALTHY = [case for case in load_cases() if case.healthy]
FAILING = [case for case in load_cases() if not case.healthy]
SAMPLE = FAILING[::3]
RIGHT_CAUSE, RIGHT_PATCH = 0.98, 0.97
ROOT = Path(__file__).parent.parent.parent


def traceback_of(case: Case) -> str:
    """What plain Python prints when it runs the case."""
    with TemporaryDirectory() as folder:
        put_down(case.texts, Path(folder))
        command = [sys.executable, str(Path(folder, case.entry))]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def request_of(case: Case, traceback: str = "") -> DiagnosisRequest:
    return DiagnosisRequest(
        script=case.stripped,
        filename="train" + Path(case.entry).suffix,
        files=[SourceFile(path=path, content=text) for path, text in case.files.items()],
        traceback=traceback,
    )


async def diagnosed(requests: list[DiagnosisRequest]) -> list[Findings]:
    return (await ask(requests, [RUNNING]))[RUNNING]


def expected(findings: Findings) -> str:
    """A script that walks no graph (backpropagation by hand, in NumPy) shows nothing of graphs."""
    walked = findings.run is not None and findings.run.backward_calls > 0
    return "healthy" if walked else "inconclusive"


@pytest.mark.timeout(900)
async def test_no_healthy_script_is_blamed() -> None:
    found = await diagnosed([request_of(case) for case in HEALTHY])
    blamed = {
        case.name: findings.summary
        for case, findings in zip(HEALTHY, found, strict=True)
        if findings.verdict != expected(findings) or findings.causes or findings.patches
    }
    assert not blamed


@pytest.mark.timeout(900)
async def test_a_third_of_the_failing_scripts() -> None:
    found = await diagnosed([request_of(case) for case in SAMPLE])
    named = mended = 0
    claims: list[str] = []
    for case, findings in zip(SAMPLE, found, strict=True):
        first = findings.causes[0].pattern if findings.causes else "none"
        named += first in (case.pattern, *case.also)
        if findings.patches:
            best = findings.patches[0].verification
            mended += best.status == "passed"
            ran = {check.name for check in best.checks if check.status != "not_run"}
            if best.status == "passed" and not {"runs", "minimal"} <= ran:
                claims.append(case.name)
    assert not claims, "passed without having run"
    assert named >= RIGHT_CAUSE * len(SAMPLE)
    assert mended >= RIGHT_PATCH * len(SAMPLE)


async def test_a_traceback_of_the_same_error_confirms() -> None:
    case = next(case for case in FAILING if case.folder == "recurrent_state")
    (findings,) = await diagnosed([request_of(case, traceback_of(case))])
    assert findings.verdict == "confirmed"
    assert findings.error is not None
    assert findings.error.family == "graph-reuse"


async def test_a_traceback_that_the_script_does_not_raise_is_not_believed() -> None:
    raised = traceback_of(next(case for case in FAILING if case.folder == "recurrent_state"))
    case = next(case for case in HEALTHY if case.folder == "none")
    (findings,) = await diagnosed([request_of(case, raised)])
    assert findings.verdict == "unreproduced"
    assert not findings.patches
