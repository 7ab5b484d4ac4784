"""What each optimizer's own step finds: gradients that were cleared, or that its backward does not
give; and gradients that no optimizer takes."""

from __future__ import annotations

import pytest

from sandbox.records import Silent
from tests.tracing import HEAD, Tracing

ORDER = """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for number in range(6):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    {calls}
"""


def faults(traced: Tracing, script: str) -> list[Silent]:
    result = traced(HEAD + script)
    assert result.code == 0, result.stderr
    return result.trace.silent


@pytest.mark.parametrize(
    ("calls", "kinds"),
    [
        ("loss.backward(); optimizer.zero_grad(); optimizer.step()", ["cleared-gradients"]),
        ("optimizer.zero_grad(); optimizer.step(); loss.backward()", ["cleared-gradients"]),
        (
            "loss.backward(); optimizer.zero_grad(set_to_none=False); optimizer.step()",
            ["cleared-gradients"],
        ),
        ("optimizer.zero_grad(); loss.backward(); optimizer.step()", []),
        ("loss.backward(); optimizer.step(); optimizer.zero_grad()", []),
        ("(0 * loss).backward(); optimizer.step(); optimizer.zero_grad()", ["unfed-parameters"]),
        (
            "loss.backward()\n    if number % 2: optimizer.step(); optimizer.zero_grad()",
            [],
        ),
    ],
    ids=["cleared", "step first", "zeros", "plain", "behind", "weighed by zero", "accumulated"],
)
def test_the_order_of_backward_clearing_and_step(
    traced: Tracing, calls: str, kinds: list[str]
) -> None:
    assert [fault.kind for fault in faults(traced, ORDER.format(calls=calls))] == kinds


def test_the_step_and_the_backward_are_reported(traced: Tracing) -> None:
    calls = "loss.backward()\n    optimizer.zero_grad()\n    optimizer.step()"
    (fault,) = faults(traced, ORDER.format(calls=calls))
    lines = (HEAD + ORDER.format(calls=calls)).splitlines()
    assert fault.at is not None
    assert fault.call is not None
    assert lines[fault.at.line - 1].strip() == "optimizer.step()"
    assert lines[fault.call.at.line - 1].strip() == "loss.backward()"
    assert set(fault.params) == {"net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"}


GAN = """\
G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
g_opt, d_opt = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for _ in range(6):
    fake = G(torch.randn(8, 2))
    d_opt.zero_grad()
    (D(torch.randn(8, 2)).mean() - D({seen}).mean()).backward(retain_graph=True)
    d_opt.step()
    g_opt.zero_grad({how})
    D({judged}).mean().backward()
    g_opt.step()
"""


@pytest.mark.parametrize("how", ["", "set_to_none=False"])
@pytest.mark.parametrize(
    ("seen", "judged", "params"),
    [
        ("fake", "fake.detach()", {"G.weight", "G.bias"}),
        ("fake.detach()", "G(torch.randn(8, 2))", set()),
        ("fake", "G(torch.randn(8, 2))", set()),
    ],
    ids=["cut", "plain", "leaks"],
)
def test_gradients_that_only_the_backward_of_another_optimizer_gives(
    traced: Tracing, seen: str, judged: str, params: set[str], how: str
) -> None:
    found = faults(traced, GAN.format(seen=seen, judged=judged, how=how))
    assert {name for fault in found for name in fault.params} == params


def test_where_the_graph_of_its_own_loss_was_cut(traced: Tracing) -> None:
    script = HEAD + GAN.format(seen="fake", judged="fake.detach()", how="")
    (fault,) = traced(script, mode="inplace").trace.silent
    assert fault.at is not None
    assert "fake.detach()" in script.splitlines()[fault.at.line - 1]


def test_a_bias_whose_gradients_cancel_is_trained(traced: Tracing) -> None:
    script = """\
D = nn.Linear(2, 1)
optimizer = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(6):
    optimizer.zero_grad()
    x = torch.randn(8, 2, requires_grad=True)
    D(x).mean().backward()
    (-D(x * 2).mean()).backward()
    (slope,) = torch.autograd.grad(D(x.square()).sum(), x, create_graph=True)
    slope.pow(2).mean().backward()
    optimizer.step()
"""
    assert faults(traced, script) == []


def test_a_parameter_of_two_optimizers_is_trained_by_either(traced: Tracing) -> None:
    script = """\
body, one, two = nn.Linear(3, 3), nn.Linear(3, 1), nn.Linear(3, 1)
first = torch.optim.SGD([*body.parameters(), *one.parameters()], lr=0.1)
second = torch.optim.SGD([*body.parameters(), *two.parameters()], lr=0.1)
for _ in range(6):
    x = torch.randn(4, 3)
    one(body(x)).pow(2).mean().backward()
    first.step()
    first.zero_grad()
    two(body(x).detach()).pow(2).mean().backward()
    second.step()
    second.zero_grad()
"""
    assert faults(traced, script) == []


UNHELD = """\
embed, body = nn.Linear(3, 3), nn.Linear(3, 1)
{before}
optimizer = torch.optim.SGD({held}, lr=0.1)
{after}
for _ in range(8):
    optimizer.zero_grad()
    body(torch.tanh(embed(torch.randn(8, 3)))).pow(2).mean().backward()
    optimizer.step()
    {each}
"""


@pytest.mark.parametrize(
    ("held", "before", "each", "instead"),
    [
        ("body.parameters()", "", "", {"embed.weight", "embed.bias"}),
        ("[*body.parameters(), *embed.parameters()]", "", "", set()),
        ("body.parameters()", "embed.requires_grad_(False)", "", set()),
        (
            "body.parameters()",
            "",
            "for p in embed.parameters(): p.data -= 0.1 * p.grad; p.grad = None",
            set(),
        ),
        (
            "body.parameters()",
            "other = torch.optim.SGD(embed.parameters(), lr=0.1)",
            "other.step(); other.zero_grad()",
            set(),
        ),
    ],
    ids=["left out", "held", "frozen", "by hand", "of another"],
)
def test_gradients_that_no_optimizer_takes_are_left_to_reading(
    traced: Tracing, held: str, before: str, each: str, instead: set[str]
) -> None:
    found = faults(traced, UNHELD.format(held=held, before=before, each=each, after=""))
    assert {name for fault in found for name in fault.instead} == instead
    assert all(fault.doubtful for fault in found)


def test_adapters_that_come_behind_the_optimizer_of_what_is_then_frozen(traced: Tracing) -> None:
    script = """\
class Adapted(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.down, self.up = base, nn.Linear(3, 2), nn.Linear(2, 3)
    def forward(self, x):
        return self.base(x) + self.up(self.down(x))
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.requires_grad_(False)
net[0] = Adapted(net[0])
for _ in range(8):
    optimizer.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    optimizer.step()
"""
    (fault,) = faults(traced, script)
    assert not fault.doubtful
    assert "net.0.up.weight" in fault.instead
    assert fault.optimizer_at is not None


def test_a_bias_next_to_a_weight_that_calls_replace_is_no_finding(traced: Tracing) -> None:
    script = """\
readout, scale = nn.Linear(3, 1), nn.Linear(2, 3)
weight = readout.weight.detach().clone()
optimizer = torch.optim.SGD(scale.parameters(), lr=0.1)
for _ in range(8):
    given = {"weight": weight * scale(torch.randn(1, 2))}
    optimizer.zero_grad()
    torch.func.functional_call(readout, given, (torch.randn(4, 3),)).pow(2).mean().backward()
    optimizer.step()
"""
    assert faults(traced, script) == []


FREEZING = """\
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
other = torch.optim.SGD(body.parameters(), lr=0.1)
head.requires_grad_(False)
for number in range(8):
    {each}
    optimizer.zero_grad(), other.zero_grad()
    head(torch.tanh(body(torch.randn(8, 3)))).pow(2).mean().backward()
    other.step()
    {step}
"""


@pytest.mark.parametrize(
    ("each", "step", "params"),
    [
        ("pass", "optimizer.step()", {"head.weight", "head.bias"}),
        ("pass", "pass", set()),
        ("if number == 4: head.requires_grad_(True)", "optimizer.step()", set()),
    ],
    ids=["frozen", "not stepped", "thawed"],
)
def test_an_optimizer_of_what_is_frozen(
    traced: Tracing, each: str, step: str, params: set[str]
) -> None:
    found = faults(traced, FREEZING.format(each=each, step=step))
    assert {name for fault in found for name in fault.params} == params
