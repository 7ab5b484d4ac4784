# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = g_loss, d_gz, d, opt_d
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    """Turns noise into one census row: an income, an age and a kind of household."""

    def __init__(self, z_dim=6, kinds=3):
        super().__init__()
        self.z_dim = z_dim
        self.body = nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.numbers = nn.Linear(32, 2)
        self.kind = nn.Linear(32, kinds)

    def forward(self, z):
        h = self.body(z)
        return torch.cat([torch.tanh(self.numbers(h)), F.gumbel_softmax(self.kind(h), tau=0.5)], dim=1)


class Discriminator(nn.Module):
    def __init__(self, width=5, pac=2):
        super().__init__()
        self.pac, self.width = pac, width
        self.net = nn.Sequential(
            nn.Linear(width * pac, 32), nn.LeakyReLU(0.2), nn.Linear(32, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, rows):
        return self.net(rows.reshape(-1, self.width * self.pac))


def loss_nonsaturating(d, g, x_real):
    z = torch.randn(x_real.size(0), g.z_dim)
    gz = g(z)
    d_gz = d(gz)  # expect: place
    d_loss = F.softplus(-d(x_real)).mean() + F.softplus(d_gz).mean()
    g_loss = F.softplus(-d_gz).mean()  # expect: place
    return d_loss, g_loss


def census(n):
    kind = torch.randint(0, 3, (n,))
    age = (0.3 * kind - 0.3 + 0.2 * torch.randn(n)).clamp(-1, 1)
    income = (0.5 * age + 0.2 * torch.randn(n)).clamp(-1, 1)
    return torch.cat([torch.stack([income, age], 1), F.one_hot(kind, 3).float()], dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args([])

    torch.manual_seed(51)
    rows = census(160)
    g, d = Generator(), Discriminator()
    opt_g = torch.optim.Adam(g.parameters(), lr=args.lr, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(d.parameters(), lr=args.lr, betas=(0.5, 0.9))
    for epoch in range(args.epochs):
        for x_real in rows[torch.randperm(len(rows))].split(args.batch_size):
            d_loss, g_loss = loss_nonsaturating(d, g, x_real)

            opt_d.zero_grad()
            d_loss.backward(retain_graph=True)
            opt_d.step()  # expect: place

            opt_g.zero_grad()
            g_loss.backward()  # expect: place
            opt_g.step()
        print("epoch %d  d %.4f  g %.4f" % (epoch, d_loss.item(), g_loss.item()))


if __name__ == "__main__":
    main()
