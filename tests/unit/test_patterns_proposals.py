"""Which patches are proposed first where the obvious one would train something else."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.request.explaining import explanation_of
from analyzers.source.project import Project
from tests.fixing import recognise
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

ONE_TRUNK = """\
    import torch
    trunk = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))
    heads = {name: torch.nn.Linear(3, 1) for name in ("fat", "lean")}
    tools = {name: torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
             for name, head in heads.items()}
    seen = torch.randn(4, 2)
    inner = trunk(seen)
    aims = {name: head(inner).pow(2).mean() for name, head in heads.items()}
    for name, aim in aims.items():
        tools[name].zero_grad()
        aim.backward(retain_graph=True)
        tools[name].step()
    """

BANDS = """\
    import torch
    layer = torch.nn.Conv1d(2, 3, 3)
    heat = layer(torch.randn(5, 2, 9))
    for band, gain in zip(heat.unbind(dim=1), [2.0, 3.0, 4.0]):
        band.mul_(gain)
    heat.mean().backward()
    """

HALVES = """\
    import torch
    layer = torch.nn.Linear(4, 6)
    levels = layer(torch.randn(5, 4))
    for half in levels.chunk(2, -1):
        half.sub_(1.0)
    levels.pow(2).mean().backward()
    """

LOSSES_OF_A_GENERATOR = """\
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    tool = torch.optim.SGD(net.parameters(), lr=0.1)

    def misses(x, wanted):
        guesses = net(x)
        for guess, aim in zip(guesses, wanted):
            yield (guess - aim).square().sum()

    for x in torch.randn(2, 5, 3):
        tool.zero_grad()
        for number, miss in enumerate(misses(x, torch.zeros(5))):
            miss.backward()
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
DERIVED_IN_STEPS = DERIVED_ATTRIBUTE.replace(
    "self.scale = torch.exp(self.raw)",
    "parts = torch.exp(self.raw)\n            self.scale = parts / parts.sum()",
)


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
        (ONE_TRUNK, "steps-last", "tools[name].zero_grad()"),
        (BANDS, "stack-rows", "heat = torch.stack(new_bands, dim=1)"),
        (HALVES, "stack-rows", "levels = torch.cat(new_halfs, dim=-1)"),
        (DERIVED_ATTRIBUTE, "property", "return torch.exp(self.raw)"),
        (DERIVED_IN_STEPS, "property", "parts = torch.exp(self.raw)"),
        (DERIVED_IN_STEPS, "property", "return parts / parts.sum()"),
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
    reported = explanation_of(found.match, found.project)
    assert "`field` takes `moment`" in reported


def test_what_a_partial_binds_moves_into_the_loop_with_it() -> None:
    project = Project({"train.py": textwrap.dedent(BOUND_ONCE)})
    found = classify(project, read(project).evidence)[0].candidates
    body = found[0].files["train.py"].split("for x in", 1)[1]
    assert "    objective = partial(misfit, torch.softmax(raw, 0))\n    opt.zero_grad()" in body


def test_gradients_in_a_shared_trunk_are_cleared_before_all_walks(traced: Tracing) -> None:
    found = recognise(traced, ONE_TRUNK)
    assert found is not None
    last = [p for p in found.proposals if p.strategy == "steps-last"][-1]
    loops = [s for s in found.files(last)["train.py"].splitlines() if s.startswith("for ")]
    assert loops == ["for name in aims:", "for name, aim in aims.items():", "for name in aims:"]


@pytest.mark.parametrize("guard", ["if day % 7:\n        continue\n    ", ""])
def test_a_total_that_not_each_pass_walks_restarts_behind_its_walk(
    traced: Tracing, guard: str
) -> None:
    script = f"""\
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
tool = torch.optim.SGD(net.parameters(), lr=0.1)
bill, paid = 0, []
for day in range(1, 22):
    bill = bill + net(torch.randn(4, 3)).pow(2).mean()
    {guard}bill.backward()
    tool.zero_grad()
"""
    found = recognise(traced, script)
    assert found is not None
    assert found.match.pattern == "accumulated-loss"
    reset = next(p for p in found.proposals if p.strategy == "reset-total")
    assert "    bill = 0\n" in found.files(reset)["train.py"]
    assert (found.proposals[0] is reset) == bool(guard)


def test_a_generator_hands_on_parts_of_what_it_made(traced: Tracing) -> None:
    found = recognise(traced, LOSSES_OF_A_GENERATOR)
    assert found is not None
    assert found.match.pattern == "per-sample-loop"
    assert found.match.carrier is not None
    assert found.match.carrier.name == "guesses"
    assert "    total_loss.backward()\n" in found.files(found.proposals[0])["train.py"]


def test_a_new_tensor_that_nothing_reads_takes_no_update_of_a_leaf(traced: Tracing) -> None:
    script = """\
        import torch
        net = torch.nn.Linear(2, 1)
        def bound():
            p = net.weight
            p.clamp_(-1.0, 1.0)
            LAST
        bound()
        """
    lost = recognise(traced, script.replace("LAST", "return None"))
    kept = recognise(traced, script.replace("LAST", "return p.sum()"))
    assert lost is not None
    assert kept is not None
    assert "out-of-place" not in {p.strategy for p in lost.proposals}
    assert "out-of-place" in {p.strategy for p in kept.proposals}


def test_weights_moved_aside_between_two_calls_take_no_sum_of_losses() -> None:
    script = """\
    import torch
    net = torch.nn.Linear(2, 1)
    opt = SAM(net.parameters(), torch.optim.SGD, lr=0.1)
    for x in torch.randn(8, 16, 2):
        out = net(x).tanh()
        out.mean().backward()
        {step}
        out.mean().backward()
        opt.second_step(zero_grad=True)
    """

    def proposed(step: str) -> set[str]:
        project = Project({"a.py": textwrap.dedent(script.format(step=step))}, "a.py")
        causes = classify(project, read(project).evidence)
        return {each.strategy for cause in causes for each in cause.candidates}

    assert "sum-losses" in proposed("pass")
    assert "sum-losses" not in proposed("opt.first_step(zero_grad=True)")
    assert proposed("opt.first_step(zero_grad=True)")
