"""A patch whose gradients differ by rounding leaves the gradients the same."""

from __future__ import annotations

import pytest

from app.repair import effects
from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.case_files import load_case

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMED = load_case("shared_subgraph/early_exit_losses").stripped


async def test_what_differs_in_single_precision_alone_is_the_same(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effects, "TOLERANCE", 1e-6)  # the rounding of this sum is larger
    found = await service.ask(DiagnosisRequest(script=SUMMED), RUNNING)
    patch = found.patches[0]
    assert (patch.level, patch.gradients) == ("safe", "same")
    assert patch.effect is not None
    assert "the original (every graph kept), in double precision." in patch.effect.text
    assert patch.effect.worst < 1e-9
