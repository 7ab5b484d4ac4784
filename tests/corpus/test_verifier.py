"""Repairs of the corpus, right and wrong, through the product's own verifier: no right one fails,
and no wrong one passes before every right one.

`known_misjudged.toml` holds the exceptions, each with its reason.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from benchmarks.asking import Service
from tests.case_files import Case
from tests.corpus.listing import FAILING, each
from tests.corpus.verifying import described, is_verifiable, judged, objections
from tests.recorded.findings import Recorded

MISJUDGED: dict[str, str] = tomllib.loads(
    (Path(__file__).parent / "known_misjudged.toml").read_text()
)
VERIFIABLE = [case for case in FAILING if is_verifiable(case)]

pytestmark = [pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.findings("verifier")
@each(VERIFIABLE)
async def test_the_verifier_separates_right_repairs_from_wrong_ones(
    case: Case, service: Service, on_record: Recorded
) -> None:
    repairs = await judged(case, service.sandbox)
    on_record.check(described(repairs))
    found = objections(repairs)
    if case.name in MISJUDGED:
        assert found, f"judged rightly now: take {case.name} out of known_misjudged.toml"
    else:
        assert not found


async def test_every_known_misjudgement_is_a_case_and_has_a_reason() -> None:
    assert {case.name for case in VERIFIABLE} >= MISJUDGED.keys()
    assert all(len(reason) > 20 for reason in MISJUDGED.values())
