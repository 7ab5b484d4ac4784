# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.
# expect: carrier = x, x_neg, samples
"""Energy-based model of galaxy colours (two bands), short-run Langevin chains from a replay buffer."""
import torch
import torch.nn as nn


def colours(n):
    red = torch.rand(n, 1) < 0.45
    centre = torch.where(red, torch.tensor([[1.0, 0.6]]), torch.tensor([[-0.8, -0.4]]))
    return centre + torch.randn(n, 2) * torch.where(red, 0.15, 0.35)


class Energy(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.f(x).squeeze(-1)


class ReplayBuffer:
    def __init__(self, size=256, reinit=0.05):
        self.examples = 2 * torch.rand(size, 2) - 1
        self.reinit = reinit

    def draw(self, n):
        self.idx = torch.randint(len(self.examples), (n,))
        x = self.examples[self.idx].clone()
        fresh = torch.rand(n) < self.reinit
        x[fresh] = 2 * torch.rand(int(fresh.sum()), 2) - 1
        return x

    def put(self, x):
        self.examples[self.idx] = x


def langevin(energy, x, steps=15, step_size=0.05, noise=0.02):
    for p in energy.parameters():
        p.requires_grad = False
    x.requires_grad = True  # expect: place
    for _ in range(steps):
        grad = torch.autograd.grad(energy(x).sum(), x)[0].clamp(-1, 1)
        x += -step_size * grad + noise * torch.randn_like(x)  # expect: place
    for p in energy.parameters():
        p.requires_grad = True
    return x.detach()


if __name__ == "__main__":
    torch.manual_seed(31)
    energy, buffer = Energy(), ReplayBuffer()
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.999))
    for it in range(15):
        x_pos = colours(64) + 0.01 * torch.randn(64, 2)
        x_neg = langevin(energy, buffer.draw(64))
        buffer.put(x_neg)
        e_pos, e_neg = energy(x_pos), energy(x_neg)
        cdiv = e_pos.mean() - e_neg.mean()
        reg = 0.1 * (e_pos ** 2 + e_neg ** 2).mean()
        optimizer.zero_grad()
        (cdiv + reg).backward()
        optimizer.step()
        if it % 5 == 0:
            print("it %2d  cd %.4f  reg %.4f" % (it, cdiv.item(), reg.item()))
