"""Repairs that say what a script means: one backward call for all parts, its own reset made whole,
a critic's forward repeated on constants, a leaf that is asked for, plain numbers, rows of
tensors."""

from __future__ import annotations

import ast

import pytest

from analyzers.repair.rewrite import sum_in_loop
from analyzers.source.edits import Editor, apply
from analyzers.source.project import Project
from tests.fixing import recognise
from tests.repair_scripts.losses import (
    BOUND_TOO_EARLY,
    CLASSES_BY_ALIAS,
    CLIPPED_PARTS,
    CRITIC_BEHIND,
    CUT_FOR_BOTH,
    EACH_OF_ONE_FORWARD,
    GATHERED,
    METERS_BY_NAME,
    TARGET_IN_CLOSURE,
    THREE_BY_TURNS,
)
from tests.repair_scripts.numbers import (
    LOSSES_IN_NUMPY,
    MEAN_RECOMPUTED,
    NUMBERS_AND_TENSORS,
    ROWS_APPENDED,
    ROWS_OF_NUMBERS,
    ROWS_WRITTEN,
    SUMS_IN_NUMPY,
    TRAVERSED_NUMBERS,
)
from tests.repair_scripts.weights import (
    ASKED_FOR,
    BEST_RECORD,
    BLENDED,
    CODES_HANDED_ON,
    COPIED_UNDER_ANY_KEY,
    DROPPED_BY_WRAPPER,
    HANDED_BACK,
    LOADED_COPY,
    MADE_AHEAD,
    RESET_OF_CHILDREN,
    STEPPED_COPY,
    UNROLLED,
    UNROLLED_BY_NAME,
)
from tests.tracing import Tracing


@pytest.mark.parametrize(
    ("script", "strategy", "line"),
    [
        (CLIPPED_PARTS, "walk-in-front", "loss.backward()"),
        (RESET_OF_CHILDREN, "reset-all-layers", "for layer in net.modules():"),
        (CRITIC_BEHIND, "fresh-forward", "score = critic(code.detach())"),
        (
            ASKED_FOR,
            "new-leaf",
            "held = {name: value.detach().requires_grad_() for name, value in weights.items()}",
        ),
        (GATHERED, "empty-gathered", "agent.chances.clear()"),
        (GATHERED, "empty-gathered", "agent.gains.clear()"),
        (METERS_BY_NAME, "detach-when-stored", "self.total += (2 * value).detach()"),
        (HANDED_BACK, "update-in-place", "w -= 0.1 * w.grad"),
        (
            HANDED_BACK,
            "new-leaf",
            "return {name: (w - 0.1 * w.grad).detach().requires_grad_()"
            " for name, w in weights.items()}",
        ),
        (NUMBERS_AND_TENSORS, "store-number", "curve.append(float(error))"),
        (
            ROWS_OF_NUMBERS,
            "keep-graph",
            "return torch.stack([torch.stack([c, -s, torch.zeros_like(c)]), "
            "torch.stack([s, c, torch.full_like(c, 0.5)]), "
            "torch.stack([torch.zeros_like(c), torch.zeros_like(c), torch.ones_like(c)])])",
        ),
        (
            TRAVERSED_NUMBERS,
            "keep-graph",
            "for part, scale in zip(parts, self.scales):",
        ),
        (TRAVERSED_NUMBERS, "keep-graph", "total = total + torch.exp(-scale) * part + scale"),
        (MADE_AHEAD, "property", "return self.marks.repeat(steps).tanh()"),
        (MADE_AHEAD, "property", "self.size = size"),
        (
            CLASSES_BY_ALIAS,
            "cross-entropy",
            "loss = tnn.functional.cross_entropy(scores, labels)",
        ),
        (
            TARGET_IN_CLOSURE,
            "detach-at-definition",
            "self.wanted = features.pow(2).mean(0).detach()",
        ),
        (
            COPIED_UNDER_ANY_KEY,
            "new-leaf",
            "mean[key] = (sum(one[key] for one in sent) / len(sent)).detach().requires_grad_()",
        ),
        (
            BLENDED,
            "functional-call",
            "loss = torch.func.functional_call(net, blended, (torch.randn(4, 2),)).pow(2).mean()",
        ),
        (
            STEPPED_COPY,
            "functional-call",
            "loss = (torch.func.functional_call(model, learner, (x,)) - y).pow(2).mean()",
        ),
        (
            STEPPED_COPY,
            "functional-call",
            "grads = torch.autograd.grad(loss, list(learner.values()), create_graph=True)",
        ),
        (
            STEPPED_COPY,
            "functional-call",
            "loss = (torch.func.functional_call(net, fast, (x[4:],)) - y[4:]).pow(2).mean()",
        ),
        (
            STEPPED_COPY.replace("0.1 * p.grad", "0.1 * p.grad + 0.01 * p"),
            "functional-call",
            "learner = {name: p - (0.1 * grad + 0.01 * p) for (name, p), grad in "
            "zip(learner.items(), grads)}",
        ),
        (
            UNROLLED_BY_NAME,
            "detach-at-head",
            "weights = {key: t.detach().requires_grad_() for key, t in weights.items()}",
        ),
        (
            BEST_RECORD,
            "detach-and-clone",
            "best = replace(shot, picture=shot.picture.detach().clone())",
        ),
        (BEST_RECORD, "detach-and-clone", "from dataclasses import dataclass, replace"),
        (
            UNROLLED,
            "detach-at-head",
            "weights = [t.detach().requires_grad_() for t in weights]",
        ),
        (
            LOADED_COPY,
            "functional-call",
            "learner = dict(model.named_parameters())",
        ),
        (
            LOADED_COPY,
            "functional-call",
            "learner = {name: p - 0.1 * grad for (name, p), grad in zip(learner.items(), grads)}",
        ),
        (DROPPED_BY_WRAPPER, "hand-on-argument", "return x + self.inner(x, **more)"),
        (MEAN_RECOMPUTED, "torch-functions", "loss = torch.stack(losses).mean()"),
        (LOSSES_IN_NUMPY, "torch-functions", "near = sum([out.abs().mean() for out in outs])"),
        (
            ROWS_APPENDED,
            "keep-graph",
            "rows.append(torch.stack([self.hard[q], self.steep[q]]))",
        ),
        (ROWS_APPENDED, "keep-graph", "return torch.stack(rows)"),
        (
            EACH_OF_ONE_FORWARD,
            "forward-into-loop",
            "for i, (one, goal) in enumerate(zip(moved, wanted)):",
        ),
        (EACH_OF_ONE_FORWARD, "forward-into-loop", "one = moved[i]"),
        (CUT_FOR_BOTH, "cut-other-reads", "return made, [t.detach() for t in kept]"),
        (BOUND_TOO_EARLY, "bind-later", "gap = (net(x + d) - net(x).detach()).pow(2).mean()"),
        (ROWS_WRITTEN, "stack-rows", "seen[0] = torch.stack(new_channels)"),
        (
            SUMS_IN_NUMPY,
            "torch-functions",
            "above = torch.log(torch.cumsum(torch.exp(ranked), dim=0))",
        ),
        (THREE_BY_TURNS, "steps-last", 'last.backward(inputs=first.param_groups[0]["params"])'),
    ],
)
def test_what_the_script_means_is_proposed(
    traced: Tracing, script: str, strategy: str, line: str
) -> None:
    found = recognise(traced, script)
    assert found is not None
    proposals = [p for p in found.proposals if p.strategy == strategy]
    texts = [found.files(proposal)["train.py"].splitlines() for proposal in proposals]
    assert any(line in map(str.strip, text) for text in texts)


def test_a_gradient_that_is_passed_straight_through_stays_so(traced: Tracing) -> None:
    found = recognise(traced, CODES_HANDED_ON)
    assert found is not None
    assert found.match.pattern == "starved-parameter"
    texts = [found.files(proposal)["train.py"] for proposal in found.proposals]
    assert all("part + (word - part).detach()" in text for text in texts)


def test_a_loop_that_clips_all_weights_is_about_no_part(traced: Tracing) -> None:
    found = recognise(
        traced, CLIPPED_PARTS.replace("clip_grad_norm_(weights", "clip_grad_norm_(net.parameters()")
    )
    assert found is not None
    assert "walk-in-front" not in {proposal.strategy for proposal in found.proposals}


def test_what_each_pass_adds_to_once_may_be_meant_to_be_kept(traced: Tracing) -> None:
    found = recognise(traced, GATHERED.replace("for step in range(4):", "if True:"))
    assert found is not None
    assert "empty-gathered" not in {proposal.strategy for proposal in found.proposals}


def test_only_what_no_step_changes_is_a_constant_of_a_closure(traced: Tracing) -> None:
    found = recognise(traced, TARGET_IN_CLOSURE)
    assert found is not None
    assert found.match.pattern == "undetached-target"
    stepped = TARGET_IN_CLOSURE.replace("[canvas]", "[canvas, *eye.parameters()]")
    found = recognise(traced, stepped)
    assert found is not None
    assert found.match.pattern == "lbfgs-closure"


def test_what_only_a_loss_knows_to_add_to_a_number_is_added_to_it() -> None:
    text = "for wanted in goals:\n    (guess - wanted).backward()\n"
    project = Project({"train.py": text}, "train.py")
    module = project.module("train.py")
    assert module is not None
    loop = module.tree.body[0]
    assert isinstance(loop, ast.For)
    walk = loop.body[0]
    assert isinstance(walk, ast.Expr)
    assert isinstance(walk.value, ast.Call)
    edits = sum_in_loop(Editor(module), loop, walk, walk.value, "total", loss_first=True)
    assert edits is not None
    assert apply(text, edits).splitlines() == [
        "total = 0",
        "for wanted in goals:",
        "    total = (guess - wanted) + total",
        "total.backward()",
    ]
