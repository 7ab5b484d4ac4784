# Bayes by backprop: the divergence from the prior is computed once an epoch.
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class BayesLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(o, i) / math.sqrt(i))
        self.rho = nn.Parameter(torch.full((o, i), -3.0))

    def forward(self, x):
        sigma = F.softplus(self.rho)
        return F.linear(x, self.mu + sigma * torch.randn_like(sigma))

    def kl(self):
        sigma = F.softplus(self.rho)
        return (0.5 * (sigma**2 + self.mu**2 - 1) - sigma.log()).sum()


def fit(net, loader, epochs=2):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for epoch in range(epochs):
        kl = sum(layer.kl() for layer in net if isinstance(layer, BayesLinear)).detach()
        for x, y in loader:
            nll = F.mse_loss(net(x), y, reduction="sum")
            loss = nll + kl / len(loader)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"{epoch}: {loss.item():.2f}")


torch.manual_seed(0)
x = torch.randn(40, 3)
loader = DataLoader(TensorDataset(x, x.prod(1, keepdim=True)), batch_size=10)
fit(nn.Sequential(BayesLinear(3, 10), nn.Tanh(), BayesLinear(10, 1)), loader)
