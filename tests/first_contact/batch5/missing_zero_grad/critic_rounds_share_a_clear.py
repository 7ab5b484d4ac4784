# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = opt_c, critic
"""Wasserstein GAN for turbine torque profiles, clipped critic, five critic rounds for one generator step."""
import torch
import torch.nn as nn
from itertools import islice


def profiles(n):
    t = torch.linspace(0, 6.283, 16)
    while True:
        yield torch.rand(n, 1) * torch.sin(t + torch.rand(n, 1)) + 0.05 * torch.randn(n, 16)


class Loop:
    rounds, clip, z = 5, 0.05, 4

    def __init__(self):
        self.gen = nn.Sequential(nn.Linear(self.z, 24), nn.ReLU(), nn.Linear(24, 16))
        self.critic = nn.Sequential(nn.Linear(16, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
        self.opt_g = torch.optim.RMSprop(self.gen.parameters(), lr=5e-4)
        self.opt_c = torch.optim.RMSprop(self.critic.parameters(), lr=5e-4)

    def critic_rounds(self, source):
        self.opt_c.zero_grad()  # expect: place
        for real in islice(source, self.rounds):
            fake = self.gen(torch.randn(len(real), self.z)).detach()
            gap = self.critic(fake).mean() - self.critic(real).mean()
            gap.backward()  # expect: place
            self.opt_c.step()  # expect: place
            with torch.no_grad():
                for p in self.critic.parameters():
                    p.clamp_(-self.clip, self.clip)
        return -gap.item()

    def generator_step(self, n):
        self.opt_g.zero_grad()
        loss = -self.critic(self.gen(torch.randn(n, self.z))).mean()
        loss.backward()
        self.opt_g.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(61)
    loop, source = Loop(), profiles(16)
    for it in range(5):
        gap = loop.critic_rounds(source)
        print(it, round(gap, 5), round(loop.generator_step(16), 5))
