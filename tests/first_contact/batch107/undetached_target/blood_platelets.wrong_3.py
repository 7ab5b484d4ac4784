"""How many platelet units should a hospital order each morning? Quantile-regression DQN.

Units keep for three days. Too few means an emergency delivery, too many are thrown away, and we
want the spread of the costs and not only their mean, hence quantiles.
"""
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

ORDERS, QUANTILES, AGES = 6, 9, 3
Batch = namedtuple("Batch", "state action reward after")


class Hospitals:
    """Many hospitals side by side, each with its stock by age and the day of the week."""

    def __init__(self, count, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.stock = torch.randint(0, 3, (count, AGES), generator=self.gen).float()
        self.day = torch.randint(0, 7, (count,), generator=self.gen)

    def observe(self):
        return torch.cat([self.stock / 4, F.one_hot(self.day, 7).float()], 1)

    def step(self, order):
        self.stock[:, 0] += order
        mean = torch.where(self.day < 5, 3.0, 1.2)
        need = torch.poisson(mean, generator=self.gen)
        for age in reversed(range(AGES)):  # oldest first
            used = torch.minimum(self.stock[:, age], need)
            self.stock[:, age] -= used
            need -= used
        waste = self.stock[:, -1].clone()
        self.stock = torch.cat([torch.zeros_like(waste)[:, None], self.stock[:, :-1]], 1)
        self.day = (self.day + 1) % 7
        return -(2.0 * need + 1.0 * waste + 0.1 * order) / 3


class Memory:
    def __init__(self, room):
        self.room, self.rows = room, []

    def push(self, *columns):
        self.rows += list(zip(*columns))
        self.rows = self.rows[-self.room:]

    def sample(self, n):
        picks = torch.randint(0, len(self.rows), (n,)).tolist()
        return Batch(*(torch.stack(column) for column in zip(*(self.rows[i] for i in picks))))


class QuantileNet(nn.Module):
    def __init__(self, inputs=AGES + 7, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.value = nn.Linear(width, QUANTILES)
        self.gain = nn.Linear(width, ORDERS * QUANTILES)

    def forward(self, state):
        h = self.body(state)
        gain = self.gain(h).view(-1, ORDERS, QUANTILES)
        return self.value(h)[:, None] + gain - gain.mean(1, keepdim=True)

    def greedy(self, state):
        return self(state).mean(2).argmax(1)


def quantile_huber(guess, goal, tau):
    """Every quantile of `guess` (B, N) against every one of `goal` (B, N)."""
    gap = goal[:, None, :] - guess[:, :, None]
    huber = torch.where(gap.abs() < 1, 0.5 * gap ** 2, gap.abs() - 0.5)
    return ((tau[None, :, None] - (gap < 0).float()).abs() * huber).mean(2).sum(1).mean()


def learn(net, optimizer, batch, tau, gamma=0.9):
    rows = torch.arange(len(batch.action))
    guess = net(batch.state)[rows, batch.action]
    ahead = net(batch.after)
    best = ahead.mean(2).argmax(1)
    goal = batch.reward[:, None].detach() + gamma * ahead[rows, best]
    loss = quantile_huber(guess, goal, tau)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 10.0)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def cost_of(policy, days=60):
    wards, total = Hospitals(64, seed=99), 0.0
    for _ in range(days):
        total -= wards.step(policy(wards.observe()).float()).mean().item()
    return total / days


def main(days=150, batch=64):
    torch.manual_seed(17)
    wards, memory, net = Hospitals(16, seed=17), Memory(2000), QuantileNet()
    tau = (torch.arange(QUANTILES) + 0.5) / QUANTILES
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    print(f"always three: {cost_of(lambda s: torch.full((len(s),), 3)):.3f}")
    for day in range(1, days + 1):
        state = wards.observe()
        explore = max(0.05, 1 - day / 80)
        with torch.no_grad():
            order = net.greedy(state)
        order = torch.where(torch.rand(len(order)) < explore, torch.randint(0, ORDERS, order.shape), order)
        reward = wards.step(order.float())
        memory.push(state, order, reward, wards.observe())
        loss = learn(net, optimizer, memory.sample(batch), tau)
        if day % 50 == 0:
            print(f"day {day}: loss {loss:.3f}, a day costs {cost_of(net.greedy):.3f}")


if __name__ == "__main__":
    main()
