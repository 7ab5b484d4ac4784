"""A Wasserstein critic learns four times for each step of the tremor's generator."""
import math

import torch
from torch import nn


def tremor(count, length=24):
    phase = 2 * math.pi * torch.rand(count, 1)
    time = torch.linspace(0, 1, length)
    return torch.sin(2 * math.pi * 4 * time + phase) * (0.6 + 0.4 * torch.rand(count, 1))


class Rounds:
    """Alternates between the two networks, as the paper does."""

    def __init__(self, length=24, noise=6):
        self.noise = noise
        self.writer = nn.Sequential(nn.Linear(noise, 32), nn.ReLU(), nn.Linear(32, length), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(length, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
        self.writer_steps = torch.optim.RMSprop(self.writer.parameters(), lr=5e-4)
        self.critic_steps = torch.optim.RMSprop(self.critic.parameters(), lr=5e-4)

    def judge(self, real):
        with torch.no_grad():
            fake = self.writer(torch.randn(len(real), self.noise))
        gap = self.critic(fake).mean() - self.critic(real).mean()
        self.critic_steps.zero_grad()
        gap.backward()
        self.critic_steps.step()
        for weight in self.critic.parameters():
            weight.data.clamp_(-0.05, 0.05)
        return -gap.item()

    def write(self, count):
        wanted = -self.critic(self.writer(torch.randn(count, self.noise))).mean()
        wanted.backward()
        self.writer_steps.step()
        self.writer_steps.zero_grad()


torch.manual_seed(31)
rounds = Rounds()
for turn in range(14):
    distance = [rounds.judge(tremor(16)) for _ in range(4)]
    rounds.write(16)
    if turn % 5 == 0:
        print(turn, round(distance[-1], 5))
