# expect: pattern = undetached-target
# expect: also = forward-outside-loop, stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = p, q_all, target_distribution
"""Deep embedded clustering of vinegar chromatograms."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
np.random.seed(11)

N_CLUSTERS = 3
BATCH = 32
UPDATE_INTERVAL = 4
MAX_ITER = 16


def make_chromatograms(n_per_class=40, n_points=24):
    grid = np.linspace(0, 1, n_points)
    rows = []
    for centre in (0.2, 0.5, 0.75):
        shift = centre + 0.03 * np.random.randn(n_per_class, 1)
        rows.append(np.exp(-((grid - shift) ** 2) / 0.01) + 0.05 * np.random.randn(n_per_class, n_points))
    x = np.concatenate(rows).astype(np.float32)
    return torch.from_numpy(x[np.random.permutation(len(x))])


class ClusterNet(nn.Module):
    def __init__(self, n_in, n_z=4, alpha=1.0):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_z))
        self.decoder = nn.Sequential(nn.Linear(n_z, 32), nn.ReLU(), nn.Linear(32, n_in))
        self.centroids = nn.Parameter(torch.zeros(N_CLUSTERS, n_z))
        self.alpha = alpha

    def soft_assign(self, z):
        d = (z.unsqueeze(1) - self.centroids).pow(2).sum(2)
        q = (1.0 + d / self.alpha).pow(-(self.alpha + 1.0) / 2.0)
        return q / q.sum(1, keepdim=True)

    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z), self.soft_assign(z)


def target_distribution(q):
    weight = q ** 2 / q.sum(0)
    return (weight.t() / weight.sum(1)).t()


def pretrain(model, x, epochs=5):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(BATCH):
            x_bar, _ = model(x[idx])
            loss = F.mse_loss(x_bar, x[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        z = model.encoder(x)
        model.centroids.copy_(z[torch.randperm(len(z))[:N_CLUSTERS]])


x = make_chromatograms()
model = ClusterNet(x.size(1))
pretrain(model, x)

optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
batches = list(torch.arange(len(x)).split(BATCH))
for it in range(MAX_ITER):
    if it % UPDATE_INTERVAL == 0:
        _, q_all = model(x)  # expect: place
        p = target_distribution(q_all)  # expect: place
        labels = q_all.argmax(1)
        print("iteration", it, "cluster sizes", torch.bincount(labels, minlength=N_CLUSTERS).tolist())
    idx = batches[it % len(batches)]
    x_bar, q = model(x[idx])
    kl_loss = F.kl_div(q.log(), p[idx], reduction="batchmean")  # expect: place
    loss = 0.1 * kl_loss + F.mse_loss(x_bar, x[idx])
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
