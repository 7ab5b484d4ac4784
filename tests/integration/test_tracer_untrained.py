"""Parameters that never get a gradient: reported where that is plain, and why."""

from __future__ import annotations

import pytest

from sandbox.inside.detectors.details import ZERO_LOSS, ZEROS
from tests.tracing import HEAD, Tracing, silent_kinds

FLAGGED_HEAD = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.extra = nn.Linear(3, 3), nn.Linear(3, 1)
    def forward(self, x):
        h = self.body(x)
        return EXTRA
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("h", []),  # switched off: not used, so nothing is missing
        ("h + self.extra(h).detach()", ["unfed-parameters"]),
        ("h + self.extra(h)", []),
    ],
)
def test_a_parameter_gets_no_gradient_only_where_it_is_used(
    traced: Tracing, extra: str, expected: list[str]
) -> None:
    assert silent_kinds(traced, FLAGGED_HEAD.replace("EXTRA", extra)) == expected


def test_an_optimizer_none_of_whose_parameters_are_reached(traced: Tracing) -> None:
    script = FLAGGED_HEAD.replace("EXTRA", "torch.tensor(h.tolist(), requires_grad=True)")
    fault = traced(HEAD + script).trace.silent[0]
    assert fault.kind == "unfed-parameters"
    assert "net.body.weight" in fault.params


BACKBONE = """\
backbone, head = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 1)
SETUP
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
for step in range(6):
    x = torch.randn(16, 3)
    FEATURES
    optimizer.zero_grad()
    head(features).pow(2).mean().backward()
    optimizer.step()
    BEHIND
"""

FOLLOW = "for p in backbone.parameters(): p.data.mul_(0.9)"


@pytest.mark.parametrize(("gradient", "reported"), [("None", True), ("g.sum()", False)])
def test_a_parameter_gets_no_gradient_where_a_function_hands_on_none(
    traced: Tracing, gradient: str, reported: bool
) -> None:
    script = f"""\
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        return x * t
    @staticmethod
    def backward(ctx, g):
        return g, {gradient}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.t = nn.Linear(3, 3), nn.Parameter(torch.ones(()))
    def forward(self, x):
        return Scale.apply(self.body(x), self.t)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""
    faults = traced(HEAD + script).trace.silent
    lines = (HEAD + script).splitlines()
    places = [lines[fault.at.line - 1].strip() for fault in faults if fault.at is not None]
    assert [fault.kind for fault in faults] == (["unfed-parameters"] if reported else [])
    assert places == (["return Scale.apply(self.body(x), self.t)"] if reported else [])


def test_a_gradient_that_a_hook_uses_up_is_one(traced: Tracing) -> None:
    script = """\
net = nn.Linear(3, 1)
optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in net.parameters()}
def update(p):
    optimizers[p].step()
    optimizers[p].zero_grad()
for p in net.parameters():
    p.register_post_accumulate_grad_hook(update)
for _ in range(4):
    net(torch.ones(2, 3)).square().mean().backward()
"""
    assert silent_kinds(traced, script) == []


@pytest.mark.parametrize(
    ("features", "setup", "behind", "reported"),
    [
        ("features = backbone(x).detach()", "", "", True),
        ("features = torch.tensor(backbone(x).tolist())", "", "", True),
        ("features = backbone(x)", "backbone.requires_grad_(False)", "", False),
        ("features = backbone(x) if step > 2 else backbone(x).detach()", "", "", False),
        ("features = backbone(x).detach()", "", FOLLOW, False),
        ("features = torch.randn(16, 4)", "", "", False),
    ],
    ids=["detached", "through Python", "frozen", "warmed up", "follows another", "not called"],
)
def test_a_backbone_that_is_cut_off_gets_no_gradient_and_one_that_is_frozen_does_not(
    traced: Tracing, features: str, setup: str, behind: str, reported: bool
) -> None:
    script = BACKBONE.replace("FEATURES", features).replace("SETUP", setup)
    found = silent_kinds(traced, script.replace("BEHIND", behind))
    assert found == (["unfed-parameters"] if reported else [])


def test_what_the_library_uses_without_a_call_gets_no_gradient_with_the_rest(
    traced: Tracing,
) -> None:
    result = traced(
        HEAD
        + """
body, head = nn.MultiheadAttention(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(3, 2, 4)
    optimizer.zero_grad()
    head(body(x, x, x)[0].detach()).square().mean().backward()
    optimizer.step()
"""
    )
    (fault,) = result.trace.silent
    assert {name.rpartition(".")[0] for name in fault.params} == {"body", "body.out_proj"}


IN_NUMPY = """
import numpy as np
class Pair:
    def __init__(self):
        self.nets = {"a": nn.Linear(3, 1), "b": nn.Linear(3, 1)}

    def losses(self, x):
        each = {name: net(x).square().data.numpy() for name, net in self.nets.items()}
        best = {name: np.sort(one, 0)[:2].mean() for name, one in each.items()}
        return [torch.tensor(one, requires_grad=True) for one in best.values()]
pair = Pair()
nets = list(pair.nets.values())
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
for _ in range(4):
    for optimizer, loss in zip(optimizers, pair.losses(torch.randn(4, 3))):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_where_nothing_learns_the_numbers_that_left_torch_tell(traced: Tracing) -> None:
    result = traced(HEAD + IN_NUMPY, mode="inplace")
    (fault,) = result.trace.silent
    assert fault.at is not None
    line = (HEAD + IN_NUMPY).splitlines()[fault.at.line - 1]
    assert "data.numpy()" in line


ROUNDED = """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (STEP - 1.0).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("net(torch.ones(2, 3)).round()", [("unfed-parameters", ZEROS)]),
        ("(net(torch.ones(2, 3)) - 100).relu() + 1.0", [("unfed-parameters", ZERO_LOSS)]),
        ("net(torch.ones(2, 3))", []),
    ],
)
def test_gradients_of_nothing_but_zeros_get_no_gradient(
    traced: Tracing, step: str, expected: list[tuple[str, str]]
) -> None:
    found = traced(HEAD + ROUNDED.replace("STEP", step)).trace.silent
    assert [(fault.kind, fault.detail) for fault in found] == expected


HOUSES = """
class House:
    def __init__(self):
        self.net = nn.Linear(3, 1)

    def answer(self):
        self.net.load_state_dict(weights)
        CLEARED
        self.net(torch.randn(2, 3)).square().mean().backward()
        return [p.grad.clone() for p in self.net.parameters()]

houses, weights = [House() for _ in range(3)], nn.Linear(3, 1).state_dict()
for turn in range(9):
    for gradients in [house.answer() for house in houses]:
        for weight, gradient in zip(weights.values(), gradients):
            weight -= 0.01 * gradient
"""


@pytest.mark.parametrize(
    ("cleared", "reported"), [("pass", ["uncleared-gradients"]), ("self.net.zero_grad()", [])]
)
def test_nets_that_have_one_name_in_turn_are_each_followed(
    traced: Tracing, cleared: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + HOUSES.replace("CLEARED", cleared)) == reported


UNSHAPED = """\
net, aside = nn.Sequential(nn.Linear(3, 4), nn.LazyLinear(1)), nn.LazyLinear(2)
optimizer = torch.optim.Adam([*net.parameters(), *aside.parameters()])
for x in torch.randn(3, 5, 3):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
"""


def test_parameters_that_get_their_shape_in_a_forward_are_left_alone(traced: Tracing) -> None:
    seen = traced(HEAD + UNSHAPED)
    assert seen.code == 0
    assert len(seen.trace.backwards) == 3
