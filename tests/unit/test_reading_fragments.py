"""Parts of a program that is known to fail: moved left, suspected, and patched where they stood."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent, indent

import pytest

from analyzers.evidence import GraphReuse, MissingGraph
from analyzers.paste import legible
from analyzers.reading import read
from analyzers.request.causes import Candidate, RankedCause, classify
from analyzers.request.examine import examine
from analyzers.request.static_recheck import sound
from analyzers.source.project import Project
from provenance import CodeLine

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
SILENCED = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
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
POWERS = """\
class Powers(nn.Module):
    def __init__(self, nodes):
        super().__init__()
        self.near = nn.Parameter(torch.randn(nodes, nodes))
        hop = torch.softmax(self.near, 1)
        self.hops = [hop]
        for _ in range(2):
            self.hops.append(self.hops[-1] @ hop)

    def forward(self, x):
        return sum(hop @ x for hop in self.hops)
"""
COPIED = """\
for tray in trays:
    terms = []
    for seed, size in tray:
        terms.append(criterion(net(seed), size))
    loss = torch.tensor(terms, requires_grad=True).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
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


@pytest.mark.parametrize("cut", [False, True])
def test_an_indented_fragment_is_moved_left_and_back(cut: bool) -> None:
    sent = indent(TOTAL, " " * 8)
    sent = sent.lstrip() if cut else sent
    if cut:
        sent = "total = 0\n" + indent(TOTAL.partition("\n")[2], " " * 8)
    fragment = legible(sent)
    assert fragment is not None
    assert fragment.text == TOTAL
    assert fragment.back(fragment.text) == sent
    longer = fragment.text.replace("    opt.step()\n", "    opt.step()\n    n += 1\n")
    assert fragment.back(longer).endswith("            opt.step()\n            n += 1\n")


def test_patches_that_cannot_be_run_leave_what_learns_learning() -> None:
    project = Project({"train.py": AGENT})
    evidence = read(project, suspecting="graph-reuse").evidence
    candidates = classify(project, evidence)[0].candidates
    kept = sound(project, candidates, suspecting="graph-reuse")
    assert kept[0].strategy == "empty-list"
    assert "self.log_probs = []" in kept[0].files["train.py"]
    assert any(c.strategy.startswith("detach") for c in candidates if c not in kept)


def test_no_untested_patch_of_a_notebook_cuts_its_loss() -> None:
    text = (
        "import torch\nnet = torch.nn.Linear(2, 1)\nloss = net(torch.ones(2)).sum()\n"
        "loss.backward()\nprint(loss)\n"
    )
    project = Project({"train.py": text}, notebook=True)

    def candidate(before: str, after: str) -> Candidate:
        files = {"train.py": text.replace(before, after)}
        return Candidate("notebook-rerun", "s", "Do it", files, "", 0)

    harmless = candidate("print(loss)", "print(loss.item())")
    cuts = [candidate(".sum()", ".sum().detach()"), candidate("loss.b", "loss.detach().b")]
    assert sound(project, [*cuts, harmless], fixing=False) == [harmless]


CELLS = """\
The second cell works once, and never again.

# %% [4]
loss = net(x).pow(2).mean()

# %% [5]
opt.zero_grad()
loss.backward()
opt.step()

RuntimeError                              Traceback (most recent call last)
Cell In[9], line 2
      1 opt.zero_grad()
----> 2 loss.backward()
      3 opt.step()

RuntimeError: Trying to backward through the graph a second time
"""


@pytest.mark.parametrize("count", [9, 5])
def test_a_cell_that_an_error_counts_again_ran_again(count: int) -> None:
    found = examine(CELLS.replace("In[9]", f"In[{count}]"), "notes.py", {}, "")
    assert "# %% [5]\n" in found.project.files["notes.py"]
    again = count == 9
    assert found.project.rerun == ({"In[5]"} if again else set())
    causes = [(c.pattern, c.location.line) for c in classify(found.project, found.reading.evidence)]
    assert causes[:1] == ([("notebook-rerun", 8)] if again else [])


def test_what_a_constructor_made_is_no_state_of_a_loop_that_was_not_sent() -> None:
    examined = examine(POWERS, "train.py", {}, ERROR)
    (piece,) = examined.reading.suspected
    assert isinstance(piece, GraphReuse)
    loop = CodeLine("loop.py", 4, "<module>")
    freed, reached = (replace(v, at=loop, stack=(loop,)) for v in (piece.freed, piece.reached))
    causes = classify(
        Project(examined.files), (replace(piece, freed=freed, reached=reached, how="confirmed"),)
    )
    assert causes[0].pattern == "derived-outside-loop"


def test_losses_by_name_are_run_backward_once_and_stepped_behind() -> None:
    first = explained(BY_NAME)[0].candidates[0]
    assert first.strategy == "sum-then-step"
    body = first.files["train.py"].split("for name, loss in losses.items():", 1)[1]
    assert body.index("zero_grad()") < body.index("total_loss.backward()") < body.index(".step()")


def test_a_copy_that_was_made_a_leaf_is_where_the_gradient_ends() -> None:
    first = explained(COPIED, SILENCED)[0]
    assert (first.pattern, first.location.line) == ("detached-loss", 5)
    assert "torch.stack(terms).mean()" in first.candidates[0].files["train.py"]


@pytest.mark.parametrize(
    "leaf",
    [
        "torch.tensor(measured, requires_grad=True)",  # numbers: a leaf that is meant
        "torch.tensor(terms, requires_grad=True) + criterion(net(tray), 1)",  # another way is left
    ],
)
def test_a_leaf_is_not_blamed_where_a_gradient_gets_through(leaf: str) -> None:
    script = COPIED.replace("torch.tensor(terms, requires_grad=True)", f"({leaf})")
    examined = examine(script, "train.py", {}, SILENCED)
    assert not any(
        cause.location.line == 5
        for cause in classify(Project(examined.files), examined.reading.suspected)
    )


def test_only_a_clone_that_adapts_itself_is_one_of_results() -> None:
    text = (
        "learner = meta.clone()\n"
        "for weight in learner.parameters():\n"
        "    weight.requires_grad = False\n"
        "step(learner, criterion(learner(x), y))\n"
        "criterion(learner(x), y).backward()\n"
    )
    assert not read(Project({"a.py": text}, "a.py")).evidence
    adapted = text.replace("step(learner, ", "learner.adapt(")
    (found,) = read(Project({"a.py": adapted}, "a.py")).evidence
    assert isinstance(found, MissingGraph)
    assert found.at is not None
    assert found.at.line == 3
