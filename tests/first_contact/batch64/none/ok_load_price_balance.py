# expect: pattern = none
# expect: raises = nothing
"""Day-ahead load and price from one encoder. The two tasks are balanced by their gradient norms."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class GridEncoder(nn.Module):
    def __init__(self, n_in, width=20):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.shared = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.shared(F.gelu(self.inp(x))))


class BalancedTrainer:
    TASKS = ("load", "price")

    def __init__(self, n_in, horizon, alpha=0.8):
        self.encoder = GridEncoder(n_in)
        self.heads = nn.ModuleDict({t: nn.Linear(20, horizon) for t in self.TASKS})
        self.task_weight = nn.Parameter(torch.ones(len(self.TASKS)))
        self.net_opt = torch.optim.Adam([*self.encoder.parameters(), *self.heads.parameters()], lr=4e-3)
        self.weight_opt = torch.optim.SGD([self.task_weight], lr=0.02)
        self.alpha = alpha
        self.first_losses = None
        self.log = {"loss": [], "weights": []}

    def task_losses(self, batch):
        h = self.encoder(batch["x"])
        return torch.stack([F.smooth_l1_loss(self.heads[t](h), batch[t]) for t in self.TASKS])

    def gradient_norms(self, losses):
        norms = []
        for w, loss in zip(self.task_weight, losses):
            g, = torch.autograd.grad(w * loss, self.encoder.shared.weight, create_graph=True)
            norms.append(g.norm())
        return torch.stack(norms)

    def step(self, batch):
        losses = self.task_losses(batch)
        if self.first_losses is None:
            self.first_losses = losses.detach()

        total = (self.task_weight.detach() * losses).sum()
        self.net_opt.zero_grad()
        total.backward(retain_graph=True)

        norms = self.gradient_norms(losses)
        progress = losses.detach() / self.first_losses
        wanted = norms.detach().mean() * (progress / progress.mean()) ** self.alpha
        balance = (norms - wanted).abs().sum()
        self.weight_opt.zero_grad()
        self.task_weight.grad, = torch.autograd.grad(balance, self.task_weight)

        self.net_opt.step()
        self.weight_opt.step()
        with torch.no_grad():
            self.task_weight.clamp_(min=0.05)
            self.task_weight.mul_(len(self.TASKS) / self.task_weight.sum())
        self.log["loss"].append(total.detach())
        self.log["weights"].append(self.task_weight.detach().clone())


def day_batches(n_batches, size, horizon, n_in):
    mixing = torch.randn(n_in, 2) / math.sqrt(n_in)
    hours = torch.arange(horizon) / 24 * 2 * math.pi
    for _ in range(n_batches):
        x = torch.randn(size, n_in)
        level = x @ mixing
        load = level[:, :1] + torch.sin(hours) + 0.05 * torch.randn(size, horizon)
        price = 3 * torch.relu(level[:, 1:]) * (1 + torch.cos(hours)) + 0.2 * torch.randn(size, horizon)
        yield {"x": x, "load": load, "price": price}


if __name__ == "__main__":
    torch.manual_seed(8760)
    trainer = BalancedTrainer(n_in=10, horizon=24)
    for batch in day_batches(8, 32, 24, 10):
        trainer.step(batch)
    print("loss", [round(v, 3) for v in torch.stack(trainer.log["loss"]).tolist()])
    print("weights", torch.stack(trainer.log["weights"]).round(decimals=3).tolist())
