# expect: pattern = none
"""Diffusion model of dune profiles: self-conditioning, in-place sums and an average of the weights."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

POINTS, STEPS = 32, 50


def dunes(n):
    x = torch.linspace(0, 1, POINTS)
    crest = 0.3 + 0.4 * torch.rand(n, 1)
    profile = torch.where(x < crest, x / crest, ((1 - x) / (1 - crest)).clamp(min=0) ** 2)
    steep = (crest > 0.5).long().squeeze(1)
    return 2 * profile - 1 + 0.02 * torch.randn(n, POINTS), steep


class Schedule:
    def __init__(self):
        beta = torch.linspace(1e-3, 0.12, STEPS)
        self.alpha_bar = torch.cumprod(1 - beta, dim=0)

    def noisy(self, x0, t, noise):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise


class StepEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rate", torch.exp(-math.log(1000) * torch.arange(dim // 2) / (dim // 2)))
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        angle = t.float().unsqueeze(1) * self.rate
        return self.mlp(torch.cat([angle.sin(), angle.cos()], dim=1))


class Block(nn.Module):
    def __init__(self, width, dim):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(width, width), nn.Linear(width, width)
        self.shift = nn.Linear(dim, width)
        self.act = nn.SiLU(inplace=False)

    def forward(self, x, emb):
        h = self.lin1(self.act(x))
        h += self.shift(emb)
        h = self.lin2(self.act(h))
        h += x
        return h


class Denoiser(nn.Module):
    def __init__(self, width=48, dim=16):
        super().__init__()
        self.step, self.kind = StepEmbedding(dim), nn.Embedding(3, dim)
        self.enter = nn.Linear(2 * POINTS, width)
        self.blocks = nn.ModuleList([Block(width, dim) for _ in range(2)])
        self.leave = nn.Linear(width, POINTS)

    def forward(self, x, t, kind, estimate=None):
        if estimate is None:
            estimate = torch.zeros_like(x)
        emb = self.step(t)
        emb += self.kind(kind)
        h = self.enter(torch.cat([x, estimate], dim=1))
        for block in self.blocks:
            h = block(h, emb)
        return self.leave(F.silu(h))


class Average:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.model = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


def training_step(model, schedule, x0, kind):
    t = torch.randint(0, STEPS, (len(x0),))
    noise = torch.randn_like(x0)
    x = schedule.noisy(x0, t, noise)
    kind = kind.masked_fill(torch.rand(len(kind)) < 0.1, 2)
    estimate = None
    if torch.rand(()) < 0.5:
        estimate = model(x, t, kind).detach()
    return F.mse_loss(model(x, t, kind, estimate), noise)


@torch.no_grad()
def sample(model, schedule, n, kind):
    x, guess = torch.randn(n, POINTS), None
    kinds = torch.full((n,), kind)
    for t in reversed(range(STEPS)):
        guess = model(x, torch.full((n,), t), kinds, guess)
        a, before = schedule.alpha_bar[t], schedule.alpha_bar[t - 1] if t else torch.tensor(1.0)
        clean = ((x - (1 - a).sqrt() * guess) / a.sqrt()).clamp_(-1.5, 1.5)
        x = before.sqrt() * clean + (1 - before).sqrt() * guess
    return x


def main():
    torch.manual_seed(14)
    model, schedule = Denoiser(), Schedule()
    average = Average(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    running = None
    for iteration in range(30):
        x0, kind = dunes(32)
        loss = training_step(model, schedule, x0, kind)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update(model)
        running = loss.detach() if running is None else 0.9 * running + 0.1 * loss.detach()
        if iteration % 10 == 9:
            print(iteration + 1, round(running.item(), 4))
    print("crest", sample(average.model, schedule, 4, 1).argmax(1).tolist())


if __name__ == "__main__":
    main()
