"""From the request to the passed patch without a recording: two cases of every pattern, other ones
in each tree, a notebook, a project, a part of a program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import chain, groupby

import pytest
import pytest_asyncio

from app.request.reader import Reader
from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from benchmarks.fragments import pasted
from tests.case_files import Case
from tests.corpus.listing import FAILING, HEALTHY, each
from tests.corpus.test_accuracy import is_fixed, is_named, request_of
from tests.project_files import load_projects
from tests.recorded import findings
from tests.recorded.box import RecordedSandbox
from tests.recorded.describing import described
from tests.recorded.digests import in_turn
from tests.recorded.findings import Recorded

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample]


def chosen() -> list[Case]:
    """Two cases of every pattern that are right on record, and a notebook."""
    right = [case for case in FAILING if _is_right(case)]
    by_folder = groupby(right, key=lambda case: case.folder)
    pairs = [sorted(cases, key=_in_turn)[:2] for _, cases in by_folder]
    notebooks = sorted((case for case in right if case.notebook), key=_in_turn)[:1]
    return list({case.name: case for case in chain(*pairs, notebooks)}.values())


def _is_right(case: Case) -> bool:
    text = findings.load(f"failing/{case.folder}").get(case.name, "")
    return is_named(case, text) and is_fixed(text)


def _in_turn(case: Case) -> str:
    return in_turn(case.name)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def real(sandbox: RecordedSandbox) -> AsyncIterator[Service]:
    """The service without recordings."""
    service = Service(sandbox.real, Reader(workers=1))
    yield service
    await service.reader.close()


@pytest.mark.findings("failing")
@each(chosen())
async def test_a_case_gets_the_patch_that_is_on_record(
    case: Case, real: Service, on_record: Recorded
) -> None:
    found = await real.ask(request_of(case), RUNNING)
    assert found.causes[0].pattern in (case.pattern, *case.also)
    assert found.patches[0].verification.status == "passed"
    on_record.check(described(found))


@each(sorted(HEALTHY, key=_in_turn)[:2])
async def test_a_healthy_case_is_not_blamed(case: Case, real: Service) -> None:
    found = await real.ask(request_of(case), RUNNING)
    assert (found.causes, found.patches) == ([], [])


async def test_a_project_without_its_packages_and_data_shows_its_fault(real: Service) -> None:
    case = next(case for case in load_projects() if case.patterns and case.raises)
    found = await real.ask(case.request(), RUNNING)
    assert found.causes[0].pattern in case.patterns


async def test_a_part_of_a_program_is_completed_to_its_fault(real: Service) -> None:
    fragment = next(one for one in pasted() if one.case.folder == "recurrent_state")
    error = fragment.case.raises or ""
    found = await real.ask(DiagnosisRequest(script=fragment.text, traceback=error), RUNNING)
    assert found.causes[0].pattern in (fragment.case.pattern, *fragment.case.also)
    assert found.causes[0].location.line in fragment.lines
