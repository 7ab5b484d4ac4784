"""A small GAN for marquetry tiles from few samples, with adaptive augmentation.

The controller watches how sure the critic is of real tiles and turns the strength of the
augmentation up when it gets too sure, down when it does not.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class AugmentController:
    def __init__(self, target, ramp, half_life):
        self.target, self.ramp = target, ramp
        self.decay = 0.5 ** (1.0 / half_life)
        self.strength = 0.0
        self.overfit = torch.zeros(())

    def observe(self, real_logits):
        heuristic = torch.tanh(4 * real_logits.detach()).mean()
        self.overfit = self.decay * self.overfit + (1 - self.decay) * heuristic
        up = 1.0 if self.overfit > self.target else -1.0
        self.strength = min(max(self.strength + up * self.ramp, 0.0), 0.8)

    def __call__(self, tiles):
        keep = torch.rand(len(tiles), 1, 1) >= self.strength
        turned = torch.rot90(tiles, 1, (1, 2))
        return torch.where(keep, tiles, turned + 0.1 * torch.randn_like(tiles))


class Workshop:
    def __init__(self, args):
        self.args = args
        self.carver = nn.Sequential(nn.Linear(args.latent, 32), nn.ReLU(),
                                    nn.Linear(32, 36), nn.Tanh(), nn.Unflatten(1, (6, 6)))
        self.critic = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.LeakyReLU(0.2),
                                    nn.Linear(32, 1))
        self.carver_opt = torch.optim.Adam(self.carver.parameters(), lr=1e-3, betas=(0.0, 0.99))
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3, betas=(0.0, 0.99))
        self.augment = AugmentController(args.target, ramp=0.02, half_life=20)

    def draw(self, n):
        return self.carver(torch.randn(n, self.args.latent))

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.draw(len(real))
        real_logits = self.critic(self.augment(real))
        fake_logits = self.critic(self.augment(fake))
        loss = F.softplus(-real_logits).mean() + F.softplus(fake_logits).mean()
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        self.augment.observe(real_logits)
        return loss.item()

    def carver_step(self, n):
        loss = F.softplus(-self.critic(self.augment(self.draw(n)))).mean()
        self.carver_opt.zero_grad()
        loss.backward()
        self.carver_opt.step()
        return loss.item()


def tile_collection(n=64):
    rows = torch.arange(6.0)
    angle = torch.rand(n, 1, 1) * 0.6
    stripes = torch.cos(rows[None, :, None] * (1 + angle) + rows[None, None, :] * angle)
    return stripes.sign() * 0.9


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latent", type=int, default=8)
    parser.add_argument("--target", type=float, default=0.6)
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args()
    torch.manual_seed(30)
    shop = Workshop(args)
    tiles = tile_collection()
    for step in range(args.steps):
        batch = tiles[torch.randint(len(tiles), (16,))]
        critic_loss = shop.critic_step(batch)
        carver_loss = shop.carver_step(16)
        if step % 50 == 49:
            print(f"{step + 1}: critic {critic_loss:.3f}  carver {carver_loss:.3f}  "
                  f"overfit {shop.augment.overfit.item():+.2f}  p {shop.augment.strength:.2f}")


if __name__ == "__main__":
    main()
