"""Fragments of a program that is known to fail: moved left, cells, and their untested patches."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent

import pytest

from analyzers.evidence import GraphReuse, MissingGraph
from analyzers.paste import legible
from analyzers.reading import read
from analyzers.request.causes import Candidate, classify
from analyzers.request.examine import examine
from analyzers.request.static_recheck import sound
from analyzers.source.project import Project
from provenance import CodeLine
from tests.unit.test_reading_fragments import AGENT, BY_NAME, ERROR, TOTAL, explained

SILENCED = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
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
