"""What `python -m benchmarks.why` shows of the way to an answer."""

from __future__ import annotations

from app.schemas import DiagnosisRequest
from benchmarks.why import why

SCRIPT = """
import torch

rnn = torch.nn.RNN(4, 4)
state = torch.zeros(1, 2, 4)
for step in range(3):
    out, state = rnn(torch.randn(5, 2, 4), state)
    out.sum().backward()
"""


async def test_each_step_to_an_answer_is_shown() -> None:
    lines = (await why(DiagnosisRequest(script=SCRIPT), None)).splitlines()
    titles = [line for line in lines if line[:1] != " "]
    assert titles == [
        "Static analysis predicts",
        "Patterns that match",
        "Causes, most certain first",
    ]
    predicted, matches, cause = (lines[lines.index(title) + 1] for title in titles)
    assert predicted == "  GraphReuse (predicted) at train.py:8, carried by state"
    assert matches.startswith(f"{predicted}: recurrent-state (likely)")
    assert cause.startswith("  recurrent-state at train.py:")
