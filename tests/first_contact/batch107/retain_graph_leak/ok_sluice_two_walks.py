"""Level behind a sluice, minute by minute: a GRU whose state runs on through the day.

Two aims, level and rate of change, share the net. How hard each pulls is measured by a walk of
its own over the same graph; the pulls are balanced and applied as one.
"""
import dataclasses

import torch
import torch.nn as nn


@dataclasses.dataclass
class Settings:
    window: int = 24
    basins: int = 8
    minutes: int = 240
    width: int = 20
    lr: float = 8e-3
    days: int = 8


def day(cfg, gen):
    """Gate opening and inflow (minutes, basins, 2), and the level."""
    gate = (torch.rand(cfg.minutes // 12, cfg.basins, generator=gen) < 0.7).float().repeat_interleave(12, 0)
    inflow = 0.5 + 0.4 * torch.sin(torch.arange(cfg.minutes)[:, None] / 30 + 6 * torch.rand(cfg.basins, generator=gen))
    level, out = torch.ones(cfg.basins), []
    for g, q in zip(gate, inflow):
        level = level + 0.2 * (q - g * level.clamp(min=0).sqrt())
        out.append(level)
    x = torch.stack([gate, inflow + 0.1 * torch.randn(inflow.shape, generator=gen)], 2)
    return x, torch.stack(out)


class Basin(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(2, width)
        self.level = nn.Linear(width, 1)
        self.rate = nn.Linear(width, 1)

    def forward(self, x, state):
        h, state = self.gru(x, state)
        return self.level(h).squeeze(-1), self.rate(h).squeeze(-1), state


class Balance:
    """Keeps a smoothed norm for each aim, as plain numbers."""

    def __init__(self, model, keep=0.9):
        self.params = list(model.parameters())
        self.shared = list(model.gru.parameters())
        self.norms, self.keep = {}, keep

    def walk(self, losses):
        names = list(losses)
        pulls = {}
        for name in names:
            last = name == names[-1]
            grads = torch.autograd.grad(losses[name], self.params, retain_graph=not last, allow_unused=True)
            pulls[name] = [torch.zeros_like(p) if g is None else g for p, g in zip(self.params, grads)]
            norm = sum(g.square().sum() for g in pulls[name][:len(self.shared)]).sqrt().item()
            self.norms[name] = self.keep * self.norms.get(name, norm) + (1 - self.keep) * norm
        mean = sum(self.norms.values()) / len(self.norms)
        for i, p in enumerate(self.params):
            p.grad = sum(mean / (self.norms[n] + 1e-8) * pulls[n][i] for n in names)


def run(cfg=Settings()):
    torch.manual_seed(9)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(9)
    model = Basin(cfg.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    balance = Balance(model)
    for number in range(1, cfg.days + 1):
        x, y = day(cfg, gen)
        rate = 8 * torch.diff(y, dim=0, prepend=y[:1])
        state, notes = None, []
        for a, b, r in zip(x.split(cfg.window), y.split(cfg.window), rate.split(cfg.window)):
            level, slope, state = model(a, state)
            losses = {"level": nn.functional.mse_loss(level, b), "rate": nn.functional.mse_loss(slope, r)}
            balance.walk(losses)
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            state = state.detach()
            notes.append([loss.item() for loss in losses.values()])
        level, slope = torch.tensor(notes).mean(0).tolist()
        weights = " ".join(f"{n} {v:.3f}" for n, v in balance.norms.items())
        print(f"day {number}: level {level:.4f} rate {slope:.4f}   norms {weights}")
    return model


if __name__ == "__main__":
    run()
