import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(k))
        self.means = nn.Parameter(torch.randn(k))
        self.log_std = nn.Parameter(torch.zeros(k))

    @property
    def distribution(self):
        components = torch.distributions.Normal(self.means, self.log_std.exp())
        weights = torch.distributions.Categorical(logits=self.logits)
        return torch.distributions.MixtureSameFamily(weights, components)


torch.manual_seed(0)
mixture = Mixture()
opt = torch.optim.Adam(mixture.parameters(), lr=0.05)
x = torch.cat([torch.randn(20) - 3, torch.randn(20) + 3])
for _ in range(5):
    loss = -mixture.distribution.log_prob(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
