# expect: pattern = stored-graph
# expect: also = undetached-target, inplace-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = ensemble, self.ensemble, outputs, probs
"""Semi-supervised mushroom classifier, temporal ensembling (Pi-model with a memory of predictions)."""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 5
N_CLASSES = 4


def ramp_up(epoch, length):
    if epoch >= length:
        return 1.0
    return math.exp(-5.0 * (1.0 - epoch / length) ** 2)


def build_data(n=160, n_labelled=24):
    means = 2.0 * torch.randn(N_CLASSES, 10)
    y = torch.randint(N_CLASSES, (n,))
    x = means[y] + torch.randn(n, 10)
    y[n_labelled:] = -1
    return TensorDataset(x, y, torch.arange(n))


class TemporalEnsembling:
    def __init__(self, net, n_samples, alpha=0.6, w_max=10.0, epochs=4):
        self.net = net
        self.alpha, self.w_max, self.epochs = alpha, w_max, epochs
        self.ensemble = torch.zeros(n_samples, N_CLASSES)
        self.opt = torch.optim.Adam(net.parameters(), lr=3e-3, betas=(0.9, 0.99))

    def targets(self, idx, epoch):
        return self.ensemble[idx] / (1.0 - self.alpha ** (epoch + 1))

    def remember(self, idx, probs):
        self.ensemble[idx] = self.alpha * self.ensemble[idx] + (1.0 - self.alpha) * probs  # expect: place

    def fit(self, loader):
        for epoch in range(self.epochs):
            w = self.w_max * ramp_up(epoch, self.epochs)
            total = 0.0
            for x, y, idx in loader:
                logits = self.net(x + 0.15 * torch.randn_like(x))
                probs = F.softmax(logits, dim=1)
                self.remember(idx, probs)  # expect: place
                sup = F.cross_entropy(logits, y, ignore_index=-1, reduction="sum") / len(y)
                unsup = F.mse_loss(probs, self.targets(idx, epoch))  # expect: place
                loss = sup + w * unsup
                self.opt.zero_grad()
                loss.backward()  # expect: place
                self.opt.step()
                total += loss.item()
            print(f"epoch {epoch}: loss {total / len(loader):.4f} (w={w:.2f})")


if __name__ == "__main__":
    torch.manual_seed(SEED)
    data = build_data()
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, N_CLASSES))
    TemporalEnsembling(net, len(data)).fit(DataLoader(data, batch_size=20, shuffle=True))
