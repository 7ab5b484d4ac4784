"""What is said of a derivative that is asked for by a derivative."""

from __future__ import annotations

import pytest

from analyzers.evidence import MissingGraph
from analyzers.patterns import unused_parameter
from analyzers.source.project import Project
from provenance import CodeLine, Referrer

SCRIPT = """\
import torch
x = torch.rand(4, requires_grad=True)
y = x.pow(3).sum()
MADE
second = torch.autograd.grad(y, slope)
"""
FLAG = "One of the differentiated Tensors does not require grad"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("slope = torch.autograd.grad(y, x)[0]", True),
        ("(slope,) = torch.autograd.grad(y, x)", True),
        ("slope = torch.ones(4)", False),
    ],
)
def test_a_derivative_by_a_derivative_says_how_to_ask(made: str, *, said: bool) -> None:
    project = Project({"train.py": SCRIPT.replace("MADE", made)}, "train.py")
    at, holders = CodeLine("train.py", 5), (Referrer("slope"),)
    lost = MissingGraph("observed", FLAG, at, holders=holders, lost_by="unused")
    match = unused_parameter.match(lost, project)
    assert match is not None
    assert match.title == unused_parameter.TITLE_OF_FLAG
    text = unused_parameter.explain(match, project)
    assert "it does not require one" in text
    assert ("make `slope` with `create_graph=True`" in text) is said
