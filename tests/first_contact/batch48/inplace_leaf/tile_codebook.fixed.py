


"""VQ autoencoder for 6x6 majolica tile patches; codes nobody uses get a new start."""
import torch
from torch import nn
import torch.nn.functional as F


def patches(n):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 6), torch.linspace(-1, 1, 6), indexing="ij")
    angle = torch.randint(0, 4, (n, 1, 1)) * 0.785
    freq = torch.randint(1, 4, (n, 1, 1)).float()
    wave = torch.sin(3.0 * freq * (torch.cos(angle) * xx + torch.sin(angle) * yy))
    return (wave + 0.05 * torch.randn(n, 6, 6)).flatten(1)


class Quantiser(nn.Module):
    def __init__(self, n_codes, dim, beta=0.25):
        super().__init__()
        self.codes = nn.Embedding(n_codes, dim)
        nn.init.uniform_(self.codes.weight, -1.5, 1.5)
        self.beta = beta
        self.register_buffer("usage", torch.zeros(n_codes))

    def forward(self, z):
        pick = torch.cdist(z, self.codes.weight).argmin(1)
        q = self.codes(pick)
        commit = F.mse_loss(q, z.detach()) + self.beta * F.mse_loss(z, q.detach())
        with torch.no_grad():
            self.usage.mul_(0.7).index_add_(0, pick, torch.ones(len(pick)))
        return z + (q - z).detach(), commit

    def revive(self, z, floor=0.5):
        dead = (self.usage < floor).nonzero().squeeze(1)
        if len(dead) == 0:
            return 0
        donors = z[torch.arange(len(dead)) % len(z)]
        with torch.no_grad():
            self.codes.weight[dead] = donors
        self.usage[dead] = 1.0
        return len(dead)


class TileVQ(nn.Module):
    def __init__(self, dim=4, n_codes=24):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(36, 20), nn.ReLU(), nn.Linear(20, dim))
        self.vq = Quantiser(n_codes, dim)
        self.up = nn.Sequential(nn.Linear(dim, 20), nn.ReLU(), nn.Linear(20, 36))

    def forward(self, tile):
        z = self.down(tile)
        q, commit = self.vq(z)
        return self.up(q), commit, z


def main():
    torch.manual_seed(23)
    net = TileVQ()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for it in range(24):
        tiles = patches(48)
        drawn, commit, z = net(tiles)
        rec = F.mse_loss(drawn, tiles)
        opt.zero_grad()
        (rec + commit).backward()
        opt.step()
        if it % 6 == 5:
            moved = net.vq.revive(z)
            print(f"{it + 1:3d}  rec {rec.item():.4f}  commit {commit.item():.4f}  revived {moved}")


main()
