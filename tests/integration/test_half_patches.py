"""Half a patch shows the fault behind, reported at the lines that were sent."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.case_files import load_case

pytestmark = pytest.mark.asyncio(loop_scope="session")

HALF = "Free each graph after its backward"


async def test_what_retain_graph_hides_leads_and_is_reported_of_the_lines_as_they_were_sent(
    service: Service,
) -> None:
    case = load_case("recurrent_state/module_state_retained")
    request = DiagnosisRequest(script=case.stripped)
    found = await service.ask(request, RUNNING)
    first = found.causes[0]
    assert first.pattern == "recurrent-state"
    assert first.explanation.startswith(f"{HALF}, and it shows: ")
    assert first.freed_by is not None
    assert "retain_graph=True" in first.freed_by.code
    assert found.patches[0].title.startswith(f"{HALF}; detach")
    assert HALF not in [patch.title for patch in found.patches]
