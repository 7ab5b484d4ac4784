# expect: pattern = none
# expect: raises = nothing
"""A generator of tide curves against a critic, frozen by turns, with a diary of several numbers."""
import math
from collections import defaultdict, deque
from contextlib import contextmanager

import torch
from torch import nn
import torch.nn.functional as F

HOURS = 25


@contextmanager
def frozen(net):
    for p in net.parameters():
        p.requires_grad_(False)
    try:
        yield net
    finally:
        for p in net.parameters():
            p.requires_grad_(True)


class Diary:
    def __init__(self, window=5):
        self.pages = defaultdict(lambda: deque(maxlen=window))

    def note(self, **values):
        for name, value in values.items():
            self.pages[name].append(value.detach() if torch.is_tensor(value) else value)

    def mean(self, name):
        page = self.pages[name]
        return sum(page) / len(page)


class Tides(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_range = nn.Parameter(torch.tensor(0.0))
        self.net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, HOURS), nn.Tanh())

    def forward(self, z):
        return torch.exp(self.log_range) * self.net(z)

    def extra_repr(self):
        return f"range {math.exp(self.log_range.item()):.2f} m"


def real(n):
    phase = 2 * math.pi * torch.rand(n, 1)
    return 1.8 * torch.sin(2 * math.pi * torch.arange(HOURS) / 12.4 + phase)


def last_gradients(net):
    return [p.grad for p in net.parameters()]


torch.manual_seed(21)
gen, critic = Tides(), nn.Sequential(nn.Linear(HOURS, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
weights = [p for p in critic.parameters() if p.requires_grad]
gen_opt = torch.optim.Adam(gen.parameters(), lr=2e-3)
critic_opt = torch.optim.Adam(iter(weights), lr=2e-3)
diary, before = Diary(), None

for step in range(12):
    with torch.no_grad():
        fake = gen(torch.randn(32, 4))
    for p in weights:
        p.grad = None
    doubt = F.softplus(-critic(real(32))).mean() + F.softplus(critic(fake)).mean()
    doubt.backward()
    critic_opt.step()

    with frozen(critic):
        fooled = F.softplus(-critic(gen(torch.randn(32, 4)))).mean()
    gen_opt.zero_grad()  # sets to None: what `before` holds stays as it was
    fooled.backward()
    now = last_gradients(gen)
    if before is not None:
        agree = sum((a * b).sum() for a, b in zip(now, before))
        diary.note(agree=agree)
    before = now
    gen_opt.step()
    diary.note(doubt=doubt, fooled=fooled, range=gen.log_range)

print({name: round(float(diary.mean(name)), 4) for name in diary.pages}, gen.extra_repr())
