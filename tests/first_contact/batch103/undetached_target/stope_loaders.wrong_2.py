"""Dispatching loaders underground: which stope an empty loader is sent to, by actor-critic.

Stopes fill with blasted ore, loaders take time to get there, and a crusher that waits costs money.
"""
import logging
from typing import NamedTuple

import torch
from torch import nn
from torch.distributions import Categorical

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("mine")

STOPES = 4
WAY = torch.tensor([1.0, 2.0, 3.0, 5.0])


class Shift(NamedTuple):
    seen: torch.Tensor  # (T, B, features)
    sent: torch.Tensor  # (T, B)
    paid: torch.Tensor  # (T, B)
    last: torch.Tensor  # (B, features)


class Mine:
    """Several copies of the same mine run side by side, each with its own luck."""

    def __init__(self, copies, generator):
        self.copies, self.generator = copies, generator
        self.muck = torch.rand(copies, STOPES, generator=generator)
        self.busy = torch.zeros(copies, STOPES)

    def look(self):
        return torch.cat([self.muck, self.busy, (WAY / 5).expand(self.copies, -1)], 1)

    def send(self, stope):
        row = torch.arange(self.copies)
        load = self.muck[row, stope].clamp(max=0.5)
        queue = self.busy[row, stope]
        self.muck[row, stope] -= load
        self.busy *= 0.6
        self.busy[row, stope] += 0.4
        blast = torch.rand(self.copies, STOPES, generator=self.generator) < 0.3
        self.muck = (self.muck + 0.5 * blast).clamp(max=1.5)
        return 2 * load - 0.15 * WAY[stope] - 0.5 * queue


class Dispatcher(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3 * STOPES, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.send = nn.Linear(width, STOPES)
        self.value = nn.Linear(width, 1)

    def forward(self, seen):
        h = self.body(seen)
        return Categorical(logits=self.send(h)), self.value(h).squeeze(-1)


@torch.no_grad()
def work(mine, model, steps):
    seen, sent, paid = [], [], []
    for _ in range(steps):
        seen.append(mine.look())
        sent.append(model(seen[-1])[0].sample())
        paid.append(mine.send(sent[-1]))
    return Shift(torch.stack(seen), torch.stack(sent), torch.stack(paid), mine.look())


def gae(paid, values, after, gamma=0.8, lam=0.9):
    """Generalised advantages, from the end of the shift backwards."""
    out, running, following = [], 0.0, after
    for reward, value in zip(reversed(paid), reversed(values)):
        delta = reward + gamma * following - value
        running = delta + gamma * lam * running
        out.append(running)
        following = value
    return torch.stack(out[::-1])


def update(model, optimizer, shift, entropy_weight=0.01, value_weight=0.5):
    policy, worth = model(shift.seen)
    with torch.no_grad():
        _, after = model(shift.last)
    advantage = gae(shift.paid, worth, after)
    goal = (advantage + worth).detach()
    policy_loss = -(policy.log_prob(shift.sent).detach() * advantage).mean()
    value_loss = nn.functional.mse_loss(worth, goal)
    entropy = policy.entropy().mean()
    loss = policy_loss + value_weight * value_loss - entropy_weight * entropy
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return {"policy": policy_loss.item(), "value": value_loss.item(), "entropy": entropy.item(),
            "norm": norm.item(), "paid": shift.paid.mean().item()}


def main(updates=60, steps=16, copies=16):
    torch.manual_seed(88)
    generator = torch.Generator().manual_seed(88)
    mine = Mine(copies, generator)
    model = Dispatcher()
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3, eps=1e-5)
    for n in range(1, updates + 1):
        figures = update(model, optimizer, work(mine, model, steps))
        if n % 12 == 0:
            log.info("%3d  %s", n, "  ".join(f"{k} {v:+.3f}" for k, v in figures.items()))
    fresh = Mine(64, torch.Generator().manual_seed(1))
    log.info("a fresh mine pays %.3f a loader", work(fresh, model, 100).paid.mean().item())


if __name__ == "__main__":
    main()
