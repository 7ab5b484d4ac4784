"""Online vector quantiser: a codebook parameter, and dead codes that are moved onto the data."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Codebook(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.register_buffer("vectors", torch.randn(codes, dim) * 3)
        self.register_buffer("usage", torch.zeros(codes))

    def forward(self, z):
        index = torch.cdist(z, self.vectors).argmin(1)
        self.usage.mul_(0.9).add_(F.one_hot(index, len(self.usage)).sum(0), alpha=0.1)
        return self.vectors[index], index

    def revive(self, z, threshold=0.2):
        """Replace codes that nobody uses by random inputs."""
        dead = (self.usage < threshold).nonzero().flatten()
        picks = z[torch.randperm(len(z))[:len(dead)]]
        for slot, vector in zip(dead.tolist(), picks):
            self.vectors[slot] = vector
            self.usage[slot] = 1.0
        return len(dead)


class VQ(nn.Module):
    def __init__(self, d_in=6, dim=3, codes=16):
        super().__init__()
        self.encoder = nn.Linear(d_in, dim)
        self.decoder = nn.Linear(dim, d_in)
        self.codebook = Codebook(codes, dim)

    def forward(self, x, beta=0.25):
        z = self.encoder(x)
        q, _ = self.codebook(z)
        loss = F.mse_loss(q, z.detach()) + beta * F.mse_loss(z, q.detach())
        out = self.decoder(z + (q - z).detach())
        return F.mse_loss(out, x) + loss, z


def train():
    torch.manual_seed(23)
    model = VQ()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    centers = torch.randn(5, 6) * 2
    for it in range(20):
        x = centers[torch.randint(0, 5, (32,))] + 0.2 * torch.randn(32, 6)
        loss, z = model(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 5 == 4:
            moved = model.codebook.revive(z.detach())
            print(f"iteration {it}: loss {loss.item():.4f}, {moved} codes moved")


train()
