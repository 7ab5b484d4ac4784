"""Scripts that were missed at first contact and are right now: cause, line and first patch."""

from __future__ import annotations

import pytest

from benchmarks.asking import RUNNING, ask
from benchmarks.scoring import score
from benchmarks.trials import prepare
from tests.case_files import ROOT, Case, load_cases

MENDED = load_cases(ROOT.with_name("strangers") / "scripts")


@pytest.mark.parametrize("case", MENDED, ids=lambda case: case.name)
async def test_a_stranger_that_was_missed_is_right_now(case: Case) -> None:
    trial = prepare(case, baselines=False)
    found = (await ask([trial.request], [RUNNING]))[RUNNING][0]
    judged = score(trial, found)
    assert judged.pattern, judged.wrong
    assert judged.place, judged.wrong
    assert judged.patch, judged.wrong
