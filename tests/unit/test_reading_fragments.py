"""Parts of a program that is known to fail: moved left, suspected, and patched where they stood."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzers.request.causes import RankedCause, classify
from analyzers.request.examine import examine
from analyzers.source.project import Project

LEARN = """\
def learn(self, memory):
    obs, reward = (torch.as_tensor(part).float() for part in memory.sample(32))
    values = self.critic(obs)
    actor_loss = -self.critic(self.actor(obs)).mean()
    critic_loss = F.mse_loss(values, reward)
    self.descend(self.critic_optim, critic_loss)
    self.descend(self.actor_optim, actor_loss)

@staticmethod
def descend(optim, loss):
    optim.zero_grad()
    loss.backward()
    optim.step()
"""
ERROR = "RuntimeError: Trying to backward through the graph a second time"
TOTAL = """\
total = 0
for x, y in loader:
    total += loss_fn(net(x), y)
    opt.zero_grad()
    total.backward()
    opt.step()
"""
METHOD = """\
def training_step(self, batch, batch_idx):
    z, self.memory = self.encoder(batch, self.memory)
    return self.head(z).mean()
"""
AGENT = """\
class Agent:
    def act(self, obs):
        dist = Categorical(self.policy(obs))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        return action

    def learn(self):
        loss = 0
        for r, log_prob in zip(self.rewards, self.log_probs):
            loss = loss - r * log_prob
        loss.backward()
        self.optimizer.step()
        self.rewards = []
"""


BY_NAME = """\
class Trainer:
    def losses(self, x):
        z = self.trunk(x)
        return {"size": F.l1_loss(self.size(z), x), "kind": F.mse_loss(self.kind(z), x)}

    def step(self, x):
        losses = self.losses(x)
        for name, loss in losses.items():
            self.optims[name].zero_grad()
            loss.backward()
            self.optims[name].step()
"""


def explained(script: str, error: str = ERROR) -> list[RankedCause]:
    examined = examine(script, "train.py", {}, error)
    assert examined.problem is None
    assert examined.reading.evidence == ()
    return classify(Project(examined.files), examined.reading.suspected)


@pytest.mark.parametrize(
    ("script", "pattern", "line", "carrier"),
    [
        (TOTAL, "accumulated-loss", 3, "total"),
        (METHOD, "recurrent-state", 2, "self.memory"),
        (AGENT, "stored-graph", 5, "self.log_probs"),
        (BY_NAME, "shared-subgraph", 10, "z"),
    ],
)
def test_a_known_error_is_explained(script: str, pattern: str, line: int, carrier: str) -> None:
    first = explained(script)[0]
    assert (first.pattern, first.location.line) == (pattern, line)
    assert first.carrier is not None
    assert first.carrier.name == carrier


INPLACE = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation"
)
LEAF = "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
FLAT = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
NUMPY = "RuntimeError: Can't call numpy() on Tensor that requires grad."
NONLEAF = "ValueError: can't optimize a non-leaf Tensor"


@pytest.mark.parametrize(
    ("script", "error", "pattern", "line"),
    [
        (
            "h = self.sigmoid(self.norm(x))\nh *= self.gate(x)\nreturn self.out(h)\n",
            INPLACE,
            "inplace-activation",
            2,
        ),
        (
            "d = (D(real) - D(G(z).detach())).mean()\ng = -D(G(z)).mean()\n"
            "d.backward()\noptD.step()\ng.backward()\n",
            INPLACE,
            "step-between-backwards",
            4,
        ),
        (LEARN, INPLACE, "step-between-backwards", 13),
        (
            LEARN.replace("@staticmethod\n", "").replace("(optim", "(self, optim"),
            INPLACE,
            "step-between-backwards",
            12,
        ),
        (
            "loss = ((X @ w - y) ** 2).mean()\nloss.backward()\nw -= lr * w.grad\n",
            LEAF,
            "inplace-leaf",
            3,
        ),
        (
            "p = torch.argmax(head(x), 1).float()\nloss = F.mse_loss(p, y)\nloss.backward()\n",
            FLAT,
            "detached-loss",
            1,
        ),
        ("plt.plot(model(x).numpy())\n", NUMPY, "numpy-on-grad", 1),
        (
            "z = torch.randn(3, requires_grad=True).to(device)\nopt = torch.optim.Adam([z])\n",
            NONLEAF,
            "nonleaf-grad",
            1,
        ),
    ],
)
def test_tensors_are_guessed(script: str, error: str, pattern: str, line: int) -> None:
    first = explained(script, error)[0]
    assert (first.pattern, first.location.line) == (pattern, line)


CLIMBING = """\
def refine(energy, x):
    x = x.clone().requires_grad_(True)
    for _ in range(60):
        g, = torch.autograd.grad(energy(x).sum(), x)
        with torch.no_grad():
            x -= 10 * g
    return x.detach()

loss = energy(batch).mean() - energy(refine(energy, buffer.sample(8))).mean()
loss.backward()
"""


WANDERING = """\
def langevin(E, x, steps=60, noise=0.005):
    for _ in range(steps):
        g, = torch.autograd.grad(E(x).sum(), x)
        with torch.no_grad():
            x += noise * torch.randn_like(x)

langevin(E, buffer.sample(8))
"""


@pytest.mark.parametrize("script", [TOTAL, METHOD, AGENT, CLIMBING, WANDERING])
def test_nothing_is_suspected_without_an_error(script: str) -> None:
    reading = examine(script, "train.py", {}, "").reading
    assert (reading.evidence, reading.suspected) == ((), ())


def test_an_error_of_another_kind_is_not_explained_by_a_reuse() -> None:
    error = (
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
    )
    assert explained(TOTAL, error) == []


def test_a_traceback_speaks_where_reading_finds_nothing() -> None:
    script = "def update(p, lr):\n    p -= lr * p.grad\n"
    error = dedent("""\
        Traceback (most recent call last):
          File "fit.py", line 2, in update
            p -= lr * p.grad
        RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.
    """)
    assert [(c.pattern, c.location.line) for c in explained(script, error)][:1] == [
        ("inplace-leaf", 2)
    ]
    assert explained("x = 1\n" + script, error)[0].location.line == 3  # found by its code
    assert explained("x = 1\n", error) == []
