"""Disentangled codes of pollen outlines: a VAE, and a critic that estimates total correlation."""
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F


def outlines(n, points=24):
    """Radii of a grain seen from above: lobes, stretch and noise."""
    angle = torch.linspace(0, 6.283, points + 1)[:-1]
    lobes = torch.randint(2, 6, (n, 1)).float()
    stretch = 0.3 * torch.rand(n, 1)
    return 1 + stretch * torch.cos(2 * angle) + 0.2 * torch.cos(lobes * angle) + 0.02 * torch.randn(n, points)


def permute_dims(z):
    return torch.stack([column[torch.randperm(len(column))] for column in z.t()], dim=1)


class VAE(nn.Module):
    def __init__(self, points=24, z_dim=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(points, 32), nn.ReLU(), nn.Linear(32, 2 * z_dim))
        self.decode = nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, points))

    def forward(self, x, no_dec=False):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        if no_dec:
            return z
        return self.decode(z), mu, logvar, z


class Discriminator(nn.Module):
    def __init__(self, z_dim=4):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(z_dim, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2)
        )

    def forward(self, z):
        return self.net(z)


class Solver:
    def __init__(self, args):
        self.args = args
        self.VAE, self.D = VAE(), Discriminator()
        self.optim_VAE = torch.optim.Adam(self.VAE.parameters(), lr=args.lr_vae, betas=(0.9, 0.999))
        self.optim_D = torch.optim.Adam(self.D.parameters(), lr=args.lr_d, betas=(0.5, 0.9))
        self.global_iter = 0
        self.lines = []

    def batches(self):
        while self.global_iter < self.args.max_iter:
            self.global_iter += 1
            yield outlines(self.args.batch), outlines(self.args.batch)

    @staticmethod
    def kl(mu, logvar):
        return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()

    def train(self):
        ones = torch.ones(self.args.batch, dtype=torch.long)
        zeros = torch.zeros(self.args.batch, dtype=torch.long)
        for x_true1, x_true2 in self.batches():
            x_recon, mu, logvar, z = self.VAE(x_true1)
            recon_loss = F.mse_loss(x_recon, x_true1, reduction="sum") / self.args.batch
            d_z = self.D(z)
            tc_loss = (d_z[:, 0] - d_z[:, 1]).mean()
            vae_loss = recon_loss + self.kl(mu, logvar) + self.args.gamma * tc_loss

            self.optim_VAE.zero_grad()
            vae_loss.backward(retain_graph=True)
            self.optim_VAE.step()

            z_prime = self.VAE(x_true2, no_dec=True)
            d_z_perm = self.D(permute_dims(z_prime).detach())
            d_loss = 0.5 * (F.cross_entropy(d_z.detach(), zeros) + F.cross_entropy(d_z_perm, ones))

            self.optim_D.zero_grad()
            d_loss.backward()
            self.optim_D.step()

            if self.global_iter % self.args.print_iter == 0:
                self.report(recon_loss, tc_loss, d_loss)

    def report(self, recon_loss, tc_loss, d_loss):
        line = f"[{self.global_iter}] recon {recon_loss.item():.3f} tc {tc_loss.item():.3f} critic {d_loss.item():.3f}"
        self.lines.append(line)
        print(line)


def main():
    torch.manual_seed(8)
    args = SimpleNamespace(lr_vae=2e-3, lr_d=1e-3, batch=32, gamma=3.0, max_iter=12, print_iter=4)
    solver = Solver(args)
    solver.train()
    with torch.no_grad():
        _, mu, _, _ = solver.VAE(outlines(200))
    print("spread of codes", [round(v, 3) for v in mu.std(0).tolist()])


if __name__ == "__main__":
    main()
