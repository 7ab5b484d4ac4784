"""Which patches are proposed first where the obvious one would train something else."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project
from tests.mending import recognise
from tests.tracing import Tracing

IGNORED_ARGUMENT = """\
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    def field(place, moment):
        return net(torch.cat([place, place], 1))

    a = torch.rand(5, 1, requires_grad=True)
    b = torch.rand(5, 1, requires_grad=True)
    value = field(a, b)
    slope, speed = torch.autograd.grad(value.sum(), (a, b), create_graph=True)
    (slope + speed).pow(2).mean().backward()
    """

BOUND_ONCE = """\
    from functools import partial
    import torch
    raw = torch.zeros(5, requires_grad=True)
    opt = torch.optim.SGD([raw], lr=0.1)

    def misfit(weights, x):
        return (x * weights).sum(-1).pow(2).mean()

    objective = partial(misfit, torch.softmax(raw, 0))
    for x in torch.randn(8, 16, 5):
        opt.zero_grad()
        objective(x).backward()
        opt.step()
    """

USED_INSTEAD = """\
    import torch
    judge = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    one, two = torch.randn(5, 2), torch.randn(5, 2)
    between = (0.3 * one + 0.7 * two).requires_grad_()
    marks = judge(two)
    slope, = torch.autograd.grad(marks.sum(), between, create_graph=True)
    slope.norm().backward()
    """

OWN_OPTIMIZERS = """\
    import torch
    players = [torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
               for _ in range(2)]
    tools = [torch.optim.SGD(player.parameters(), lr=0.1) for player in players]
    seen = torch.randn(4, 2)
    aims = [players[0](seen + players[1](seen)).mean(), players[1](seen - players[0](seen)).mean()]
    for tool, aim in zip(tools, aims):
        tool.zero_grad()
        aim.backward()
        tool.step()
    """

CLOSURE_USES_AN_OBJECT = """\
    import torch

    class Penalty:
        def __init__(self, weight):
            self.value = weight.square().sum()

    w = torch.ones(3, requires_grad=True)
    solver = torch.optim.LBFGS([w], max_iter=3)
    for _ in range(2):
        penalty = Penalty(w)

        def closure():
            solver.zero_grad()
            loss = w.exp().sum() + penalty.value
            loss.backward()
            return loss

        solver.step(closure)
    """

DERIVED_ATTRIBUTE = """\
    import copy
    import torch

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.raw = torch.nn.Parameter(torch.ones(3))
            self.refresh()

        def refresh(self):
            self.scale = torch.exp(self.raw)

        def forward(self, x):
            self.refresh()
            return x * self.scale

    layer = Scaled()
    spare = copy.deepcopy(layer)
    """


@pytest.mark.parametrize(
    ("script", "strategy", "line"),
    [
        (IGNORED_ARGUMENT, "read-argument", "return net(torch.cat([place, moment], 1))"),
        (USED_INSTEAD, "use-wanted", "marks = judge(between)"),
        (
            OWN_OPTIMIZERS,
            "steps-last",
            'aim.backward(inputs=tool.param_groups[0]["params"])',
        ),
        (DERIVED_ATTRIBUTE, "property", "return torch.exp(self.raw)"),
        (CLOSURE_USES_AN_OBJECT, "forward-into-closure", "penalty = Penalty(w)"),
    ],
)
def test_the_meant_tensor_is_used(traced: Tracing, script: str, strategy: str, line: str) -> None:
    found = recognise(traced, script)
    assert found is not None
    proposal = next(p for p in found.proposals if p.strategy == strategy)
    assert line in map(str.strip, found.files(proposal)["train.py"].splitlines())


@pytest.mark.parametrize("script", [IGNORED_ARGUMENT, USED_INSTEAD])
def test_zeros_are_not_asked_for_where_an_input_is_ignored(traced: Tracing, script: str) -> None:
    found = recognise(traced, script)
    assert found is not None
    assert "materialize-grads" not in {proposal.strategy for proposal in found.proposals}


def test_the_unread_argument_is_named(traced: Tracing) -> None:
    found = recognise(traced, IGNORED_ARGUMENT)
    assert found is not None
    told = found.pattern.explain(found.match, found.project)
    assert "`field` takes `moment`" in told


def test_what_a_partial_binds_moves_into_the_loop_with_it() -> None:
    project = Project({"train.py": textwrap.dedent(BOUND_ONCE)})
    found = classify(project, read(project).evidence)[0].candidates
    body = found[0].files["train.py"].split("for x in", 1)[1]
    assert "    objective = partial(misfit, torch.softmax(raw, 0))\n    opt.zero_grad()" in body
