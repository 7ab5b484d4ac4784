# expect: pattern = none
# expect: raises = nothing
"""Watch / like / share heads on one user tower, weighted so that they train at one pace (GradNorm)."""
import torch
from torch import nn

TASKS = ("watch", "like", "share")


class Tower(nn.Module):
    def __init__(self, users=50, items=80, dim=16):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.body = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU())
        self.last = nn.Linear(32, 32)
        self.heads = nn.ModuleDict({t: nn.Linear(32, 1) for t in TASKS})

    def forward(self, u, i):
        h = torch.relu(self.last(self.body(torch.cat([self.user(u), self.item(i)], -1))))
        return {t: head(h).squeeze(-1) for t, head in self.heads.items()}


class Balancer:
    def __init__(self, lr=0.02, alpha=1.0):
        self.weights = nn.Parameter(torch.ones(len(TASKS)))
        self.opt = torch.optim.Adam([self.weights], lr=lr)
        self.alpha, self.start = alpha, None

    def update(self, losses, shared):
        if self.start is None:
            self.start = losses.detach().clone()
        norms = []
        for k in range(len(TASKS)):
            (g,) = torch.autograd.grad(losses[k], shared, retain_graph=True)
            norms.append(self.weights[k] * g.norm())
        norms = torch.stack(norms)
        with torch.no_grad():
            pace = losses / self.start
            goal = norms.mean() * (pace / pace.mean()) ** self.alpha
        gap = (norms - goal).abs().sum()
        self.opt.zero_grad()
        gap.backward()
        self.opt.step()
        with torch.no_grad():
            self.weights.clamp_(min=0.05)
            self.weights.mul_(len(TASKS) / self.weights.sum())
        return gap.item()


def log_batch(n):
    u, i = torch.randint(50, (n,)), torch.randint(80, (n,))
    y = {"watch": (u + i) % 2, "like": (u * i) % 5 == 0, "share": (u - i) % 9 == 0}
    return u, i, {t: v.float() for t, v in y.items()}


def main():
    torch.manual_seed(19)
    tower, balancer = Tower(), Balancer()
    opt = torch.optim.Adam(tower.parameters(), lr=3e-3)
    bce = nn.functional.binary_cross_entropy_with_logits
    running = torch.zeros(len(TASKS))
    for step in range(25):
        u, i, y = log_batch(96)
        out = tower(u, i)
        losses = torch.stack([bce(out[t], y[t]) for t in TASKS])
        weights = balancer.weights.detach().clone()
        balancer.update(losses, tower.last.weight)
        opt.zero_grad()
        (weights * losses).sum().backward()
        opt.step()
        running = 0.9 * running + 0.1 * losses.detach()
        if step % 8 == 0:
            print(step, [round(v, 3) for v in running.tolist()], balancer.weights.data.tolist())


if __name__ == "__main__":
    main()
