"""Scripts that were missed at first contact and are right now: cause, line and first patch."""

from __future__ import annotations

import pytest

from benchmarks.asking import RUNNING, Service
from benchmarks.scoring import score
from benchmarks.trials import prepare
from tests.case_files import Case
from tests.corpus.listing import each
from tests.plain_runs import PlainRuns
from tests.recorded.describing import described
from tests.recorded.findings import Recorded
from tests.strangers import scripts

pytestmark = [pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.findings("strangers")
@each(scripts())
async def test_a_stranger_that_was_missed_is_right_now(
    case: Case, service: Service, plain: PlainRuns, on_record: Recorded
) -> None:
    trial = prepare(case, baselines=False, runs=plain)
    found = await service.ask(trial.request, RUNNING)
    judged = score(trial, found)
    assert judged.pattern, judged.wrong
    assert judged.place, judged.wrong
    assert judged.patch, judged.wrong
    on_record.check(described(found))
