"""A known error that a whole script raises is what is answered, where no other was given."""

from __future__ import annotations

import asyncio

import pytest

from app.request.case import Case, read_case
from app.request.reader import InlineReader
from app.run.observation import Observation
from app.run.own_error import with_own_error
from app.schemas import DiagnosisRequest
from sandbox.protocol import Raised, RaisedFrame, RunResult
from sandbox.records import HarnessPlan

SCRIPT = "import torch\nloss = torch.nn.functional.mse_loss(x, y)\ntorch.func.jvp(f, (p,), (v,))\n"
ZERO = "ZeroTensors are immutable. Please use the materialized zero tensor."


def case_after(text: str, message: str, plan: HarnessPlan | None = None) -> Case:
    async def found() -> Case:
        reader = InlineReader()
        case = await read_case(DiagnosisRequest(script=text), reader)
        frames = [RaisedFrame(file="train.py", line=3, function="<module>", code="torch.func.jvp")]
        raised = Raised(type="RuntimeError", message=message, frames=frames)
        run = RunResult(status="raised", exit_code=1, raised=raised)
        return await with_own_error(case, Observation(run, None, (), plan=plan), reader)

    return asyncio.run(found())


def test_the_error_of_the_run_is_answered() -> None:
    case = case_after(SCRIPT, ZERO)
    assert case.is_error_given
    assert "mse_loss" in case.hints[0].text


@pytest.mark.parametrize(
    ("words", "answered"),
    [
        ("How do I get the Hessian of the parameters? It ends in an error.", True),
        ("How do I get the Hessian of the parameters?", False),
    ],
)
def test_a_question_of_something_else_keeps_its_answer(words: str, answered: bool) -> None:
    case = case_after(f"{words}\n\n```python\n{SCRIPT}```\n", ZERO)
    assert case.is_error_given is answered
    assert (case.asked is None) is answered


def test_an_unknown_error_or_that_of_a_harness_is_none() -> None:
    assert not case_after(SCRIPT, "no such file").is_error_given
    assert not case_after(SCRIPT, ZERO, HarnessPlan()).is_error_given
