"""Edits from evidence alone: where each transform applies, what it writes, what comes first."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.evidence import Evidence, KnownError, MissingGraph
from analyzers.reading import read
from analyzers.repair.edit_search.transform import edits_for, transforms
from analyzers.request.explaining import patched
from analyzers.source.project import Project
from provenance import CodeLine

NET = """\
import torch
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = "for x in torch.ones(5, 4, 2):\n"


def script(*lines: str, before: str = "") -> str:
    """A training whose iterations run these lines, between the clearing and the step."""
    body = [*lines[:-1], "opt.zero_grad()", lines[-1], "opt.step()"]
    return NET + before + LOOP + textwrap.indent("\n".join(body) + "\n", "    ")


PRIOR = script(
    "loss = net(x).mean() + prior",
    "loss.backward()",
    before="prior = net.weight.pow(2).sum()\n",
)
SHARED = script(
    "out = net(x).exp()",
    "first, second = out.mean(), out.pow(2).mean()",
    "first.backward()\nsecond.backward()",
)
TWICE = script("loss = net(x).pow(2).mean()", "loss.backward(); loss.backward()")
TOTAL = script("total = total + net(x).pow(2).mean()", "total.backward()", before="total = 0\n")
STATE = script(
    "state = torch.tanh(net(x + state))",
    "state.pow(2).mean().backward()",
    before="state = torch.zeros(4, 2)\n",
)
WRITTEN = script("out = net(x).exp()", "out += 1", "out.mean().backward()")
LEAF = """\
import torch
w = torch.ones(3, requires_grad=True)
for x in torch.ones(5, 3):
    (w * x).sum().backward()
    w -= 0.1 * w.grad
"""
LOST = script("loss = torch.tensor(net(x).mean().item())", "loss.backward()")
STEPPED = script(
    "out = net(x)",
    "first = head(out).mean()",
    "second = head(out).pow(2).mean()",
    "first.backward(retain_graph=True)\nother.step()\nsecond.backward()",
    before="head = torch.nn.Linear(2, 1)\nother = torch.optim.SGD(head.parameters(), lr=0.1)\n",
)
SLOPE = script(
    "x.requires_grad_()",
    "loss = net(x).pow(2).mean()",
    "(slope,) = torch.autograd.grad(loss, x)",
    "(loss + slope.pow(2).sum()).backward()",
)


def found_in(text: str) -> tuple[Project, Evidence]:
    """The project, and what static analysis predicts of its failure."""
    project = Project({"train.py": text}, "train.py")
    return project, read(project).evidence[0]


@pytest.mark.parametrize(
    ("text", "transform", "line"),
    [
        (PRIOR, "repeat", "prior = net.weight.pow(2).sum()"),
        (PRIOR, "inline", "loss = net(x).mean() + net.weight.pow(2).sum()"),
        (SHARED, "combine", "(first + second).backward()"),
        (SHARED, "repeat", "out = net(x).exp()"),
        (TWICE, "drop", "loss.backward()"),
        (TOTAL, "combine", "total = 0"),
        (TOTAL, "reset", "total = 0"),
        (STATE, "cut", "state = state.detach()"),
        (STATE, "reset", "state = torch.zeros(4, 2)"),
        (WRITTEN, "out_of_place", "out = out + 1"),
        (LEAF, "leaf", "with torch.no_grad():"),
        (LOST, "uncut", "loss = net(x).mean()"),
        (SLOPE, "keep_graph", "(slope,) = torch.autograd.grad(loss, x, create_graph=True)"),
    ],
)
def test_a_transform_writes_its_edit(text: str, transform: str, line: str) -> None:
    project, evidence = found_in(text)
    first = next(transforms()[transform].edits(evidence, project))
    after = patched(project, first)["train.py"].splitlines()
    assert after.count(f"    {line}") > text.splitlines().count(f"    {line}"), after


def test_the_step_goes_behind_the_backward_or_the_forward_behind_the_step() -> None:
    project, evidence = found_in(STEPPED)
    for transform, later in (("move", "other.step()"), ("repeat", "second = head")):
        first = next(transforms()[transform].edits(evidence, project))
        after = patched(project, first)["train.py"].splitlines()
        earlier = "second.backward()" if transform == "move" else "other.step()"
        numbers = [n for n, line in enumerate(after) if line.strip().startswith((earlier, later))]
        assert [after[n].strip()[:11] for n in numbers] == [earlier[:11], later[:11]]


def test_the_cheapest_comes_first_and_the_last_resort_last() -> None:
    project, evidence = found_in(SHARED)
    found = edits_for(evidence, project)
    assert found[0].title == "Call backward once, on the sum"
    assert [one.last_resort for one in found] == sorted(one.last_resort for one in found)
    assert any("retain_graph" in edit.text for edit in found[-1].edits)


@pytest.mark.parametrize(("text", "kept"), [(TWICE, False), (SHARED, True)])
def test_the_graph_of_a_loss_that_counts_twice_is_not_kept(text: str, kept: bool) -> None:
    project, evidence = found_in(text)
    assert any(transforms()["keep_graph"].edits(evidence, project)) == kept


def test_within_an_iteration_no_loss_is_taken_from_what_both_train() -> None:
    project, evidence = found_in(SHARED)
    cuts = [*transforms()["cut"].edits(evidence, project)]
    assert cuts
    assert all(one.last_resort for one in cuts)


@pytest.mark.parametrize("text", [PRIOR, SHARED, STATE, WRITTEN, LEAF, LOST, STEPPED])
def test_all_edits_give_python(text: str) -> None:
    project, evidence = found_in(text)
    for one in edits_for(evidence, project):
        compile(patched(project, one).get("train.py", ""), "train.py", "exec")


@pytest.mark.parametrize("name", sorted(transforms()))
def test_a_transform_says_what_it_does_and_leaves_other_evidence_alone(name: str) -> None:
    transform = transforms()[name]
    assert transform.__doc__
    assert "`" in transform.__doc__  # with an example
    other = KnownError("sizes", "sizes", "observed", "The size of tensor a must match")
    assert not [*transform.edits(other, Project({"train.py": WRITTEN}, "train.py"))]


def test_a_write_for_the_caller_is_not_given_a_tensor_of_its_own() -> None:
    seen_later = "def shift(t):\n    t.add_(1)\n    return t\n"
    text = NET + seen_later + LOOP
    text += "    out = net(x).exp()\n    shift(out)\n    out.mean().backward()\n"
    project, evidence = found_in(text)
    assert "    t = t.add(1)" in _written(project, evidence)
    unseen = text.replace("    return t\n", "")
    project, evidence = found_in(unseen)
    assert "    t = t.add(1)" not in _written(project, evidence)
    assert "    out = net(x).exp().clone()" in _written(project, evidence)


def test_nor_where_a_loop_writes_for_the_caller() -> None:
    rows = "def shift(t):\n    for i in range(4):\n        t[i] += 1\n"
    text = NET + rows + LOOP
    text += "    out = net(x).exp()\n    shift(out)\n    out.mean().backward()\n"
    written = _written(*found_in(text))
    assert not any("t.clone()" in line for line in written)
    assert "    out = net(x).exp().clone()" in written


def test_a_switch_that_depends_on_an_argument_is_scoped() -> None:
    switched = "def run(x, train):\n    torch.set_grad_enabled(train)\n    return net(x).mean()\n"
    text = NET + switched + "run(torch.ones(4, 2), False)\n" + LOOP
    text += "    net(x).mean().backward()\n"
    project = Project({"train.py": text}, "train.py")
    lost = MissingGraph("observed", at=CodeLine("train.py", 9), lost_by="no_grad")
    texts = [patched(project, one)["train.py"] for one in edits_for(lost, project)]
    assert any("    with torch.set_grad_enabled(train):\n        return" in text for text in texts)


def _written(project: Project, evidence: Evidence) -> list[str]:
    """Every line of every edit that writes out of place."""
    found = transforms()["out_of_place"].edits(evidence, project)
    texts = [patched(project, one).get("train.py", "") for one in found]
    return [line for text in texts for line in text.splitlines()]
