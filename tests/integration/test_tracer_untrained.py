"""Parameters that never get a gradient: told where that is plain, and why."""

from __future__ import annotations

import pytest

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
        ("h", []),  # switched off: not used, not starved
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
        ("net(torch.ones(2, 3)).round()", ["unfed-parameters"]),
        ("net(torch.ones(2, 3))", []),
    ],
)
def test_gradients_of_nothing_but_zeros_get_no_gradient(
    traced: Tracing, step: str, expected: list[str]
) -> None:
    assert silent_kinds(traced, HEAD + ROUNDED.replace("STEP", step)) == expected


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


def test_a_loss_that_reaches_no_parameter_is_reported_with_its_backward(traced: Tracing) -> None:
    result = traced("""\
        import torch
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = torch.tensor([net(torch.ones(3)).item()]).mean()
            loss.requires_grad = True
            loss.backward()
            optimizer.step()
        """)
    (fault,) = result.trace.silent
    assert fault.kind == "unfed-parameters"
    assert fault.at is None
    assert fault.call is not None
    assert fault.call.at.line == 7


IN_A_DICTIONARY = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(3, 2)
        self.usual = nn.ParameterDict({k: nn.Parameter(torch.ones(())) for k in "ab"})
    def forward(self, x):
        return self.own(x) + USED
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""

OF_A_COPY = """\
import copy
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD([*net.parameters()], lr=0.1)
for _ in range(4):
    trial = LEARNER
    optimizer.zero_grad()
    trial(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("used", "reported"),
    [
        ("torch.tensor([self.usual[k] for k in 'ab'])", ["unfed-parameters"]),
        ("torch.stack([self.usual[k] for k in 'ab'])", []),
        ("self.usual['a']", []),  # the other belongs to somebody else
    ],
)
def test_weights_in_a_dictionary_are_used_with_their_owner(
    traced: Tracing, used: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, IN_A_DICTIONARY.replace("USED", used)) == reported


@pytest.mark.parametrize(
    ("learner", "reported"), [("copy.deepcopy(net)", ["unfed-parameters"]), ("net", [])]
)
def test_where_only_a_copy_gets_gradients_nothing_learns(
    traced: Tracing, learner: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, OF_A_COPY.replace("LEARNER", learner)) == reported


NEXT_TO = """\
net = nn.Linear(3, 1)
copied = nn.Linear(3, 1)
share = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([share], lr=0.1)
for _ in range(4):
    mixed = {name: share.sigmoid() * p for name, p in net.state_dict().items()}
    copied.load_state_dict(mixed)
    optimizer.zero_grad()
    copied(torch.ones(2, 3)).sum().backward()
    GIVEN
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [("pass", ["unfed-parameters"]), ("share.grad = torch.ones(1)", [])],
)
def test_an_optimizer_behind_walks_that_reach_nobody_trains_nothing(
    traced: Tracing, given: str, expected: list[str]
) -> None:
    trains = (
        "own = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.ones(2, 3)).sum().backward()\n"
    )
    script = NEXT_TO.replace("GIVEN", given).replace("for _", f"{trains}own.step()\nfor _", 1)
    assert silent_kinds(traced, script) == expected


LOOKED_UP = """\
class Tariff(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(4, 2), nn.Linear(2, 1)
    def forward(self, codes):
        return self.out(USED)
net = Tariff()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(7):
    optimizer.zero_grad()
    net(torch.tensor([0, 3])).square().mean().backward()
    optimizer.step()
    MOVED
"""


@pytest.mark.parametrize(
    ("used", "moved", "expected"),
    [
        ("self.table.weight.data[codes]", "pass", [("unfed-parameters", True)]),
        ("self.table.weight.data[codes]", "net.table.weight.data.mul_(0.9)", []),
        ("self.table(codes)", "pass", []),
    ],
)
def test_what_is_only_read_past_its_graph_leaves_a_doubt(
    traced: Tracing, used: str, moved: str, expected: list[tuple[str, bool]]
) -> None:
    script = LOOKED_UP.replace("USED", used).replace("MOVED", moved)
    found = traced(HEAD + script).trace.silent
    assert [(fault.kind, fault.doubtful) for fault in found] == expected


IN_A_FUNCTION = """\
class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(3))
    def forward(self):
        return self.raw * 2
def tune():
    mix, head = Mix(), nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*mix.parameters(), *head.parameters()], lr=0.1)
    for turn in range(6):
        optimizer.zero_grad()
        head(mix().detach()).square().sum().backward()
        optimizer.step()
        MOVED
tune()
"""


@pytest.mark.parametrize(
    ("moved", "expected"),
    [("pass", ["unfed-parameters"]), ("mix.raw.data.mul_(0.9)", [])],
)
def test_a_module_that_is_gone_at_the_end_still_reports(
    traced: Tracing, moved: str, expected: list[str]
) -> None:
    assert silent_kinds(traced, IN_A_FUNCTION.replace("MOVED", moved)) == expected


LOST = """\
class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.angle, self.net = nn.Parameter(torch.zeros(())), nn.Linear(2, 1)
    def forward(self, x):
        c, s = self.angle.cos(), self.angle.sin()
        turn = MADE
        return self.net(x @ turn)
net = Turned()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("torch.tensor([[c, -s], [s, c]])", 8),
        ("torch.stack([c, -s, s, c]).view(2, 2).detach()", 8),
        ("torch.full((2, 2), float(c))", 8),
    ],
)
def test_a_slower_run_reports_where_a_parameter_without_gradient_lost_its_graph(
    traced: Tracing, made: str, line: int
) -> None:
    script = LOST.replace("MADE", made)
    (reported,) = traced(HEAD + script).trace.silent
    assert reported.at is None
    (reported,) = traced(HEAD + script, mode="inplace").trace.silent
    assert reported.params == ("net.angle",)
    assert reported.at is not None
    assert reported.at.line - HEAD.count("\n") == line - 1


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
