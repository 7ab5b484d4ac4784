"""Fixes of one statement: each makes its script run, and says by its strategy what it did."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

pytestmark = pytest.mark.asyncio(loop_scope="session")

START = """\
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for step in range(5):
"""
FORWARD = "    loss = ((net(x) - y) ** 2).mean()\n"
CLEAR, BACKWARD = "    optimizer.zero_grad()\n", "    loss.backward()\n"
READ, STEP = "    print(step, net.weight.grad)\n", "    optimizer.step()\n"
TARGET = "    loss = nn.functional.soft_margin_loss(net(x), LABELS)\n"

DRAWN = """\
from torch.utils.checkpoint import checkpoint
first, last = nn.Linear(8, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
x = torch.randn(16, 8)

def part(v):
    return first(v[torch.rand(len(v)) > 0.5]).sum(0, keepdim=True)

for step in range(4):
    optimizer.zero_grad()
    hidden = checkpoint(part, x, use_reentrant=False, preserve_rng_state=False)
    last(hidden).square().mean().backward()
    optimizer.step()
"""
BATCHED = """\
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2

w = torch.randn(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    cubes = torch.func.vmap(lambda row: Cube.apply(row * w).sum())(torch.randn(8, 3))
    cubes.square().mean().backward()
    optimizer.step()
"""
DECAYED = """\
def left(rates):
    share = torch.ones(())
    for rate in rates:
        share *= torch.exp(-rate * w.square().sum())
    return share

w = torch.randn(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    torch.func.vmap(left)(torch.rand(8, 5)).square().mean().backward()
    optimizer.step()
"""
WRITTEN = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.scale = nn.Linear(4, 4), nn.Parameter(torch.ones(4))

    def warm(self, start):
        self.scale = nn.Parameter(start.clone())

    def forward(self, x):
        return self.inner(x) * self.scale

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.warm(torch.full((4,), 2.0))
for step in range(8):
    optimizer.zero_grad()
    net(torch.randn(16, 4)).square().mean().backward()
    optimizer.step()
"""
INFERRED = """\
base, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)

@torch.inference_mode()
def features(v):
    return base(v)

for step in range(4):
    optimizer.zero_grad()
    head(features(torch.randn(16, 4))).square().mean().backward()
    optimizer.step()
"""
SCALED = """\
net = nn.Linear(4, 1)
optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
for step in range(4):
    optimizer.zero_grad()
    scaler.scale(net(torch.randn(16, 4)).square().mean()).backward()
    scaler.step(optimizer)
"""
REGION = """\
f = torch.compile(lambda x, w: (x @ w).sin(), backend="aot_eager")
w, x = nn.Parameter(torch.randn(3, 3)), torch.randn(2, 3)
optimizer = torch.optim.SGD([w], lr=0.1)
y = f(x, w)
for step in range(4):
    optimizer.zero_grad()
    y.square().sum().backward()
    optimizer.step()
"""
COPIED = """\
import copy
net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    hidden = net(torch.randn(16, 4))
    kept = copy.deepcopy(hidden)
    optimizer.zero_grad()
    (hidden * kept).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("loop", "fixed"),
    [
        ((CLEAR, FORWARD, READ, BACKWARD, STEP), (CLEAR, FORWARD, BACKWARD, READ, STEP)),
        ((FORWARD, BACKWARD, STEP, CLEAR, READ), (FORWARD, BACKWARD, STEP, READ, CLEAR)),
    ],
)
async def test_a_gradient_is_read_while_it_is_there(
    service: Service, loop: tuple[str, ...], fixed: tuple[str, ...]
) -> None:
    script = HEAD + START + "".join(loop)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["nonleaf-grad"]
    first = found.patches[0]
    assert (first.verification.status, first.gradients) == ("passed", "same")
    assert first.script == HEAD + START + "".join(fixed)


async def test_a_target_that_learns_is_made_constant(service: Service) -> None:
    script = HEAD + START + CLEAR + TARGET + BACKWARD + STEP
    script = script.replace("LABELS", "net(x + 1).sign()")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["undetached-target"]
    first = found.patches[0]
    assert first.verification.status == "passed"
    assert first.script == script.replace(".sign()", ".sign().detach()")


@pytest.mark.parametrize(
    ("script", "pattern", "strategy", "line"),
    [
        (DRAWN, "checkpoint-mismatch", "restored-draw", "preserve_rng_state=True"),
        (BATCHED, "functional-transform", "vmap-rule", "generate_vmap_rule = True"),
        (
            DECAYED,
            "functional-transform",
            "out-of-place",
            "share = share * torch.exp(-rate * w.square().sum())",
        ),
        (WRITTEN, "starved-parameter", "written-into", "self.scale.data.copy_(start.clone())"),
        (INFERRED, "inference-tensor", "no-grad-instead", "@torch.no_grad()"),
        (SCALED, "scaler-order", "scaled-once", "scaler.update()"),
        (COPIED, "deepcopy-nonleaf", "detach-and-clone", "kept = hidden.detach().clone()"),
    ],
)
async def test_the_first_fix_runs(
    service: Service, script: str, pattern: str, strategy: str, line: str
) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + script), RUNNING)
    assert [cause.pattern for cause in found.causes] == [pattern]
    first = found.patches[0]
    assert (first.strategy, first.verification.status) == (strategy, "passed")
    assert line in first.script
    assert line not in script


async def test_what_is_compiled_is_not_compiled_in_each_iteration(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + REGION), RUNNING)
    assert found.causes[0].pattern == "forward-outside-loop"
    first = found.patches[0]
    assert (first.strategy, first.verification.status) == ("forward-into-loop", "passed")
    assert first.script.count("    y = f(x, w)") == 1
    assert first.script.count("torch.compile") == 1
    assert first.script.index("torch.compile") < first.script.index("for step")
