"""Deep embedded clustering of dawn-chorus spectra, after a short autoencoder pretraining.

One cluster empties into its neighbour although the loss keeps falling.
"""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class ClusterAssignment(nn.Module):
    def __init__(self, n_clusters, dim, alpha=1.0):
        super().__init__()
        self.alpha = alpha
        self.centers = nn.Parameter(nn.init.xavier_uniform_(torch.empty(n_clusters, dim)))

    def forward(self, z):
        d2 = ((z.unsqueeze(1) - self.centers) ** 2).sum(2)
        q = (1.0 + d2 / self.alpha).pow(-(self.alpha + 1) / 2)
        return q / q.sum(dim=1, keepdim=True)


class AutoEncoder(nn.Module):
    def __init__(self, dims):
        super().__init__()
        enc, dec = [], []
        for a, b in zip(dims[:-1], dims[1:]):
            enc += [nn.Linear(a, b), nn.ReLU()]
        for a, b in zip(dims[::-1][:-1], dims[::-1][1:]):
            dec += [nn.Linear(a, b), nn.ReLU()]
        self.encoder = nn.Sequential(*enc[:-1])
        self.decoder = nn.Sequential(*dec[:-1])

    def forward(self, x):
        return self.decoder(self.encoder(x))


class DEC(nn.Module):
    def __init__(self, encoder, n_clusters, dim):
        super().__init__()
        self.encoder = encoder
        self.assignment = ClusterAssignment(n_clusters, dim)

    def forward(self, x):
        return self.assignment(self.encoder(x))


def target_distribution(q):
    """Sharpened assignments, normalised by how full each cluster is."""
    weight = q ** 2 / q.sum(0)
    return (weight.t() / weight.sum(1)).t()


def pretrain(ae, loader, epochs):
    opt = torch.optim.Adam(ae.parameters(), lr=3e-3)
    for _ in range(epochs):
        for x, _ in loader:
            loss = nn.functional.mse_loss(ae(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def init_centers(model, x, k, rounds=8):
    """A few rounds of Lloyd's algorithm on the embedding."""
    with torch.no_grad():
        z = model.encoder(x)
        c = z[torch.randperm(len(z))[:k]].clone()
        for _ in range(rounds):
            label = torch.cdist(z, c).argmin(1)
            for j in range(k):
                if (label == j).any():
                    c[j] = z[label == j].mean(0)
        model.assignment.centers.copy_(c)


def train(model, loader, epochs):
    criterion = nn.KLDivLoss(reduction="batchmean")
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(epochs):
        running = 0.0
        for x, _ in loader:
            output = model(x)
            target = target_distribution(output).detach()
            loss = criterion(output.log(), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        sizes = torch.bincount(torch.cat([model(x).argmax(1) for x, _ in loader]), minlength=4)
        print(f"epoch {epoch} kl {running / len(loader):.5f} sizes {sizes.tolist()}")


if __name__ == "__main__":
    torch.manual_seed(0)
    kinds = torch.rand(4, 32)
    label = torch.randint(0, 4, (256,))
    spectra = kinds[label] + 0.15 * torch.randn(256, 32)
    loader = DataLoader(TensorDataset(spectra, label), batch_size=64, shuffle=True)

    ae = AutoEncoder([32, 24, 5])
    print("reconstruction", pretrain(ae, loader, 6))
    model = DEC(ae.encoder, 4, 5)
    init_centers(model, spectra, 4)
    train(model, loader, 6)
