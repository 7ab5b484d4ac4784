"""What is said where nothing could be shown: never an error that nobody asked about."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service
from tests.unit.test_paste import sent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def asked(service: Service, script: str, traceback: str = "") -> Findings:
    request = DiagnosisRequest(script=script, traceback=traceback)
    return await service.ask(request, RUNNING)


async def test_a_fragment_gets_its_lines_and_a_next_step(service: Service) -> None:
    found = await asked(service, sent("lora"))
    assert "NameError" not in found.summary
    assert "without a graph" in found.summary
    assert "enable_input_require_grads" in found.summary
    assert found.next[0].kind == "run_local"
    assert found.next[0].value == "gradmend run -- python train.py"


async def test_an_error_that_the_script_does_not_raise_brings_no_old_versions(
    service: Service,
) -> None:
    script = "import torch\n\nw = torch.ones(3, requires_grad=True)\n(w * 2)[0].backward()\n"
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation"
    )
    found = await asked(service, script, message)
    assert found.verdict == "unreproduced"
    assert "torch 1." not in found.summary


async def test_a_patch_that_passed_leaves_nothing_open(service: Service) -> None:
    found = await asked(service, sent("thread_fenced"))
    assert found.verdict == "confirmed"
    assert found.patches[0].verification.status == "passed"
    assert found.next == []
    assert "memory.detach()" in found.patches[0].diff
    assert found.patches[0].script.startswith("# My GRU forgets")
