"""Semi-supervised VAE; encoder, decoder and classifier have their own optimizers."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Setup:
    x_dim: int = 12
    z_dim: int = 4
    n_class: int = 3
    batch: int = 16
    steps: int = 9
    kl_weight: float = 0.1
    lr: float = 3e-3


class Encoder(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(s.x_dim, 24), nn.ReLU(), nn.Dropout(0.1))
        self.stats = nn.Linear(24, 2 * s.z_dim)

    def forward(self, x):
        mu, logvar = self.stats(self.hidden(x)).chunk(2, dim=-1)
        return mu, logvar, mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)


class Experiment:
    def __init__(self, setup):
        self.s = setup
        self.nets = nn.ModuleDict({
            "encoder": Encoder(setup),
            "decoder": nn.Sequential(nn.Linear(setup.z_dim, 24), nn.ReLU(), nn.Linear(24, setup.x_dim)),
            "classifier": nn.Linear(setup.z_dim, setup.n_class),
        })
        self.optims = {k: torch.optim.Adam(n.parameters(), lr=setup.lr) for k, n in self.nets.items()}
        self.prototypes = torch.randn(setup.n_class, setup.x_dim)

    def batch(self):
        y = torch.randint(0, self.s.n_class, (self.s.batch,))
        return self.prototypes[y] + 0.2 * torch.randn(self.s.batch, self.s.x_dim), y

    def losses(self, x, y):
        mu, logvar, z = self.nets["encoder"](x)
        return {
            "rec": F.mse_loss(self.nets["decoder"](z), x),
            "kl": self.s.kl_weight * -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(-1).mean(),
            "cls": F.cross_entropy(self.nets["classifier"](z), y),
        }

    def step(self):
        x, y = self.batch()
        losses = self.losses(x, y)
        for optim in self.optims.values():
            optim.zero_grad()
        for name in losses:
            self.losses(x, y)[name].backward()
        for optim in self.optims.values():
            optim.step()
        return {k: v.item() for k, v in losses.items()}


if __name__ == "__main__":
    torch.manual_seed(19)
    exp = Experiment(Setup())
    for i in range(exp.s.steps):
        stats = exp.step()
        if i % 4 == 0:
            print(i, "  ".join(f"{k}={v:.3f}" for k, v in stats.items()))
