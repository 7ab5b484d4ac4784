# Energy based model of crack orientations, persistent contrastive divergence with Langevin sampling.
import random
import torch
import torch.nn as nn


def swish(x):
    return x * torch.sigmoid(x)


class Energy(nn.Module):
    def __init__(self, dim, hidden=48):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, x):
        x = swish(self.fc1(x))
        x = swish(self.fc2(x))
        return self.fc3(x).squeeze(-1)


class Chains:
    """Negative samples that live on from batch to batch."""

    def __init__(self, energy, dim, size=256, reinit=0.05):
        self.energy, self.reinit = energy, reinit
        self.buffer = torch.rand(size, dim) * 4 - 2
        self.norms = torch.zeros(size)

    def langevin(self, x, steps, step_size, noise):
        flags = [p.requires_grad for p in self.energy.parameters()]
        for p in self.energy.parameters():
            p.requires_grad = False
        x = x.clone().requires_grad_(True)
        for _ in range(steps):
            x.data.add_(noise * torch.randn_like(x))
            e = self.energy(x)
            e.sum().backward()
            x.grad.clamp_(-0.5, 0.5)
            x.data.add_(x.grad, alpha=-step_size)
            x.grad.zero_()
            x.data.clamp_(-3, 3)
        for p, flag in zip(self.energy.parameters(), flags):
            p.requires_grad = flag
        return x.detach()

    def draw(self, n, steps=15):
        idx = torch.randperm(len(self.buffer))[:n]
        start = self.buffer[idx]
        fresh = torch.rand(n) < self.reinit
        start[fresh] = torch.rand(int(fresh.sum()), start.size(1)) * 4 - 2
        x = self.langevin(start, steps, step_size=0.5, noise=0.02)
        self.buffer[idx] = x
        self.norms[idx] = x.norm(dim=1)
        return x


def cracks(n):
    angle = torch.tensor([random.choice([0.0, 2.1, 4.2]) for _ in range(n)])
    pts = torch.stack([angle.cos(), angle.sin()], 1) * 1.4
    return pts + 0.15 * torch.randn(n, 2)


torch.manual_seed(9)
random.seed(9)
energy = Energy(2)
chains = Chains(energy, 2)
optim = torch.optim.Adam(energy.parameters(), lr=2e-3, betas=(0.0, 0.999))
sched = torch.optim.lr_scheduler.StepLR(optim, step_size=15, gamma=0.7)
stats = {'cd': [], 'reg': []}
for it in range(30):
    real = cracks(48)
    real.add_(0.01 * torch.randn_like(real))
    fake = chains.draw(48)
    e_real, e_fake = energy(torch.cat([real, fake])).chunk(2)
    cd = e_real.mean() - e_fake.mean()
    reg = 0.1 * (e_real ** 2 + e_fake ** 2).mean()
    loss = cd + reg
    optim.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(energy.parameters(), 0.1)
    optim.step()
    sched.step()
    stats['cd'].append(cd.detach())
    stats['reg'].append(reg.detach())
    if (it + 1) % 10 == 0:
        print(it + 1, {k: round(torch.stack(v[-10:]).mean().item(), 4) for k, v in stats.items()},
              'radius %.2f' % chains.norms.mean().item())
