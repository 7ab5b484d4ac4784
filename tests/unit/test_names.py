"""What names denote, and what `step` and `backward` are called on."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analyzers.source.backward import backward_root
from analyzers.source.calls import calls_of, steps
from analyzers.source.name_resolution import Names
from analyzers.source.project import Module, spelled

OWN = """
import torch
from torch import optim
from torch.optim import lr_scheduler as sched
import copy

class Env:
    def __init__(self):
        self.t = 0
    def step(self, action):
        self.t += 1
        return action

class Descent:
    def __init__(self, parameters):
        self.parameters = list(parameters)
    def step(self):
        for p in self.parameters:
            p.data -= 0.1 * p.grad

class Adamish(torch.optim.Adam):
    pass

class Trainer:
    def __init__(self, net):
        self.opt = optim.SGD(net.parameters(), lr=0.1)
    def step(self, x):
        self.opt.zero_grad()
        net(x).sum().backward()
        self.opt.step()

def build(net):
    return optim.Adam(net.parameters()), sched.StepLR(None, 1)

net = torch.nn.Linear(1, 1)
"""


def receivers_that_step(tail: str) -> list[str]:
    module = Module("train.py", OWN + textwrap.dedent(tail))
    lines = OWN.count("\n")
    calls = [call for call in steps(module.tree) if call.lineno > lines]
    assert all(isinstance(call.func, ast.Attribute) for call in calls)
    return [spelled(call.func).rpartition(".")[0] for call in calls]


@pytest.mark.parametrize(
    ("made", "call", "counts"),
    [
        ("a = optim.SGD(net.parameters(), lr=1)", "a.step()", True),
        ("a = sched.StepLR(b, 3)", "a.step()", False),
        ("a = Env()", "a.step(1)", False),
        ("a = Env()", "s, r = a.step(1)", False),
        ("a = Descent(net.parameters())", "a.step()", True),
        ("a = Adamish(net.parameters())", "a.step()", True),
        ("a = Trainer(net)", "a.step(1)", False),
        ("a, other = build(net)", "a.step()", True),
        ("other, a = build(net)", "a.step()", False),
        ("a = copy.deepcopy(optim.SGD(net.parameters()))", "a.step()", True),
        ("a = torch.amp.GradScaler()", "a.step(optimizer)", True),
        ("a = Holder()", "a.step()", True),  # nothing is known of it
        ("a = Holder()", "first, second = a.step(1)", False),
        ("a = optim.LBFGS(net.parameters())", "print(a.step(closure).item())", True),
        ("a = {'g': sched.StepLR(b, 3)}", "a['g'].step()", False),
        ("a = [optim.SGD(net.parameters())]", "a[0].step()", True),
    ],
)
def test_a_step_is_an_optimizers_by_what_made_its_receiver(
    made: str, call: str, counts: bool
) -> None:
    assert bool(receivers_that_step(f"{made}\n{call}\n")) is counts


def test_parameters_are_what_calls_give_for_them() -> None:
    script = """
    def run(first, second, *, third):
        first.step()
        second.step()
        third.step()
    run(optim.SGD(net.parameters()), Env(), third=sched.StepLR(None, 1))
    """
    assert receivers_that_step(script) == ["first"]


def test_what_a_loop_goes_through_is_what_it_holds() -> None:
    script = """
    optimizers, schedules = [optim.SGD(net.parameters())], [sched.StepLR(None, 1)]
    for o, s in zip(optimizers, schedules):
        o.step()
        s.step()
    for o in (optimizers[0], Env()):
        o.step()
    """
    assert receivers_that_step(script) == ["o", "o"]


def test_attributes_are_what_methods_give_them() -> None:
    script = """
    class Session:
        def __init__(self):
            self.main = optim.SGD(net.parameters())
            self.plan = sched.StepLR(self.main, 1)
        def end(self):
            self.main.step()
            self.plan.step()
    session = Session()
    session.main.step()
    session.plan.step()
    """
    assert receivers_that_step(script) == ["self.main", "session.main"]


@pytest.mark.parametrize(
    ("script", "root"),
    [
        ("loss = f(x)\nloss.backward()", "loss"),
        ("loss = f(x)\nloss.backward(torch.ones_like(loss))", "loss"),
        ("from accelerate import Accelerator\na = Accelerator()\na.backward(f(x))", "f(x)"),
        ("from lightning.fabric import Fabric\na = Fabric()\nb = f(x)\na.backward(b)", "b"),
        ("import deepspeed\na, *_ = deepspeed.initialize()\nb = f(x)\na.backward(b)", "b"),
        ("import torch\ntorch.autograd.backward(f(x))", "f(x)"),
        ("scaler.scale(loss).backward()", "scaler.scale(loss)"),
        (
            "class T:\n    def fit(self, x):\n        total = self.net(x) + 1\n"
            "        self.accelerator.backward(total)",
            "total",
        ),
        ("def f(loss, gradient):\n    loss.backward(gradient)", "loss"),
        (
            "class V:\n    def backward(self, g):\n        a, b = self.parents\n"
            "        a.backward(g * b.data)",
            "a",
        ),
    ],
)
def test_a_backward_begins_at_its_receiver_or_at_what_it_is_given(script: str, root: str) -> None:
    module = Module("train.py", script)
    (call,) = calls_of(module.tree, "torch.Tensor.backward")
    begun = backward_root(call)
    assert begun is not None
    assert spelled(begun) == root


@pytest.mark.parametrize(
    ("asked", "path"), [("nn.Linear", "torch.nn.Linear"), ("o.SGD", "torch.optim.SGD"), ("A", ".A")]
)
def test_qualified_names(asked: str, path: str) -> None:
    head = "import torch.nn as nn\nfrom torch import optim as o\nclass A: ...\n"
    tree = ast.parse(f"{head}{asked}")
    (asking,) = (node for node in tree.body if isinstance(node, ast.Expr))
    assert Names(tree).qualified(asking.value) == path


def test_a_value_and_a_parameter_have_no_qualified_name() -> None:
    tree = ast.parse("def f(x): x\ny = f(1)\ny")
    asked = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    assert [Names(tree).qualified(one) for one in asked] == ["", ""]


def test_names_that_lead_to_each_other_end() -> None:
    lines = [f"a{i} = a{j}" for i in range(12) for j in range(12)]
    assert receivers_that_step("\n".join([*lines, "a0.step()"])) == ["a0"]
