"""Scripts in which a tool of torch hides the fault."""

from __future__ import annotations

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
