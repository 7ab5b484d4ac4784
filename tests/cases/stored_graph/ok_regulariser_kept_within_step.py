# The layers keep their KL term with its graph on purpose; it is used once and overwritten.
import torch
from torch import nn


class BayesLinear(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(a, b) * 0.1)
        self.rho = nn.Parameter(torch.full((a, b), -3.0))
        self.kl = None

    def forward(self, x):
        sigma = nn.functional.softplus(self.rho)
        self.kl = (sigma.pow(2) + self.mu.pow(2) - 2 * sigma.log() - 1).sum() / 2
        return x @ (self.mu + sigma * torch.randn_like(sigma))


torch.manual_seed(0)
layers = nn.ModuleList([BayesLinear(3, 8), BayesLinear(8, 1)])
opt = torch.optim.Adam(layers.parameters(), lr=1e-2)
for _ in range(4):
    x = torch.randn(12, 3)
    y = layers[1](torch.tanh(layers[0](x))).squeeze(1)
    loss = (y - x.prod(1)).pow(2).mean() + 1e-3 * sum(layer.kl for layer in layers)
    opt.zero_grad()
    loss.backward()
    opt.step()
