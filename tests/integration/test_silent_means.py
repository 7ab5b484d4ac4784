"""Silent faults that a run measures and the text explains: what a flag, a kept graph, a plain list
or a loop's own name hides. Each has a neighbour that does the like on purpose, and is not
reported."""

from __future__ import annotations

import pytest

from tests.fixing import recognise
from tests.tracing import Tracing

FLAGGED = """\
    import torch
    from torch import nn
    net = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        x, y = torch.randn(8, 4), torch.randint(3, (8,))
        scores = net(x)
        _, chosen = torch.max(scores, 1)
        loss = nn.functional.mse_loss(chosen.float(), y.float())
        loss.requires_grad_(True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

LISTED = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.gain = nn.Parameter(torch.ones(2))
            self.parts = PARTS

        def forward(self, x):
            return torch.cat([part(x) for part in self.parts], 1) * self.gain

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(8):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
    """

PILED = """\
    import torch
    a, x = torch.tensor(0.1, requires_grad=True), torch.linspace(-1, 1, 20)
    optimizer = torch.optim.LBFGS([a], max_iter=8)

    def closure():
        INSIDE
        loss = (torch.exp(a * x) - torch.exp(0.7 * x)).pow(2).mean()
        loss.backward()
        return loss

    for step in range(3):
        optimizer.zero_grad()
        optimizer.step(closure)
    """

OWN_NAME = """\
    import torch
    w, b = torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)
    for step in range(6):
        loss = (torch.randn(8, 3) @ w + b).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                UPDATE
                p_seen = p.grad.norm().item()
        w.grad = b.grad = None
    """

WEIGHED = """\
    import torch
    from torch import nn
    body = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
    for step in range(4):
        out = body(torch.randn(8, 3))
        policy = torch.distributions.Categorical(logits=out[:, :2])
        action, value = policy.sample(), out[:, 2]
        advantage = torch.randn(8) - value
        loss = -(policy.log_prob(action) * GIVEN).mean() + advantage.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

CURIOUS = """\
    import torch
    from torch import nn
    guess, value = nn.Linear(3, 3), nn.Linear(3, 1)
    both, gamma = [*guess.parameters(), *value.parameters()], 0.9
    optimizer = torch.optim.SGD(both, lr=0.1)
    for step in range(4):
        seen, then = torch.randn(8, 3), torch.randn(8, 3)
        surprise = (guess(seen) - then).pow(2).sum(1)
        rewards = surprise
        returns = rewards + LATER
        loss = nn.functional.mse_loss(value(seen)[:, 0], returns) + surprise.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

COPIED = """\
    import torch
    from torch import nn
    scores = nn.Linear(3, 5)
    optimizer = torch.optim.SGD(scores.parameters(), lr=0.1)
    rows = torch.arange(8)
    for step in range(4):
        now, best = scores(torch.randn(8, 3)), scores(torch.randn(8, 3)).amax(1)
        goal = now.COPY
        goal[rows, torch.randint(5, (8,))] = torch.randn(8) + 0.9 * best
        loss = nn.functional.mse_loss(now, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

AS_SENT = {"mode": "trace", "gradients": True}


@pytest.mark.parametrize(
    ("script", "pattern", "line", "text"),
    [
        (FLAGGED, "detached-loss", 8, "cross_entropy(scores, y)"),
        (
            LISTED.replace("PARTS", "[nn.Linear(4, 1) for _ in range(2)]"),
            "starved-parameter",
            14,
            "nn.ModuleList([nn.Linear(4, 1) for _ in range(2)])",
        ),
        (PILED.replace("INSIDE", "pass"), "missing-zero-grad", 8, "optimizer.zero_grad()"),
        (
            OWN_NAME.replace("UPDATE", "p = p - 0.1 * p.grad").replace("p_seen = p.grad", "q = w"),
            "leaf-rebound",
            8,
            "p -= 0.1 * p.grad",
        ),
        (WEIGHED.replace("GIVEN", "advantage"), "undetached-target", 9, ".detach()"),
        (CURIOUS.replace("LATER", "gamma * torch.randn(8)"), "undetached-target", 10, ".detach()"),
        (COPIED.replace("COPY", "clone()"), "undetached-target", 9, "goal.detach()"),
    ],
)
def test_what_hides_a_fault_is_reported_with_its_repair(
    traced: Tracing, script: str, pattern: str, line: int, text: str
) -> None:
    found = recognise(traced, script) or recognise(traced, script, AS_SENT)
    assert found is not None
    assert (found.match.pattern, found.match.location.line) == (pattern, line)
    assert any(text in found.files(one)["train.py"] for one in found.proposals)


@pytest.mark.parametrize(
    "script",
    [
        LISTED.replace("PARTS", "nn.ModuleList([nn.Linear(4, 1) for _ in range(2)])"),
        PILED.replace("INSIDE", "optimizer.zero_grad()"),
        OWN_NAME.replace("UPDATE", "p -= 0.1 * p.grad"),
        OWN_NAME.replace("UPDATE", "pass"),  # it wants the gradients alone
        WEIGHED.replace("GIVEN", "advantage.detach()"),
        CURIOUS.replace("LATER", "torch.randn(8)"),  # two that learn to meet, for all that it says
        COPIED.replace("COPY", "detach().clone()").replace("best\n", "best.detach()\n"),
    ],
)
def test_what_does_the_like_on_purpose_is_not_reported(traced: Tracing, script: str) -> None:
    assert recognise(traced, script) is None
    assert recognise(traced, script, AS_SENT) is None


HIDDEN = """
import torch
torch.manual_seed(0)
raw = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([raw], lr=0.1)
scale = raw.exp()
for step in range(6):
    INSIDE
    optimizer.zero_grad()
    loss = (scale * torch.randn(3)).pow(2).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
"""


@pytest.mark.parametrize(("inside", "raises"), [("pass", True), ("scale = raw.exp()", False)])
def test_a_graph_that_is_kept_past_a_step_is_met_again_once_it_is_freed(
    traced: Tracing, inside: str, raises: bool
) -> None:
    script = HIDDEN.replace("INSIDE", inside)
    kept = traced(script).trace
    assert any(record.stale for record in kept.backwards) is raises
    line = kept.backwards[0].call.at.line
    freed = traced(script, freeing=[("train.py", line)]).trace
    assert (freed.reuse is not None) is raises
