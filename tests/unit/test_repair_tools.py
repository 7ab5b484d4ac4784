"""Repairs where torch's own tools hide the fault: a reentrant checkpoint, tensors made of plain
numbers, frozen parts, an iterator that is used up, hooks that step, weights that are computed."""

from __future__ import annotations

import pytest

from tests.fixing import recognise
from tests.repair_scripts.library_tools import (
    AVERAGED,
    BY_HELPER,
    BY_MATH,
    CALIBRATED,
    CALLED,
    CHECKPOINTED,
    COMPUTED,
    FROZEN,
    IN_PLACE,
    LEFT_OFF,
    PUT_IN,
    RANGED,
    STEPS_IN_HOOKS,
    TWO_CURVES,
    USED_UP,
)
from tests.tracing import Tracing


@pytest.mark.parametrize(
    ("script", "strategy", "lines"),
    [
        (CHECKPOINTED, "not-reentrant", ["return checkpoint(stem, x, use_reentrant=False)"]),
        (
            RANGED.replace("MADE", "depths = torch.linspace(self.near, self.far * 2, steps=5)"),
            "keep-graph",
            ["depths = self.near + ((self.far * 2) - self.near) * torch.linspace(0, 1, steps=5)"],
        ),
        (
            RANGED.replace(
                "MADE", "depths = 1 + torch.full((5,), self.near.item(), dtype=x.dtype)"
            ),
            "keep-graph",
            ["depths = 1 + (self.near * torch.ones((5,), dtype=x.dtype))"],
        ),
        (
            FROZEN.replace("FREEZE", "learning(critic, False)"),
            "unfreeze",
            ["learning(critic, False)", "makes.step()", "learning(critic, True)"],
        ),
        (
            FROZEN.replace("FREEZE", "critic.requires_grad_(False)"),
            "unfreeze",
            ["makes.step()", "critic.requires_grad_(True)"],
        ),
        (
            USED_UP.replace("ITERATOR", "filter(lambda w: w.requires_grad, net.parameters())"),
            "zero-grad",
            ["weights = list(filter(lambda w: w.requires_grad, net.parameters()))"],
        ),
        (
            USED_UP.replace("ITERATOR", "(w for w in net.parameters() if w.requires_grad)"),
            "zero-grad",
            ["weights = list(w for w in net.parameters() if w.requires_grad)"],
        ),
        (
            PUT_IN.replace("HELPER", BY_HELPER).replace("PUT", "fill(target, made=weights)"),
            "functional-call",
            [CALLED],
        ),
        (PUT_IN.replace("HELPER", "").replace("PUT", IN_PLACE), "functional-call", [CALLED]),
        (
            CALIBRATED.replace("OWNED", "self.heat"),
            "detach-at-definition",
            ["scores = torch.cat(found).detach()"],
        ),
        (
            AVERAGED,
            "detach-when-stored",
            [
                "self.kept[name] = weight.data.clone()",
                "self.kept[name] = (0.9 * self.kept[name] + 0.1 * weight).detach()",
            ],
        ),
        (
            LEFT_OFF,
            "scoped-no-grad",
            ["@th.no_grad()", "net.eval(); seen = net(x).mean(); return seen"],
        ),
        (BY_MATH, "torch-functions", ["kept = torch.exp(-0.1 / torch.exp(self.slow))"]),
        (
            TWO_CURVES.replace("KEPT", "pass"),
            "detach-when-stored",
            ['seen["fitted"].append(loss.item())', 'seen["held"].append(held.detach())'],
        ),
        (
            TWO_CURVES.replace("KEPT", "best = held"),
            "detach-when-stored",
            ["held = measure(torch.randn(8, 3)).detach()", 'seen["held"].append(held)'],
        ),
        (STEPS_IN_HOOKS, "sum-losses", ["(first + 0.5 * second).backward()"]),
        (
            COMPUTED.replace(
                "IMPORT", "from torch.nn.utils import clip_grad_norm_, weight_norm as wn"
            ).replace("NORM", "wn"),
            "parametrization",
            [
                "from torch.nn.utils import clip_grad_norm_",
                "from torch.nn.utils.parametrizations import weight_norm as wn",
            ],
        ),
        (
            COMPUTED.replace("IMPORT", "").replace("NORM", "nn.utils.weight_norm"),
            "parametrization",
            [
                "net = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), "
                "nn.ReLU(), nn.Linear(4, 1))"
            ],
        ),
    ],
)
def test_what_hides_it_is_said_otherwise(
    traced: Tracing, script: str, strategy: str, lines: list[str]
) -> None:
    found = recognise(traced, script)
    assert found is not None
    proposals = [p for p in found.proposals if p.strategy == strategy]
    texts = [found.files(proposal)["train.py"].splitlines() for proposal in proposals]
    assert any(set(lines) <= {*map(str.strip, text)} for text in texts), texts


@pytest.mark.parametrize(
    "script",
    [
        FROZEN.replace("FREEZE", "learning(critic, False)").replace(
            "judges.zero_grad()", "learning(critic, True)"
        ),
        USED_UP.replace("ITERATOR", "list(net.parameters())"),
        CHECKPOINTED.replace("=True)", "=False)"),
        RANGED.replace("MADE", "depths = torch.linspace(0.5, 2.0, 5) * self.near + self.far"),
    ],
)
def test_what_hides_nothing_is_left_alone(traced: Tracing, script: str) -> None:
    assert recognise(traced, script) is None


def test_what_a_walk_adds_to_is_old_only_where_it_is_read_behind_it_alone(traced: Tracing) -> None:
    script = """\
        import torch
        from torch import nn
        net = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        path = [torch.zeros_like(w) for w in net.parameters()]
        for turn in range(4):
            optimizer.zero_grad()
            net(torch.randn(8, 3)).square().mean().backward()
            own = [w.grad for w in net.parameters()]
            EARLY
            sum(w.square().sum() for w in net.parameters()).backward()
            for sum_of, slope in zip(path, own):
                LATE
            optimizer.step()
        """
    script = script.replace("EARLY", "pass")
    found = recognise(traced, script.replace("LATE", "sum_of += slope * 2"))
    assert found is not None
    assert found.match.pattern == "aliased-grad"
    assert recognise(traced, script.replace("LATE", "slope.clamp_(-1, 1)")) is None


def test_a_step_within_a_walk_makes_that_walk_no_stale_one(traced: Tracing) -> None:
    merged = STEPS_IN_HOOKS.replace("first.backward(retain_graph=True)", "pass")
    trace = traced(merged.replace("(0.5 * second)", "(first + 0.5 * second)")).trace
    assert len(trace.backwards) == 3
    assert not any(record.stale for record in trace.backwards)
    assert trace.inplace is None


def test_what_a_closure_trains_is_made_in_it(traced: Tracing) -> None:
    found = recognise(traced, CALIBRATED.replace("OWNED", "self.heat, *self.model.parameters()"))
    assert found is not None
    assert found.match.pattern == "lbfgs-closure"
