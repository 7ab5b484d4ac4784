"""What an expression denotes, through names, one-line functions and other names of packages."""

import ast

import pytest

from analyzers.explain.reuse.aliasing import denoted
from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project

FUNCTIONS = """\
def blend(rate, old, new):
    "An average."
    return rate * old + (1 - rate) * new

def twice(x):
    y = x + x
    return y

class Net:
    def next(self, x):
        return self.cell(x, self.h)

"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("h = blend(0.9, h, net(x))", "0.9 * h + (1 - 0.9) * net(x)"),
        ("mixed = blend(0.9, h, x)\nh = mixed", "0.9 * h + (1 - 0.9) * x"),
        ("net.h = net.next(x + 1)", "net.cell(x + 1, net.h)"),
        ("h = twice(x)", "twice(x)"),
        ("h = blend(0.9, h)", "blend(0.9, h)"),
        ("h = blend(0.9, *pair)", "blend(0.9, *pair)"),
    ],
)
def test_what_is_meant(written: str, meant: str) -> None:
    project = Project({"train.py": FUNCTIONS + written + "\n"})
    tree = project.modules["train.py"].tree
    statement = tree.body[-1]
    assert isinstance(statement, ast.Assign)
    assert ast.unparse(denoted(statement.value, tree, project)) == meant


KEPT = """\
import torch as t
import torch.nn.functional as fn
from torch import nn

table = nn.Embedding(7, 4)
opt = t.optim.SGD(table.parameters(), lr=0.1)
rows = fn.normalize(table.weight, dim=1)
for user in range(3):
    loss = fn.cross_entropy(t.randn(2, 4) @ rows.T, t.tensor([1, 2]))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_package_is_one_by_whatever_name() -> None:
    project = Project({"train.py": KEPT})
    module = project.modules["train.py"]
    assert module.in_library("fn.normalize")
    assert not module.in_library("table.weight")
    usual = KEPT.replace("fn.", "F.").replace("as fn", "as F")
    causes = [
        [cause.pattern for cause in classify(p, read(p).evidence)]
        for p in (project, Project({"train.py": usual}))
    ]
    assert causes[0] == causes[1]
    assert causes[0][0] == "derived-outside-loop"
