# expect: pattern = stored-graph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = table, weights, per_item
"""Toy DDPM on two moons with loss-aware timestep sampling, hooked in as a callback."""
from collections import deque

import torch
from torch import nn

torch.manual_seed(21)
T = 8


class Denoiser(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.time = nn.Embedding(T, width)
        self.inp = nn.Linear(2, width)
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.out(self.inp(x) + self.time(t))


class Callback:
    def on_sample_timesteps(self, trainer, n):
        return None

    def on_losses(self, trainer, t, per_item):
        pass

    def on_step_end(self, trainer):
        pass


class SecondMomentSampler(Callback):
    """Draws t with probability ~ sqrt(E[loss_t^2]); the weights keep the objective unbiased."""

    def __init__(self, keep=4, floor=0.01):
        self.keep, self.floor = keep, floor
        self.table = [deque(maxlen=keep) for _ in range(T)]  # expect: place

    def ready(self):
        return all(len(row) == self.keep for row in self.table)

    def probs(self):
        if not self.ready():
            return torch.full((T,), 1.0 / T)
        moments = torch.stack([torch.stack(tuple(row)).pow(2).mean() for row in self.table]).sqrt()  # expect: place
        p = moments / moments.sum()
        return (1 - self.floor) * p + self.floor / T

    def on_sample_timesteps(self, trainer, n):
        p = self.probs()  # expect: place
        t = torch.multinomial(p, n, replacement=True)
        return t, 1.0 / (T * p[t])  # expect: place

    def on_losses(self, trainer, t, per_item):
        for ti, li in zip(t.tolist(), per_item):
            self.table[ti].append(li.detach())  # expect: place


class Progress(Callback):
    def __init__(self, every=10):
        self.every = every

    def on_step_end(self, trainer):
        if trainer.step % self.every == 0:
            print(f"step {trainer.step:3d} loss {trainer.last_loss:.4f}")


class Trainer:
    def __init__(self, model, callbacks, lr=2e-3, batch=32):
        self.model, self.callbacks, self.batch = model, callbacks, batch
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.abar = torch.cumprod(1 - torch.linspace(0.02, 0.5, T), dim=0)
        self.step, self.last_loss = 0, float("nan")

    def data(self):
        angle = torch.pi * torch.rand(self.batch)
        upper = torch.rand(self.batch) < 0.5
        x = torch.where(upper, torch.cos(angle), 1 - torch.cos(angle))
        y = torch.where(upper, torch.sin(angle), 0.5 - torch.sin(angle))
        return torch.stack([x, y], dim=1) + 0.05 * torch.randn(self.batch, 2)

    def timesteps(self):
        for cb in self.callbacks:
            drawn = cb.on_sample_timesteps(self, self.batch)
            if drawn is not None:
                return drawn
        return torch.randint(0, T, (self.batch,)), torch.ones(self.batch)

    def training_step(self):
        x0 = self.data()
        t, weights = self.timesteps()  # expect: place
        noise = torch.randn_like(x0)
        a = self.abar[t][:, None]
        pred = self.model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t)
        per_item = (pred - noise).pow(2).mean(dim=1)
        for cb in self.callbacks:
            cb.on_losses(self, t, per_item)  # expect: place
        return (weights * per_item).mean()  # expect: place

    def fit(self, steps):
        for self.step in range(1, steps + 1):
            loss = self.training_step()
            self.opt.zero_grad()
            loss.backward()  # expect: place
            self.opt.step()
            self.last_loss = loss.item()
            for cb in self.callbacks:
                cb.on_step_end(self)


if __name__ == "__main__":
    sampler = SecondMomentSampler()
    Trainer(Denoiser(), [sampler, Progress()]).fit(40)
    print("p(t) =", [round(v, 3) for v in sampler.probs().tolist()])
