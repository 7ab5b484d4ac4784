"""A fault that shows once the first is fixed is looked at as closely, and fixed with it."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

# An actor and a critic that share layers: each moment has two walks, and then a step.
ACTOR_CRITIC = """\
import torch
from torch import nn

torch.manual_seed(0)
body, policy, value = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
weights = [*body.parameters(), *policy.parameters(), *value.parameters()]
optimizer = torch.optim.Adam(weights, lr=1e-3)
for episode in range(4):
    moments = []
    for t in range(6):
        h = torch.relu(body(torch.randn(4)))
        chances = torch.distributions.Categorical(logits=policy(h))
        moments.append((chances.log_prob(chances.sample()), value(h), torch.rand(1)))
    for log_prob, worth, gain in moments:
        advantage = gain - worth
        actor_loss = -(log_prob * advantage)
        critic_loss = advantage.pow(2)
        optimizer.zero_grad()
        actor_loss.backward()
        critic_loss.backward()
        optimizer.step()
"""

# One pass walks its graph three times; the state hands it on to the next one.
STATE_KEPT = """\
import torch
from torch import nn

torch.manual_seed(0)
gru = nn.GRU(4, 8, batch_first=True)
heads = nn.ModuleList(nn.Linear(8, 4) for _ in range(3))
optimizer = torch.optim.SGD([*gru.parameters(), *heads.parameters()], lr=0.05)
state = None
for step in range(10):
    out, state = gru(torch.randn(2, 6, 4), state)
    optimizer.zero_grad()
    for head in heads:
        loss = head(out).square().mean()
        loss.backward(retain_graph=True)
    optimizer.step()
"""

# Nothing is raised: two totals keep the graph of every iteration, and one look sees one of them.
TWO_TOTALS = """\
import torch
from torch import nn

class Agreement:
    def __init__(self):
        self.shared, self.sizes = torch.zeros(()), torch.zeros(())

    def update(self, chances, wanted):
        self.shared = self.shared + (chances * wanted).sum()
        self.sizes = self.sizes + chances.sum() + wanted.sum()

torch.manual_seed(0)
net, agreement = nn.Linear(4, 3), Agreement()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(24):
    wanted = torch.rand(5, 3).round()
    chances = net(torch.randn(5, 4)).sigmoid()
    loss = nn.functional.binary_cross_entropy(chances, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    agreement.update(chances, wanted)
print((2 * agreement.shared / agreement.sizes).item())
"""

# NumPy is given what a list keeps with its graph: numbers in the list spare both.
KEPT_AND_GIVEN = """\
import numpy as np
import torch
from torch import nn

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(6):
    losses = []
    for step in range(8):
        loss = net(torch.randn(5, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print(np.mean(losses))
"""

# Both nets learn from the other's easy samples: NumPy, and two makers of tensors, cut the losses.
CUT_AND_RECOMPUTED = """\
import numpy as np
import torch
from torch import nn
from torch.autograd import Variable

def easiest(losses, share):
    return np.argsort(losses)[: int(share * len(losses))]

class Pair:
    def __init__(self, first, second):
        self.nets = {"first": first, "second": second}

    def losses(self, x, y):
        each = {}
        for name, net in self.nets.items():
            each[name] = (net(x) - y).square().mean(1).data.numpy()
        one = each["first"][easiest(each["second"], 0.5)].mean()
        other = each["second"][easiest(each["first"], 0.5)].mean()
        return [Variable(torch.tensor(v), requires_grad=True) for v in (one, other)]

torch.manual_seed(0)
first, second = nn.Linear(4, 2), nn.Linear(4, 2)
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (first, second)]
pair = Pair(first, second)
for step in range(6):
    losses = pair.losses(torch.randn(8, 4), torch.randn(8, 2))
    for optimizer, loss in zip(optimizers, losses):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

# Two nets have slow copies; the same slip stands in the loop of each, under the same name.
SLOW_COPIES = """\
import copy
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 4), nn.Linear(4, 1)
slow_body, slow_head = copy.deepcopy(body), copy.deepcopy(head)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for step in range(6):
    x = torch.randn(8, 4)
    with torch.no_grad():
        aim = 0.9 * slow_head(slow_body(x))
    loss = (head(body(x)) - aim).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for quick, slow in zip(body.parameters(), slow_body.parameters()):
        slow.copy_(0.9 * slow + 0.1 * quick)
    for quick, slow in zip(head.parameters(), slow_head.parameters()):
        slow.copy_(0.9 * slow + 0.1 * quick)
"""


async def test_what_the_first_repair_uncovers_is_fixed_with_it(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=ACTOR_CRITIC), RUNNING)
    first = found.patches[0]
    assert found.causes[0].pattern == "shared-subgraph"
    assert "step-between-backwards" in [cause.pattern for cause in found.causes]
    assert first.verification.status == "passed"
    assert "+        (actor_loss + critic_loss).backward()\n+    optimizer.step()\n" in first.diff
    assert "-        optimizer.step()\n" in first.diff


async def test_a_graph_that_a_pass_walks_again_stays_kept(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=STATE_KEPT), RUNNING)
    first = found.patches[0]
    assert first.verification.status == "passed"
    changed = [line for line in first.diff.splitlines()[2:] if line[0] in "+-"]
    assert changed == ["+    if state is not None:", "+        state = state.detach()"]
    assert "`state` took it to a later iteration" in found.causes[0].explanation


async def test_one_more_value_that_keeps_its_graph_is_fixed_too(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=TWO_TOTALS), RUNNING)
    first = found.patches[0]
    assert found.causes[0].pattern == "growing-history"
    assert first.verification.status == "passed"
    added = [line for line in first.diff.splitlines()[3:] if line.startswith("+")]
    assert len(added) == 2
    assert all(line.endswith(".detach()") for line in added)


async def test_a_patch_of_what_stands_behind_may_spare_the_first(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=KEPT_AND_GIVEN), RUNNING)
    first = found.patches[0]
    assert [cause.pattern for cause in found.causes] == ["numpy-on-grad", "growing-history"]
    assert first.verification.status == "passed"
    changed = [line for line in first.diff.splitlines()[2:] if line[0] in "+-"]
    assert changed == ["-        losses.append(loss)", "+        losses.append(loss.item())"]


async def test_a_graph_that_is_lost_again_further_on_is_followed(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=CUT_AND_RECOMPUTED), RUNNING)
    first = found.patches[0]
    assert found.causes[0].pattern == "starved-parameter"
    assert first.verification.status == "passed"
    added = [line[1:].strip() for line in first.diff.splitlines()[3:] if line.startswith("+")]
    assert added == [
        "return np.argsort(losses.detach())[: int(share * len(losses))]",
        "each[name] = (net(x) - y).square().mean(1)",
        "return [v for v in (one, other)]",
    ]


async def test_the_same_slip_on_a_later_line_is_fixed_with_the_first(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=SLOW_COPIES), RUNNING)
    first = found.patches[0]
    assert found.causes[0].pattern == "inplace-leaf"
    assert first.verification.status == "passed"
    added = [line[1:].strip() for line in first.diff.splitlines()[3:] if line.startswith("+")]
    assert added == 2 * ["with torch.no_grad():", "slow.copy_(0.9 * slow + 0.1 * quick)"]
