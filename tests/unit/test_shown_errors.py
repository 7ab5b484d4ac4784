"""Which errors of a run are taken for the one that was sent."""

from __future__ import annotations

import pytest

from analyzers.evidence import Reading
from analyzers.source.project import Project
from analyzers.tracebacks import parse
from app.request.case import Case
from app.run.reproduce import shows_given
from sandbox.protocol import Raised, RaisedFrame, RunResult

FLAT = "element 0 of tensors does not require grad and does not have a grad_fn"
NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
SHAPED = "grad can be implicitly created only for scalar outputs"
UNUSED = "One of the differentiated Tensors appears to not have been used in the graph."
SECOND = "Trying to backward through the graph a second time"


def given(message: str) -> Case:
    error = parse(f'Traceback:\n  File "train.py", line 1\n    step()\nRuntimeError: {message}\n')
    return Case(Project({"train.py": "step()\n"}, "train.py"), error, Reading(), 20.0)


@pytest.mark.parametrize(
    ("sent", "raised", "shown"),
    [
        (FLAT, FLAT, True),
        (UNUSED, UNUSED.replace("One", "Another"), True),
        (SECOND, SECOND + " (or directly access saved tensors)", True),
        # one family, and no code shows the one where it has the other
        (FLAT, NUMPY, False),
        (SHAPED, FLAT, False),
        (UNUSED, SHAPED, False),
        (SECOND, FLAT, False),
    ],
)
def test_an_error_of_another_kind_is_not_the_one_that_was_sent(
    sent: str, raised: str, *, shown: bool
) -> None:
    frames = [RaisedFrame(file="train.py", line=1, code="step()")]
    error = Raised(type="RuntimeError", message=raised, frames=frames)
    assert shows_given(RunResult(status="raised", raised=error), given(sent)) is shown
