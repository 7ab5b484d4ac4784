"""Multi-task regression on bioreactor logs, tasks balanced by the size of their gradients."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TASKS = ("biomass", "glucose", "oxygen")


def make_runs(n=320, seed=29):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype(np.float32)
    w = rng.normal(size=(10, 3)).astype(np.float32)
    base = np.tanh(x @ w)
    y = np.stack([base[:, 0], 30 * base[:, 1] + 2 * base[:, 0], 0.05 * base[:, 2]], axis=1)
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))


class Reactor(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, 1) for name in TASKS})
        self.register_buffer("share", torch.ones(len(TASKS)))

    def losses(self, x, y):
        code = self.trunk(x)
        return torch.stack([
            F.mse_loss(self.heads[name](code).squeeze(1), y[:, k]) for k, name in enumerate(TASKS)
        ])


class Balancer:
    """Gives every task the same pull on the last shared layer, slowly adapted."""

    def __init__(self, model, rate=0.2):
        self.model, self.rate = model, rate
        self.anchor = model.trunk[2].weight

    def pull(self, losses):
        norms = []
        for loss in losses:
            (g,) = torch.autograd.grad(loss, self.anchor, retain_graph=True)
            norms.append(g.norm())
        return torch.stack(norms)

    def weights(self, losses):
        pull = self.pull(losses)
        wanted = pull.mean() / (pull + 1e-8)
        wanted = len(TASKS) * wanted / wanted.sum()
        self.model.share.mul_(1 - self.rate).add_(self.rate * wanted)
        return self.model.share.clone()


def train(epochs=4, batch=40):
    torch.manual_seed(6)
    x, y = make_runs()
    model = Reactor()
    balancer = Balancer(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    history = []
    for epoch in range(epochs):
        seen = torch.zeros(len(TASKS))
        for idx in torch.randperm(len(x)).split(batch):
            losses = model.losses(x[idx], y[idx])
            share = balancer.weights(losses)
            total = (share * losses).sum()
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            seen += losses.detach() * len(idx)
        history.append((seen / len(x)).tolist())
        line = "  ".join(f"{n} {v:.4f}" for n, v in zip(TASKS, history[-1]))
        print(f"epoch {epoch}  {line}  shares {[round(s, 2) for s in model.share.tolist()]}")
    return history


if __name__ == "__main__":
    train()
