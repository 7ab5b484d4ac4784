"""Soil properties from spectra: several regressions on one trunk, their weights set so that every
task pulls equally hard on the last shared layer."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TASKS = ["clay", "carbon", "ph"]


class SoilNet(nn.Module):
    def __init__(self, n_bands=30, hidden=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_bands, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.ModuleDict({t: nn.Linear(hidden, 1) for t in TASKS})

    def last_shared_layer(self):
        return self.trunk[2]

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


def task_weights(losses, layer, eps=1e-8):
    norms = []
    for loss in losses:
        (g,) = torch.autograd.grad(loss, [layer.weight], retain_graph=True)
        norms.append(g.norm())
    norms = torch.stack(norms)
    w = norms.mean() / (norms + eps)
    return w / w.sum() * len(losses)


def make_data(n):
    x = torch.randn(n, 30).cumsum(1) / 5
    y = {"clay": 30 * x[:, 5].tanh() + 20, "carbon": x[:, 12] * x[:, 3], "ph": 6.5 + 0.2 * x[:, 20]}
    return x, y


torch.manual_seed(21)
x, y = make_data(200)
model = SoilNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
history = {t: [] for t in TASKS}

for epoch in range(5):
    for idx in torch.randperm(200).split(40):
        optimizer.zero_grad()
        pred = model(x[idx])
        losses = [F.smooth_l1_loss(pred[t], y[t][idx]) for t in TASKS]
        weights = task_weights(losses, model.last_shared_layer())
        total = sum(w * l for w, l in zip(weights, losses))
        total.backward()
        optimizer.step()
    for t, l in zip(TASKS, losses):
        history[t].append(l.detach())
    print(epoch, {t: round(v[-1].item(), 4) for t, v in history.items()}, weights.tolist())
