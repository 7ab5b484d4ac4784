"""What calls call is resolved through imports, aliases, assignments and classes, not spelled."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analyzers.advice.looking import compiled
from analyzers.source.backward import backward_root
from analyzers.source.callees import (
    creates_module,
    creates_object,
    is_call,
    keyword,
    operation,
    own_name,
)
from analyzers.source.calls import OPTIMIZER_STEP, ZERO_GRAD, calls_of, calls_to, each_call, steps
from analyzers.source.project import Module, Project, spelled

HEAD = """
import random
import collections
from copy import deepcopy
from dataclasses import dataclass
import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
import torch.optim as O
from accelerate import Accelerator
from torch import cat as joined
from torch.autograd import grad as derivative
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Linear(1, 1)

class Trainer:
    def __init__(self):
        self.inner = O.SGD(net.parameters(), lr=0.1)
        self.history = []
    def step(self, loss):
        self.inner.zero_grad()
        loss.backward()
        self.inner.step()
    def detach(self):
        return self
"""


def last_call(tail: str) -> tuple[Module, ast.Call]:
    """A script, and the call of its last statement."""
    module = Module("train.py", HEAD + textwrap.dedent(tail))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    return module, statement.value


@pytest.mark.parametrize(
    ("tail", "is_step"),
    [
        ("env = gym.make('CartPole-v1')\nenv.step(action)", False),
        ("plan = O.lr_scheduler.StepLR(O.SGD(net.parameters()), 1)\nplan.step()", False),
        ("trainer = Trainer()\ntrainer.step(loss)", False),
        ("brain_update = torch.optim.SGD(net.parameters(), lr=0.1)\nbrain_update.step()", True),
        ("opt = O.Adam(net.parameters())\nopt.step()", True),
        ("Rule = O.Adam\nrule = Rule(net.parameters())\nrule.step()", True),
        ("def build():\n    return O.Adam(net.parameters())\nx = build()\nx.step()", True),
        ("x, y = O.Adam(net.parameters()), Trainer()\ny.step(loss)", False),
        ("def run(scheme: O.lr_scheduler.LRScheduler): ...\nunknown.step()", True),
        ("pairs = [(O.SGD(net.parameters()), Trainer())]\nfor a, b in pairs: ...\na.step()", True),
        (
            "pairs = [(O.SGD(net.parameters()), Trainer())]\nfor a, b in pairs: ...\nb.step(1)",
            False,
        ),
        ("@dataclass\nclass State:\n    rule: O.Optimizer\ns = State(x)\ns.rule.step()", True),
        ("@dataclass\nclass State:\n    world: Trainer\ns = State(x)\ns.world.step(1)", False),
    ],
)
def test_a_step_is_an_optimizers_by_what_its_receiver_is(tail: str, is_step: bool) -> None:
    _module, call = last_call(tail)
    assert (calls_of(call, OPTIMIZER_STEP) == [call]) is is_step
    assert (steps(call) == [call]) is is_step


def test_a_backward_of_an_accelerator_begins_at_the_loss_it_is_given() -> None:
    _module, call = last_call("engine = Accelerator()\nloss = net(x).sum()\nengine.backward(loss)")
    assert is_call(call, "torch.Tensor.backward")
    assert backward_root(call) is call.args[0]


@pytest.mark.parametrize(
    ("tail", "wanted", "answer"),
    [
        ("joined([x])", "torch.cat", True),
        ("derivative(x, y)", "torch.autograd.grad", True),
        ("DDP(net)", "torch.nn.parallel.DistributedDataParallel", True),
        ("F.relu(x)", "torch.Tensor.relu", True),
        ("x.detach()", "torch.Tensor.detach", True),
        ("random.sample(memory, 4)", "torch.distributions.Distribution.sample", False),
        ("queue = collections.deque()\nqueue.append(x)", "list.append", True),
        ("queue = collections.deque()\nqueue.detach()", "torch.Tensor.detach", False),
        ("opt = O.Adam(net.parameters())\nopt.zero_grad()", ZERO_GRAD[0], True),
        ("net.zero_grad()", ZERO_GRAD[1], True),
        ("deepcopy(net)", "copy.deepcopy", True),
        ("deepcopy(net)", "torch.Tensor.deepcopy", False),
    ],
)
def test_a_call_is_compared_by_its_qualified_name(tail: str, wanted: str, answer: bool) -> None:
    _module, call = last_call(tail)
    assert is_call(call, wanted) is answer


@pytest.mark.parametrize(
    ("tail", "own", "applied"),
    [
        ("torch.stack(xs)", "", "stack"),
        ("joined(xs)", "", "cat"),
        ("random.choice(xs)", "", ""),
        ("trainer = Trainer()\ntrainer.detach()", "detach", "detach"),
        ("f = Trainer().step\nnobody.knows(1)", "knows", "knows"),
        ("from helpers import cut as trimmed\ntrimmed(x)", "cut", "cut"),
        ("def relu(x): return x\nF.relu(x)", "", "relu"),
    ],
)
def test_own_functions_and_operations_are_distinguished(tail: str, own: str, applied: str) -> None:
    _module, call = last_call(tail)
    assert (own_name(call), operation(call)) == (own, applied)


@pytest.mark.parametrize(
    ("tail", "answer"),
    [
        ("Trainer()", True),
        ("class small: ...\nsmall()", True),
        ("def Build(): return 1\nBuild()", False),
        ("G = Trainer()\nG(x)", False),
        ("Point = collections.namedtuple('Point', 'x y')\nPoint(1, 2)", True),
        ("Unknown()", True),
        ("unknown()", False),
    ],
)
def test_a_class_is_known_by_its_definition(tail: str, answer: bool) -> None:
    _module, call = last_call(tail)
    assert creates_object(call) is answer


@pytest.mark.parametrize(
    ("tail", "answer"),
    [
        ("torch.nn.Linear(1, 1)", True),
        ("class tower(torch.nn.Module): ...\ntower()", True),
        ("class Base(torch.nn.Module): ...\nclass Net(Base): ...\nNet()", True),
        ("import lab\nclass Spike(lab.MemoryModule): ...\nSpike()", True),
        ("Trainer()", False),
        ("torch.nn.Parameter(torch.zeros(3))", False),
        ("torch.zeros(3)", False),
        ("def Net(): ...\nNet()", False),
        ("import engine\nengine.Value(0.5)", None),
        ("from engine import Value\nValue(0.5)", None),
        ("class Value(Base): ...\nValue(0.5)", None),
    ],
)
def test_a_class_of_modules_is_known_by_its_bases(tail: str, answer: bool | None) -> None:
    _module, call = last_call(tail)
    assert creates_module(call) is answer


def test_a_keyword_is_given_once() -> None:
    _module, call = last_call("step(x, out=y, axis=1)")
    found = [keyword(call, *names) for names in (("dim", "axis"), ("out",), ("x",))]
    assert [spelled(one) if one is not None else "" for one in found] == ["1", "y", ""]


def test_calls_of_a_function_of_the_script_are_not_those_of_a_library() -> None:
    script = "import torch\ndef stack(x): return x\nstack(1)\ntorch.stack(2)\nobject.stack(3)\n"
    project = Project({"train.py": script})
    assert [spelled(call.args[0]) for _, call in calls_to(project, "stack")] == ["1", "3"]


def test_calls_of_a_library_are_found_in_all_files() -> None:
    files = {
        "train.py": "from functools import partial as bound\nbound(f)\n",
        "other.py": "import functools\nfunctools.partial(g)\nclass A: ...\n",
    }
    found = each_call(Project(files), "functools.partial")
    assert [spelled(call.args[0]) for _, call in found] == ["f", "g"]


def test_what_other_files_define_is_resolved_through_their_imports() -> None:
    files = {
        "train.py": "from lab.worlds import Drift, make\nimport lab.rules as rules\n"
        "world, rule, other = Drift(), rules.Descent(net.parameters()), make()\n"
        "world.step(a)\nrule.step()\nother.step()\nworld.inner.step()\n",
        "lab/worlds.py": "import torch.optim as O\nclass Drift:\n"
        "    def __init__(self):\n        self.inner = O.SGD(net.parameters())\n"
        "    def step(self, a):\n        self.t = a\n"
        "def make():\n    return O.lr_scheduler.StepLR(x, 1)\n",
        "lab/rules.py": "import torch\nclass Descent(torch.optim.Optimizer): ...\n",
    }
    project = Project(files)
    found = steps(project.modules["train.py"].tree)
    assert [spelled(call.func) for call in found] == ["rule.step", "world.inner.step"]


def test_a_known_receiver_distinguishes_methods_of_one_name() -> None:
    script = """
class Actor:
    def loss(self): return 1
class Critic:
    def loss(self): return 2
class Agent:
    def __init__(self):
        self.critic = Critic()
    def learn(self, other):
        self.critic.loss()
        other.loss()
"""
    project = Project({"train.py": script})
    module = project.modules["train.py"]
    found = {
        spelled(call.func): [getattr(module.class_of(f), "name", "") for _, f in named]
        for call in module.each(ast.Call)
        if (named := [*project.functions_called(call)])
    }
    assert found == {"self.critic.loss": ["Critic"], "other.loss": ["Actor", "Critic"]}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("net = torch.compile(net)", "torch.compile"),
        ("from torch import compile as faster\nfaster(net)", "faster"),
        ("net.compile()", "net.compile"),
        ("import re as patterns\npatterns.compile('a')", None),
        ("compile('1', 'f', 'eval')", None),
    ],
)
def test_a_compilation_is_torchs(line: str, found: str | None) -> None:
    module = Module("train.py", f"import torch\nnet = torch.nn.Linear(1, 1)\n{line}\n")
    seen = [what for call in module.each(ast.Call) if (what := compiled(call, module))]
    assert seen == ([found] if found else [])
