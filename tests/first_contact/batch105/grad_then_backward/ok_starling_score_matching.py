"""Density of starlings over a roost by sliced score matching of an energy network.

The score is the energy's gradient in the position; the objective takes the gradient of a projection
of the score once more, and is then walked back to the weights.
"""
from dataclasses import dataclass

import torch
from torch import autograd, nn


@dataclass
class Options:
    birds: int = 1500
    batch: int = 128
    steps: int = 150
    slices: int = 2
    lr: float = 3e-3
    decay: float = 0.98
    seed: int = 9


def roost(n, gen):
    """Two swirls: a ring and a dense ball beside it."""
    angle = 6.2832 * torch.rand(n, generator=gen)
    ring = torch.stack([1.5 * angle.cos() - 0.5, 1.5 * angle.sin()], 1) + 0.15 * torch.randn(n, 2, generator=gen)
    ball = torch.tensor([1.8, 1.0]) + 0.3 * torch.randn(n, 2, generator=gen)
    return torch.where(torch.rand(n, 1, generator=gen) < 0.7, ring, ball)


class Energy(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Softplus(), nn.Linear(width, width),
                                 nn.Softplus(), nn.Linear(width, 1, bias=False))

    def forward(self, x):
        return self.net(x).squeeze(-1) + 0.05 * x.pow(2).sum(-1)

    def score(self, x, keep):
        return -autograd.grad(self(x).sum(), x, create_graph=keep)[0]


def objective(energy, x, slices):
    x = x.detach().requires_grad_()
    score = energy.score(x, keep=True)
    terms = []
    for _ in range(slices):
        v = torch.randn_like(x)
        along = (score * v).sum()
        hessian_v = autograd.grad(along, x, create_graph=True)[0]
        terms.append((hessian_v * v).sum(1) + 0.5 * (score * v).sum(1).pow(2))
    return torch.stack(terms).mean()


class Averaged:
    """Slowly following copy, used for sampling only."""

    def __init__(self, net, decay):
        self.decay = decay
        self.values = {name: p.detach().clone() for name, p in net.named_parameters()}

    @torch.no_grad()
    def update(self, net):
        for name, p in net.named_parameters():
            self.values[name].lerp_(p, 1 - self.decay)

    def into(self, net):
        net.load_state_dict(self.values)
        return net.requires_grad_(False)


def langevin(energy, n, gen, steps=60, size=0.01):
    x = 2 * torch.randn(n, 2, generator=gen)
    for _ in range(steps):
        x = x.detach().requires_grad_()
        drift = energy.score(x, keep=False)
        x = x.detach() + size * drift + (2 * size) ** 0.5 * torch.randn(n, 2, generator=gen)
    return x


def main(opt):
    torch.manual_seed(opt.seed)
    gen = torch.Generator().manual_seed(opt.seed)
    birds = roost(opt.birds, gen)
    energy = Energy()
    average = Averaged(energy, opt.decay)
    optimizer = torch.optim.Adam(energy.parameters(), lr=opt.lr)
    recent = []
    for step in range(1, opt.steps + 1):
        batch = birds[torch.randint(len(birds), (opt.batch,), generator=gen)]
        loss = objective(energy, batch, opt.slices)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(energy)
        recent.append(loss.item())
        if step % 50 == 0:
            print(f"step {step}: objective {sum(recent[-25:]) / 25:+.3f}")
    drawn = langevin(average.into(Energy()), 400, gen)
    print("mean", drawn.mean(0).tolist(), "of the birds", birds.mean(0).tolist())


if __name__ == "__main__":
    main(Options())
