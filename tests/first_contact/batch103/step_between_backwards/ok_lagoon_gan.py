"""Synthetic salinity profiles of a lagoon by a GAN; one batch of fakes serves both players.

The generator's backward comes first, through the critic as it was when it scored the fakes.
"""
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

DEPTHS, NOISE = 16, 6


def profiles(n, gen):
    """Fresh above, salt below, a halocline in between whose depth follows the tide."""
    z = torch.linspace(0, 1, DEPTHS)
    where = 0.3 + 0.4 * torch.rand(n, 1, generator=gen)
    sharp = 8 + 12 * torch.rand(n, 1, generator=gen)
    return torch.tanh(sharp * (z - where)) + 0.05 * torch.randn(n, DEPTHS, generator=gen)


class Players:
    def __init__(self, width=48):
        self.generator = nn.Sequential(nn.Linear(NOISE, width), nn.ReLU(), nn.Linear(width, DEPTHS), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(DEPTHS, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))
        self.g_opt = torch.optim.Adam(self.generator.parameters(), lr=2e-3, betas=(0.5, 0.99))
        self.c_opt = torch.optim.Adam(self.critic.parameters(), lr=4e-3, betas=(0.5, 0.99))

    def round(self, real, noise):
        fake = self.generator(noise)
        score = self.critic(fake)
        ones = torch.ones_like(score)

        g_loss = bce(score, ones)
        self.g_opt.zero_grad()
        g_loss.backward()
        self.g_opt.step()

        # the generator has moved on: its profiles are data now, and the critic starts from zero
        c_loss = bce(self.critic(real), ones) + bce(self.critic(fake.detach()), 0 * ones)
        self.c_opt.zero_grad()
        c_loss.backward()
        self.c_opt.step()
        return g_loss.item(), c_loss.item()

    @torch.no_grad()
    def sample(self, n):
        return self.generator(torch.randn(n, NOISE))


def halocline(profile):
    """Where the profile crosses zero, as a share of the depth."""
    return (profile < 0).float().mean(1)


def main():
    torch.manual_seed(77)
    gen = torch.Generator().manual_seed(77)
    players = Players()
    trail = []
    for step in range(300):
        trail.append(players.round(profiles(48, gen), torch.randn(48, NOISE)))
        if step % 50 == 49:
            g, c = (sum(column) / 50 for column in zip(*trail[-50:]))
            made, true = halocline(players.sample(300)), halocline(profiles(300, gen))
            print(f"{step + 1:4d} G {g:.3f} C {c:.3f} halocline {made.mean():.2f}±{made.std():.2f} "
                  f"(true {true.mean():.2f}±{true.std():.2f})")


if __name__ == "__main__":
    main()
