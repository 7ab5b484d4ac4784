# expect: pattern = none
# expect: raises = nothing
"""Phone recognition that should not know the dialect: encoder against a dialect critic."""
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


def utterances(n=48):
    dialect = torch.randint(0, 3, (n,))
    phone = torch.randint(0, 6, (n,))
    x = F.one_hot(phone, 6).float() @ PHONES + F.one_hot(dialect, 3).float() @ ACCENT
    return x + 0.2 * torch.randn(n, 20), phone, dialect


class Experiment:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 16))
        self.phones = nn.Linear(16, 6)
        self.critic = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 3))
        self.opt_main = torch.optim.Adam([*self.encoder.parameters(), *self.phones.parameters()], lr=3e-3)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=5e-3)
        self.memory = deque(maxlen=4)
        self.centre = torch.zeros(16)

    def critic_step(self, z, dialect):
        self.memory.append((z.detach(), dialect))
        old_z = torch.cat([m[0] for m in self.memory])
        old_d = torch.cat([m[1] for m in self.memory])
        loss = F.cross_entropy(self.critic(old_z), old_d)
        self.opt_critic.zero_grad()
        loss.backward()
        self.opt_critic.step()
        return loss.item()

    def main_step(self, z, phone):
        dialect_logits = self.critic(z)
        entropy = -(dialect_logits.softmax(1) * dialect_logits.log_softmax(1)).sum(1).mean()
        drift = (z.mean(0) - self.centre).pow(2).mean()
        loss = F.cross_entropy(self.phones(z), phone) - 0.3 * entropy + 0.1 * drift
        self.opt_main.zero_grad()
        loss.backward()
        self.opt_main.step()
        self.centre = torch.lerp(self.centre, z.mean(0), 0.1).detach()
        return loss.item(), entropy.item()

    def round(self):
        x, phone, dialect = utterances()
        z = self.encoder(x)
        c = self.critic_step(z, dialect)
        return (c, *self.main_step(z, phone))


if __name__ == "__main__":
    torch.manual_seed(77)
    PHONES, ACCENT = torch.randn(6, 20), 0.7 * torch.randn(3, 20)
    exp = Experiment()
    for r in range(30):
        critic, main, entropy = exp.round()
        if r % 10 == 0:
            print(f"{r:2d} critic {critic:.3f} main {main:.3f} dialect entropy {entropy:.3f}")
