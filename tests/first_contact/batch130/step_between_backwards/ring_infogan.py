# expect: pattern = step-between-backwards
# expect: also = shared-subgraph
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = fake, mi, adv, self.gen, gen, opt_g, opt_q, loss
"""InfoGAN on a ring of Gaussians: the code should end up naming the mode."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

MODES, NOISE, BATCH = 6, 8, 64


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.1)]
    return nn.Sequential(*layers[:-1])


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(NOISE + MODES, 48, 48, 2)

    def forward(self, noise, codes):
        return self.net(torch.cat([noise, F.one_hot(codes, MODES).float()], dim=1))


class RingSampler:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, n):
        angle = 2 * np.pi * self.rng.integers(MODES, size=n) / MODES
        points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points += 0.05 * self.rng.standard_normal(points.shape)
        return torch.tensor(points, dtype=torch.float32)


class History:
    def __init__(self, every=10):
        self.every, self.rows = every, []

    def on_step(self, step, **scalars):
        self.rows.append(scalars)
        if step % self.every == 0:
            print(step, " ".join(f"{k}={v:.3f}" for k, v in scalars.items()))


class InfoGANTrainer:
    def __init__(self, sampler, callback, lr=1e-3, mi_weight=0.8):
        self.sampler, self.callback, self.mi_weight = sampler, callback, mi_weight
        self.gen = Generator()
        self.disc = mlp(2, 48, 48, 1)
        self.posterior = mlp(2, 48, MODES)
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_q = torch.optim.Adam(
            [*self.posterior.parameters(), *self.gen.parameters()], lr=lr, betas=(0.5, 0.99)
        )

    def latent(self):
        return torch.randn(BATCH, NOISE), torch.randint(MODES, (BATCH,))

    def disc_loss(self, real):
        with torch.no_grad():
            fake = self.gen(*self.latent())
        return F.softplus(-self.disc(real)).mean() + F.softplus(self.disc(fake)).mean()

    def gen_losses(self):
        noise, codes = self.latent()
        fake = self.gen(noise, codes)  # expect: place
        adv = F.softplus(-self.disc(fake)).mean()
        mi = self.mi_weight * F.cross_entropy(self.posterior(fake), codes)  # expect: place
        return adv, mi

    @staticmethod
    def apply(optimizer, loss, keep=False):
        optimizer.zero_grad()
        loss.backward(retain_graph=keep)  # expect: place
        optimizer.step()  # expect: place

    def fit(self, steps):
        for step in range(steps):
            d = self.disc_loss(self.sampler(BATCH))
            self.apply(self.opt_d, d)
            adv, mi = self.gen_losses()  # expect: place
            self.apply(self.opt_g, adv, keep=True)  # expect: place
            self.apply(self.opt_q, mi)  # expect: place
            self.callback.on_step(step, d=d.item(), adv=adv.item(), mi=mi.item())


if __name__ == "__main__":
    torch.manual_seed(21)
    trainer = InfoGANTrainer(RingSampler(seed=21), History())
    trainer.fit(steps=40)
