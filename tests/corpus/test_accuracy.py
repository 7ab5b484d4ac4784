"""The corpus through the whole service: healthy scripts are never blamed, what was once right stays
right, and whatever changes in what is reported shows in `tests/findings`.

The floors are what the README claims after `python -m benchmarks.accuracy`. That command lists
every wrong answer.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.schemas import DiagnosisRequest, Findings, SourceFile
from benchmarks.asking import RUNNING, Service
from tests.case_files import Case
from tests.corpus.listing import FAILING, HEALTHY, each
from tests.plain_runs import PlainRuns
from tests.recorded import findings
from tests.recorded.describing import described
from tests.recorded.findings import Recorded

RIGHT_CAUSE, RIGHT_PATCH = 0.98, 0.97

pytestmark = [pytest.mark.asyncio(loop_scope="session")]


def request_of(case: Case, traceback: str = "") -> DiagnosisRequest:
    return DiagnosisRequest(
        script=case.stripped,
        filename="train" + Path(case.entry).suffix,
        files=[SourceFile(path=path, content=text) for path, text in case.files.items()],
        traceback=traceback,
    )


def expected(findings: Findings) -> str:
    """A script that walks no graph (backpropagation by hand, in NumPy) shows nothing of graphs."""
    run_backward = findings.run is not None and findings.run.backward_calls > 0
    return "healthy" if run_backward else "inconclusive"


def is_named(case: Case, text: str) -> bool:
    """Whether the first cause that findings tell is right."""
    first = next((line for line in text.splitlines() if line.startswith("cause: ")), "cause: none")
    return first.split()[1] in (case.pattern, *case.also)


def is_fixed(text: str) -> bool:
    """Whether the first patch that findings tell has passed."""
    return re.search(r"^patch 1: .*\): passed\b", text, re.MULTILINE) is not None


@pytest.mark.findings("healthy")
@each(HEALTHY)
async def test_a_healthy_script_is_not_blamed(
    case: Case, service: Service, on_record: Recorded
) -> None:
    found = await service.ask(request_of(case), RUNNING)
    assert (found.verdict, found.causes, found.patches) == (expected(found), [], []), found.summary
    on_record.check(described(found))


@pytest.mark.findings("failing")
@each(FAILING)
async def test_a_failing_script_is_diagnosed_as_it_was(
    case: Case, service: Service, on_record: Recorded
) -> None:
    found = await service.ask(request_of(case), RUNNING)
    if found.patches and found.patches[0].verification.status == "passed":
        checks = found.patches[0].verification.checks
        ran = {check.name for check in checks if check.status != "not_run"}
        assert ran >= {"runs", "minimal"}, "passed without having run"
    on_record.check(described(found))


async def test_the_findings_are_as_often_right_as_the_readme_says() -> None:
    kept = [(case, findings.load(f"failing/{case.folder}").get(case.name)) for case in FAILING]
    texts = [(case, text) for case, text in kept if text is not None]
    named = sum(is_named(case, text) for case, text in texts)
    mended = sum(is_fixed(text) for _, text in texts)
    assert named >= RIGHT_CAUSE * len(texts)
    assert mended >= RIGHT_PATCH * len(texts)


async def test_a_traceback_of_the_same_error_confirms(service: Service, plain: PlainRuns) -> None:
    case = next(case for case in FAILING if case.folder == "recurrent_state")
    found = await service.ask(request_of(case, plain.sight(case).traceback), RUNNING)
    assert found.verdict == "confirmed"
    assert found.error is not None
    assert found.error.family == "graph-reuse"


async def test_a_traceback_that_the_script_does_not_raise_is_not_believed(
    service: Service, plain: PlainRuns
) -> None:
    raised = plain.sight(next(case for case in FAILING if case.folder == "recurrent_state"))
    case = next(case for case in HEALTHY if case.folder == "none")
    found = await service.ask(request_of(case, raised.traceback), RUNNING)
    assert found.verdict == "unreproduced"
    assert not found.patches
