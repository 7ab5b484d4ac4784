"""Repairs where torch's own tools hide the fault: a reentrant checkpoint, tensors made of plain
numbers, frozen parts, an iterator that is used up, hooks that step, weights that are computed."""

from __future__ import annotations

import pytest

from tests.fixing import recognise
from tests.tracing import Tracing

CHECKPOINTED = """\
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint
    stem, head = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*stem.parameters(), *head.parameters()], lr=0.1)
    def features(x):
        return checkpoint(stem, x, use_reentrant=True)
    for turn in range(4):
        optimizer.zero_grad()
        head(features(torch.randn(8, 3))).square().mean().backward()
        optimizer.step()
    """
RANGED = """\
    import torch
    from torch import nn
    class Window(nn.Module):
        def __init__(self):
            super().__init__()
            self.near, self.far = nn.Parameter(torch.tensor(0.5)), nn.Parameter(torch.tensor(2.0))
            self.net = nn.Linear(5, 1)
        def forward(self, x):
            MADE
            return self.net(x * depths)
    window = Window()
    optimizer = torch.optim.SGD(window.parameters(), lr=0.1)
    for turn in range(4):
        optimizer.zero_grad()
        window(torch.randn(8, 5)).square().mean().backward()
        optimizer.step()
    """
FROZEN = """\
    import torch
    from torch import nn
    maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
    makes = torch.optim.SGD(maker.parameters(), lr=0.1)
    judges = torch.optim.SGD(critic.parameters(), lr=0.1)
    def learning(part, flag):
        for weight in part.parameters():
            weight.requires_grad = flag
    for turn in range(3):
        made = maker(torch.randn(4, 2))
        FREEZE
        makes.zero_grad()
        critic(made).mean().neg().backward()
        makes.step()
        judges.zero_grad()
        loss = critic(made.detach()).mean() - critic(torch.randn(4, 3)).mean()
        loss.backward()
        judges.step()
    """
USED_UP = """\
    import torch
    from torch import nn
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    weights = ITERATOR
    for turn in range(6):
        for weight in weights:
            weight.grad = None
        net(torch.randn(8, 3)).square().mean().backward()
        optimizer.step()
    """
STEPS_IN_HOOKS = """\
    import torch
    from torch import nn
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    steps = {w: torch.optim.SGD([w], lr=0.1) for w in net.parameters()}
    def step(weight):
        steps[weight].step()
        steps[weight].zero_grad()
    for weight in net.parameters():
        weight.register_post_accumulate_grad_hook(step)
    for turn in range(3):
        first, second = net(torch.randn(8, 3)).square().mean(0)
        first.backward(retain_graph=True)
        (0.5 * second).backward()
    """
PUT_IN = """\
    import torch
    from torch import nn
    target, maker = nn.Linear(2, 1), nn.Linear(1, 3)
    optimizer = torch.optim.SGD(maker.parameters(), lr=0.1)
    HELPER
    for turn in range(4):
        flat = maker(torch.randn(1))
        weights = {"weight": flat[:2].view(1, 2), "bias": flat[2:]}
        PUT
        loss = target(torch.randn(4, 2)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
BY_HELPER = """\
def fill(module, made):
        with torch.no_grad():
            for name, weight in module.named_parameters():
                weight.copy_(made[name])"""
IN_PLACE = """\
for name, weight in target.named_parameters():
            weight.data = weights[name].detach()"""
CALLED = "loss = torch.func.functional_call(target, weights, (torch.randn(4, 2),)).square().mean()"
CALIBRATED = """\
    import torch
    from torch import nn
    class Scaled(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model, self.heat = model, nn.Parameter(torch.ones(1))
        def fit(self, batches):
            found = []
            for x in batches:
                found.append(self.model(x))
            scores = torch.cat(found)
            optimizer = torch.optim.LBFGS([OWNED], max_iter=4)
            def closure():
                optimizer.zero_grad()
                loss = (scores / self.heat - 1).square().mean()
                loss.backward()
                return loss
            optimizer.step(closure)
    Scaled(nn.Linear(3, 1)).fit(torch.randn(2, 4, 3))
    """
AVERAGED = """\
    import torch
    from torch import nn
    class Slow:
        def __init__(self, net):
            self.net, self.kept = net, {}
            for name, weight in net.named_parameters():
                self.kept[name] = weight.data.clone()
        def update(self):
            for name, weight in self.net.named_parameters():
                self.kept[name] = 0.9 * self.kept[name] + 0.1 * weight
    net = nn.Linear(3, 1)
    slow, optimizer = Slow(net), torch.optim.SGD(net.parameters(), lr=0.1)
    for turn in range(9):
        optimizer.zero_grad()
        net(torch.randn(8, 3)).square().mean().backward()
        optimizer.step()
        slow.update()
    """
BY_MATH = """\
    import math
    import torch
    from torch import nn
    class Decay(nn.Module):
        def __init__(self):
            super().__init__()
            self.slow, self.net = nn.Parameter(torch.tensor(0.5)), nn.Linear(3, 1)
        def forward(self, x):
            kept = math.exp(-0.1 / math.exp(self.slow))
            return kept * self.net(x)
    decay = Decay()
    optimizer = torch.optim.SGD(decay.parameters(), lr=0.1)
    for turn in range(4):
        optimizer.zero_grad()
        decay(torch.randn(8, 3)).square().mean().backward()
        optimizer.step()
    """
TWO_CURVES = """\
    import torch
    from torch import nn
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    seen, best = {"fitted": [], "held": []}, 9.0
    def measure(x):
        return net(x).square().mean()
    for turn in range(9):
        loss = measure(torch.randn(8, 3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        held = measure(torch.randn(8, 3))
        seen["fitted"].append(loss.item())
        seen["held"].append(held)
        KEPT
    """
LEFT_OFF = """\
    import torch as th
    net = th.nn.Linear(3, 1)
    optimizer = th.optim.SGD(net.parameters(), lr=0.1)
    def look(x):
        net.eval(); th.set_grad_enabled(False); seen = net(x).mean(); return seen
    for turn in range(3):
        loss = net(th.randn(4, 3)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        look(th.randn(4, 3))
    """
COMPUTED = """\
    import copy
    import torch
    from torch import nn
    IMPORT
    net = nn.Sequential(NORM(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 1))
    slow = copy.deepcopy(net)
    """


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
