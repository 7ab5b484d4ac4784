"""What an operator writes at a site, and where it writes nothing: by the text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from textwrap import dedent

import pytest

from analyzers.evidence import SilentFault
from analyzers.explain.bootstrap_targets import BootstrapTarget
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.cut.constants import constant
from analyzers.repair.reconnect.expecting import in_expectation
from analyzers.repair.reconnect.frozen_modules import frozen_whole
from analyzers.repair.reconnect.gradless import cleared_if_there
from analyzers.repair.reconnect.resampling import sampled
from analyzers.repair.reschedule.clearing import clear_after_ascent, optimizer_stepped
from analyzers.repair.value_only.histories import evaluated_without_graph
from analyzers.source.edits import apply
from analyzers.source.project import Project
from analyzers.source.recording import recorded
from provenance import CodeLine


def at(text: str, statement: str) -> tuple[SourceLocation, Project]:
    """The first statement that begins so, in a project of one file."""
    project = Project({"train.py": dedent(text)}, "train.py")
    module = project.modules["train.py"]
    nodes = [n for n in ast.walk(module.tree) if isinstance(n, ast.stmt)]
    node = next(n for n in nodes if ast.unparse(n).startswith(statement))
    return SourceLocation(module, node, CodeLine("train.py", node.lineno)), project


def written(where: SourceLocation, proposals: Iterable[Proposal]) -> list[str]:
    """For each proposal the lines that it brings, without those that were there."""
    old = where.module.text.splitlines()
    texts = (apply(where.module.text, [*proposal.edits]).splitlines() for proposal in proposals)
    return ["; ".join(line.strip() for line in text if line not in old) for text in texts]


PEAK = "import torch\ndef read(heat, grid):\n    flat = heat.flatten(1)\n    i = flat.argmax(-1)\n"
WEIGHED = [
    ("    return grid[i]", "i = flat.softmax(dim=-1); places = torch.arange(i.shape[-1]); "
     "return i @ grid[places]"),
    ("    x, y = i % 8, i // 8\n    return x + y", "i = flat.softmax(dim=-1); "
     "places = torch.arange(i.shape[-1]); "
     "x, y = (i @ (places % 8).float(), i @ (places // 8).float())"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "text"), WEIGHED)
def test_a_place_is_read_in_expectation(read: str, text: str) -> None:
    where, _ = at(PEAK + read, "i = ")
    (first,) = written(where, in_expectation(where))
    assert first.replace("(", "").replace(")", "") == text.replace("(", "").replace(")", "")


@pytest.mark.parametrize(
    "read",
    [
        "    return (i == 3).float()",
        "    heat[0, i] = 1\n    return grid[i]",
        "    for k in i:\n        print(k)\n    return grid[i]",
        "    print(i)\n    return grid[i]",
    ],
)
def test_a_place_that_has_no_expected_value_stays(read: str) -> None:
    where, _ = at(PEAK + read, "i = ")
    assert written(where, in_expectation(where)) == []


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        ("Normal(net(x), 1)", ["z = dist.rsample()"]),
        ("Independent(Normal(net(x), 1), 1)", ["z = dist.rsample()"]),
        ("Categorical(logits=net(x))", []),
        ("Independent(Bernoulli(net(x)), 1)", []),
    ],
)
def test_only_what_has_such_samples_is_sampled_with_a_gradient(
    made: str, wanted: list[str]
) -> None:
    where, _ = at(f"dist = {made}\nz = dist.sample()\n", "z = ")
    assert written(where, sampled(where)) == wanted


HEADS = [
    ("with torch.no_grad():", False),
    ("with torch.inference_mode():", False),
    ("with torch.set_grad_enabled(False):", False),
    ("with torch.set_grad_enabled(True):", True),
    ("with torch.set_grad_enabled(phase == 'train'):", True),
    ("with torch.inference_mode(False):", True),
    ("with nullcontext() if train else torch.no_grad():", True),
    ("with torch.no_grad(), torch.enable_grad():", True),
    ("with torch.enable_grad(), torch.no_grad():", False),
    ("with torch.inference_mode(mode=False):", True),
    ("with torch.set_grad_enabled(mode=False):", False),
    ("with torch.set_grad_enabled(0):", False),
    ("with open('no_grad.txt'):", True),
    ("@torch.no_grad()\ndef f():", False),
    ("@torch.no_grad()\n@torch.enable_grad()\ndef f():", True),
]


@pytest.mark.parametrize(("head", "wanted"), HEADS)
def test_what_stands_around_says_whether_a_place_is_recorded(head: str, wanted: bool) -> None:
    where, _ = at(f"{head}\n    y = net(x)\n", "y = ")
    assert recorded(where.module, where.statement) is wanted


def test_the_innermost_switch_counts() -> None:
    text = "with torch.no_grad():\n    with torch.enable_grad():\n        y = net(x)\n"
    where, _ = at(text, "y = ")
    assert recorded(where.module, where.statement)


EVALUATED = """\
import torch
def evaluate(net, batches):
    seen = []
    for x in batches:
        seen.append(net(x))
    return seen

def fit(net, batches):
    for x in batches:
        net(x).sum().backward()
evaluate(net, batches)
"""


def fault_at(where: SourceLocation) -> SilentFault:
    return SilentFault("growing-graph", "observed", where.place)


def test_an_evaluation_runs_without_graphs() -> None:
    where, project = at(EVALUATED, "seen.append")
    first = written(where, evaluated_without_graph(fault_at(where), project))
    assert first == ["@torch.no_grad()"]


@pytest.mark.parametrize(
    "text",
    [
        EVALUATED.replace("    return seen", "    sum(seen).sum().backward()"),
        EVALUATED.replace("def evaluate", "async def evaluate"),
    ],
    ids=["it walks itself", "it is no plain function"],
)
def test_what_may_come_to_a_backward_keeps_its_graphs(text: str) -> None:
    where, project = at(text, "seen.append")
    block = "with torch.no_grad():; for x in batches:; seen.append(net(x))"
    assert written(where, evaluated_without_graph(fault_at(where), project)) == [block]


@pytest.mark.parametrize(
    ("behind", "at_line"),
    [
        ("out = backbone(x)", 2),
        ("head = Linear(2, 2)\nopt = SGD(head.parameters())\nout = head(backbone(x))", None),
        ("backbone.fc = Linear(2, 2)\nopt = SGD(backbone.fc.parameters())\nout = backbone(x)", 2),
    ],
    ids=["all of it", "what is called behind it learns", "a head that nobody calls"],
)
def test_a_freezing_loop_is_a_cause_where_all_is_frozen(behind: str, at_line: int | None) -> None:
    text = f"for p in backbone.parameters():\n    p.requires_grad = False\n{behind}\n"
    place = frozen_whole(at(text, "for")[1])
    assert (place.line if place is not None else None) == at_line


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("opt.step()", "opt"),
        ("opt.step(closure)", "opt"),
        ("opt.step(again)", "opt"),
        ("opt.step(self.closure)", "opt"),
        ("scaler.step(self.opt)", "self.opt"),
        ("self.precision.step(opt)", "opt"),
        ("self.precision.step(adam)", "adam"),
        ("scale_opt.step(again)", "scale_opt"),
    ],
)
def test_what_is_stepped_is_an_optimizer(step: str, name: str) -> None:
    text = f"again = self.closure\nadam = Adam(net.parameters())\n{step}\nopt.zero_grad()\n"
    where, _ = at(text, step[:8])
    assert optimizer_stepped(where) == name


ASCENT = """\
class SAM(Optimizer):
    def climb(self): pass
def first():
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.climb()
    time.sleep(1)
    (net(x) - y).square().mean().backward()
"""


def test_only_what_climbs_is_cleared_behind_an_ascent() -> None:
    where, project = at(ASCENT, "(net(x) - y).square().mean().backward")
    assert written(where, clear_after_ascent(where, project)) == ["opt.zero_grad()"]


def test_gradients_are_cleared_where_there_are_any() -> None:
    text = "for x in data:\n    a.grad.zero_()\n    w.grad.zero_()\n    b.grad.data.zero_()\n"
    where, _ = at(text, "w.")
    (text,) = written(where, cleared_if_there(where))
    assert text == (
        "if w.grad is not None:; w.grad.zero_(); if b.grad is not None:; b.grad.data.zero_()"
    )
    elsewhere, _ = at("w.zero_()\n", "w.")
    assert not [*cleared_if_there(elsewhere)]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("target = r + g * net(s).mean()", "target = (r + g * net(s).mean()).detach()"),
        ("logits, target = net(s), r + g * net(s).mean()",
         "logits, target = net(s), (r + g * net(s).mean()).detach()"),
        ("target, best = bellman(net, s)", "with torch.no_grad():; target, best = bellman(net, s)"),
        ("logits, target = both(net, s)", "loss = mse(q, target.detach()) + entropy(logits, a)"),
    ],
)  # fmt: skip
def test_a_target_is_made_a_constant_where_only_it_is_made(made: str, text: str) -> None:
    loss = "mse(q, target)" + (" + entropy(logits, a)" if "logits" in made else "")
    where, project = at(f"import torch\n{made}\nloss = {loss}\nloss.backward()\n", "loss = ")
    statement = next(
        n for _, n in project.each(ast.Assign) if "target" in ast.unparse(n.targets[0])
    )
    call = next(n for _, n in project.each(ast.Call) if ast.unparse(n.func) == "mse")
    first, *_ = written(where, constant(BootstrapTarget(where, call.args[1], statement)))
    assert first == text
