# expect: pattern = stored-graph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = shelf, self.shelf, pool, fake
"""GAN for leaf outlines: a local and a global critic, a pool of earlier fakes, the generator every other step."""
import math
import random

import torch
import torch.nn as nn

POINTS = 12


class Pool:
    def __init__(self, size):
        self.size, self.shelf = size, []

    def swap(self, fresh):
        """Half of the time an older fake comes back instead of the fresh one."""
        given = []
        for f in fresh:
            if len(self.shelf) < self.size:
                self.shelf.append(f)  # expect: place
                given.append(f)
            elif random.random() < 0.5:
                k = random.randrange(self.size)
                old, self.shelf[k] = self.shelf[k], f  # expect: place
                given.append(old)
            else:
                given.append(f)
        return torch.stack(given)


def leaves(n):
    phi = torch.linspace(0, 2 * math.pi, POINTS + 1)[:-1]
    a, b = 0.5 + torch.rand(2, n, 1)
    r = a * (1 + 0.3 * torch.cos(b * 2 * phi))
    return torch.stack([r * phi.cos(), r * phi.sin()], 2)


class Local(nn.Module):
    """Looks at three neighbouring points at a time."""

    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv1d(2, 12, 3), nn.LeakyReLU(0.2), nn.Conv1d(12, 1, 1))

    def forward(self, s):
        return self.c(s.transpose(1, 2)).mean((1, 2))


class Global(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Linear(2 * POINTS, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def forward(self, s):
        return self.c(s.flatten(1)).squeeze(1)


class Generator(nn.Module):
    def __init__(self, z=6):
        super().__init__()
        self.z = z
        self.g = nn.Sequential(nn.Linear(z, 32), nn.ReLU(), nn.Linear(32, 2 * POINTS))

    def forward(self, n):
        return self.g(torch.randn(n, self.z)).view(n, POINTS, 2)


def run(steps=10, n=8):
    random.seed(3)
    torch.manual_seed(3)
    gen, critics = Generator(), [Local(), Global()]
    pool = Pool(12)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3)
    opt_cs = [torch.optim.Adam(c.parameters(), lr=1e-3) for c in critics]
    for step in range(steps):
        real, fake = leaves(n), gen(n)
        if step % 2 == 0:
            g_loss = sum((c(fake) - 1).pow(2).mean() for c in critics)
            opt_g.zero_grad()
            g_loss.backward()
            opt_g.step()
        pooled = pool.swap(fake)  # expect: place
        c_loss = sum((c(real) - 1).pow(2).mean() + c(pooled).pow(2).mean() for c in critics)
        for o in opt_cs:
            o.zero_grad()
        c_loss.backward()  # expect: place
        for o in opt_cs:
            o.step()
    print("critics", round(c_loss.item(), 4), "generator", round(g_loss.item(), 4))


run()
