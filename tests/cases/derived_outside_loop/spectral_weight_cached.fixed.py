import torch
from torch import nn


class OrthogonalLinear(nn.Module):
    """A square layer whose matrix is the exponential of a skew-symmetric parameter."""

    def __init__(self, n):
        super().__init__()
        self.A = nn.Parameter(0.1 * torch.randn(n, n))
        self.bias = nn.Parameter(torch.zeros(n))


    def forward(self, x):
        return x @ torch.matrix_exp(self.A - self.A.t()) + self.bias


class Flow(nn.Module):
    def __init__(self, n, depth):
        super().__init__()
        self.mix = nn.ModuleList(OrthogonalLinear(n) for _ in range(depth))
        self.log_scale = nn.ParameterList(torch.zeros(n) for _ in range(depth))

    def log_prob(self, x):
        log_det = 0.0
        for mix, log_s in zip(self.mix, self.log_scale):
            x = torch.asinh(mix(x) * log_s.exp())
            log_det = log_det + log_s.sum() - torch.log(x.cosh()).sum(1)
        base = torch.distributions.Normal(0.0, 1.0)
        return base.log_prob(x).sum(1) + log_det


torch.manual_seed(0)
flow = Flow(3, depth=2)
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
data = torch.randn(64, 3) @ torch.tensor([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.0, 0.0, 0.5]])
for i, batch in enumerate(data.split(16)):
    loss = -flow.log_prob(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(i, round(loss.item(), 4))
