"""Parameters that an optimizer gets, loses or keeps while others are trained."""

from __future__ import annotations

import pytest

from analyzers.explain.kept_parameters import LOADED, UNHELD
from tests.integration.test_tracer_untrained_places import LOST
from tests.tracing import HEAD, Tracing, silent_kinds

UNFROZEN = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.head = nn.Linear(3, 3), nn.Linear(3, 1)
    def forward(self, x):
        with torch.set_grad_enabled(RECORDED):
            x = self.base(x)
        return self.head(x)
net = Net()
net.base.requires_grad_(False)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(8):
    if turn == 4:
        net.base.requires_grad_(True)
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("recorded", "expected"), [("False", ["unfed-parameters"]), ("True", [])])
def test_what_is_unfrozen_later_is_judged_from_then_on(
    traced: Tracing, recorded: str, expected: list[str]
) -> None:
    assert silent_kinds(traced, UNFROZEN.replace("RECORDED", recorded)) == expected


def test_what_is_not_the_way_to_the_loss_is_no_place_where_a_graph_ended(traced: Tracing) -> None:
    """A copy of weights, a constant of the script's own, a node with a `variable`."""
    script = LOST.replace("MADE", "torch.tensor([[c, -s], [s, c]])").replace(
        "net = Turned()",
        """class Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.variable = 3
        return x * 1.0
    @staticmethod
    def backward(ctx, grad):
        return grad
net = Turned()
twin = Turned()
twin.load_state_dict(net.state_dict())
print(float(Marked.apply(net.angle)), net.net.weight.sum().mul(0.0).item())""",
    )
    result = traced(HEAD + script, mode="inplace")
    assert result.code == 0, result.stderr
    (reported,) = result.trace.silent
    assert reported.at is not None
    assert reported.at.line - HEAD.count("\n") == 7


TRAINED_INSTEAD = """\
import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 4, requires_grad=True)
BOUND
for _ in range(8):
    optimizer.zero_grad()
    LOSS.square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("bound", "loss", "instead"),
    [
        ("net = nn.Linear(4, 2)", "net(x)", ["net.bias", "net.weight"]),
        ("other = copy.deepcopy(net)", "other(x)", ["other.bias", "other.weight"]),
        (
            "w, b = (torch.stack([p.detach()] * 2).requires_grad_() for p in net.parameters())",
            "(x @ w.mT + b[:, None])",
            ["b", "w"],
        ),
        ("other = nn.Linear(3, 2)", "other(net(x).detach())", []),
        ("other = nn.Linear(4, 5)", "other(x)", []),
        ("", "(x @ net.weight.detach().t())", []),
    ],
    ids=["replaced", "a copy", "stacked", "behind a cut", "another", "an input"],
)
def test_what_learns_in_the_place_of_what_an_optimizer_holds(
    traced: Tracing, bound: str, loss: str, instead: list[str]
) -> None:
    run = traced(TRAINED_INSTEAD.replace("BOUND", bound).replace("LOSS", loss))
    assert run.code == 0, run.stderr
    untrained = [fault for fault in run.trace.silent if fault.kind == "unfed-parameters"]
    assert [sorted(fault.instead) for fault in untrained] == [instead]


BEHIND_AN_OPTIMIZER = """\
import torch
from torch import nn
net = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 1), "aux": nn.Linear(4, 1)})
x, y = torch.randn(8, 3), torch.randn(8, 1)
part = torch.zeros(1, 3, requires_grad=True)
opt = torch.optim.SGD([*net.parameters(), part], lr=0.1)
for _ in range(8):
    opt.zero_grad()
    (net.head(net.body(x)) - y).pow(2).mean().backward()
    opt.step()
RENEWED
for _ in range(8):
    LOSS.backward()
    with torch.no_grad():
        for p in LEAVES:
            p -= 0.1 * p.grad
            p.grad = None
"""


@pytest.mark.parametrize(
    ("renewed", "loss", "leaves"),
    [
        (
            "net.aux = nn.Linear(4, 1)",
            "net.aux(net.body(x).detach()).pow(2).mean()",
            "net.aux.parameters()",
        ),
        ("part = torch.randn(1, 3, requires_grad=True)", "net.body(part).pow(2).sum()", "[part]"),
    ],
    ids=["a part of a module", "an input"],
)
def test_a_name_that_is_used_again_behind_the_steps_denotes_nothing(
    traced: Tracing, renewed: str, loss: str, leaves: str
) -> None:
    script = BEHIND_AN_OPTIMIZER.replace("RENEWED", renewed).replace("LOSS", loss)
    run = traced(script.replace("LEAVES", leaves))
    assert run.code == 0, run.stderr
    untrained = [fault for fault in run.trace.silent if fault.kind == "unfed-parameters"]
    assert len(untrained) == 1
    assert untrained[0].instead == ()


TWO_OF_A_NAME = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.warm, self.head = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)
    def forward(self, x, warm=True):
        h = self.body(x)
        return self.head(self.warm(h) if warm else h)
def attack(model, x):
    delta = torch.zeros_like(x, requires_grad=True)
    model(x + delta).pow(2).mean().backward()
    return x + 0.1 * delta.grad.sign()
def train(model, surrogate, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(20):
        z = attack(surrogate, x) if step >= 5 else x
        loss = (model(z, warm=step < 5) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
train(Net(), Net(), torch.randn(8, 3), torch.randn(8, 1))
"""
STEPPED_SELDOM = """\
import torch
from torch import nn
net = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 1)})
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(5):
    optimizer.zero_grad()
    (net.b(net.a(x)) - y).pow(2).mean().backward()
    optimizer.step()
net.a = nn.Linear(3, 3)
for turn in range(1, 201):
    net.b.zero_grad()
    ((net.b(net.a(x)) - y).pow(2).mean() / 50).backward()
    optimizer.step()
    if turn % 50 == 0:
        with torch.no_grad():
            for p in net.a.parameters():
                p -= 0.05 * p.grad
                p.grad = None
"""


@pytest.mark.parametrize("script", [TWO_OF_A_NAME, STEPPED_SELDOM], ids=["beside", "seldom"])
def test_what_the_script_still_has_or_moves_itself_is_not_replaced(
    traced: Tracing, script: str
) -> None:
    run = traced(script)
    assert run.code == 0, run.stderr
    assert [fault.kind for fault in run.trace.silent if fault.instead] == []


LATE = """\
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
early = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    early.zero_grad()
    head(body(torch.ones(2, 3))).square().mean().backward()
    early.step()
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(8):
    if step == 3 and JOINS:
        body.requires_grad_(True)
        optimizer.add_param_group({"params": list(body.parameters())})
    with RECORDING:
        h = body(torch.ones(2, 3))
    optimizer.zero_grad()
    head(h).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("stale_edges", "recording", "expected"),
    [
        ("True", "torch.no_grad()", ["unfed-parameters"]),
        ("True", "torch.enable_grad()", []),
        ("False", "torch.no_grad()", []),  # frozen, and no optimizer is to move it
    ],
)
def test_what_joins_an_optimizer_later_is_to_learn_from_there_on(
    traced: Tracing, stale_edges: str, recording: str, expected: list[str]
) -> None:
    script = LATE.replace("JOINS", stale_edges).replace("RECORDING", recording)
    assert silent_kinds(traced, script) == expected


HEAD_ALONE = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.head = nn.Linear(3, 3), nn.Linear(3, 1)
    def forward(self, x):
        return self.head(self.base(x))
net = Net()
MADE
optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
for turn in range(8):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "detail"),
    [
        ("", ""),
        ("if turns := []: net.load_state_dict(torch.load('weights.pt'))", ""),
        ("net.head.load_state_dict(Net().head.state_dict())", ""),
        ("net.load_state_dict(Net().state_dict())", LOADED),
    ],
    ids=["never", "in code that does not run", "others", "all"],
)
def test_what_the_script_has_loaded_may_stay_without_an_optimizer(
    traced: Tracing, made: str, detail: str
) -> None:
    (found,) = traced(HEAD + HEAD_ALONE.replace("MADE", made)).trace.silent
    assert (found.kind, found.doubtful, found.detail) == (UNHELD, True, detail)
    assert list(found.instead) == ["net.base.bias", "net.base.weight"]
